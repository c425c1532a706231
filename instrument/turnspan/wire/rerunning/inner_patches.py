"""Wrappers that are put under all others: recording sees a request before it is redirected.

They stay on once they are there, and do nothing while no rerun is under way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, cast

import wrapt

from turnspan.patching.patches import Function, Wrapper

_waiting: Final[set[str]] = set()
_MARK: Final = "_self_turnspan_rerun"
_WRAPPER: Final[Any] = wrapt.FunctionWrapper


def when_imported(module: str, patch: Callable[[], object]) -> None:
    """Call ``patch`` now and with each rerun that begins, where the module is imported; else as
    soon as it is."""
    if module in sys.modules:
        patch()
    elif module not in _waiting:  # such a hook cannot be taken back
        _waiting.add(module)
        wrapt.register_post_import_hook(lambda _: patch(), module)


def put_under(module: str, path: str, wrapper: Wrapper) -> None:
    """Wrap ``Class.method`` or a function of an imported module, under the wrappers that it has.

    Where the wrapper is there already, or this version of the module has no such function, nothing
    is done.
    """
    *owners, name = path.split(".")
    owner: Any = import_module(module)
    for each in owners:
        owner = getattr(owner, each, None)
    names = cast("dict[str, Any]", vars(owner) if owner is not None else {})
    current: Any = names.get(name)
    if current is None:
        return
    outer: Any = None
    while isinstance(current, wrapt.FunctionWrapper):
        if getattr(current, _MARK, False):
            return
        outer, current = current, current.__wrapped__
    ours: Any = _WRAPPER(current, wrapper)
    setattr(ours, _MARK, True)
    if outer is None:
        setattr(owner, name, ours)
    else:
        outer.__wrapped__ = ours


def unwrapped(function: Function) -> Any:
    """The plain function of a bound method."""
    return getattr(function, "__func__", function)
