"""Folders that take seconds to make: one test process makes each, for all of a run."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A copy of a folder, which ``make`` fills if no other process has."""
    home = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        home = home.parent
    made, done = home / f"made-{name}", home / f"made-{name}.done"
    with (home / f"made-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(made, ignore_errors=True)  # of one that failed
            made.mkdir()
            make(made)
            done.touch()
    return Path(shutil.copytree(made, factory.mktemp(name) / "copy", symlinks=True))
