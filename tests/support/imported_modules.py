"""The garbage collector leaves alone what was imported before the first test.

With the SDKs that is more than a million objects. Each full collection would go through them again,
and tests of streams and threads ask for many. What tests make it collects less often than by
default: that takes a twentieth of the processor. A test of what is freed collects itself.

So it is with what tests import later, in functions: SDKs are a part of that.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator

import pytest

_MANY = 100
_known = 0
"""How many modules there were when those that were there were left alone."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Import all tests without collecting, then take what is there out of later collections."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Leave alone what earlier tests have imported, where that is much."""
    global _known
    if len(sys.modules) > _known + _MANY:
        gc.collect()
        gc.freeze()
        _known = len(sys.modules)
