"""Wrappers that are put under all others: recording sees a request before it is redirected.

They stay on once they are there, and do nothing while no rerun is under way.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from inspect import getattr_static
from typing import Any, Final, TypeAlias

import wrapt

from turnspan.patching.patches import Function, Wrapper

ModulePatches: TypeAlias = Mapping[str, Mapping[str, Wrapper]]
"""By module and ``Class.method`` or function what is put around it."""
_waiting: Final[set[str]] = set()
_MARK: Final = "_self_turnspan_rerun"
_WRAPPER: Final[Any] = wrapt.FunctionWrapper


def put_when_imported(patches: ModulePatches) -> None:
    """Put wrappers on modules now and with each rerun that begins, where they are imported; else as
    soon as they are."""
    for module, wrappers in patches.items():
        put = partial(_put_all, module, wrappers)
        if module in sys.modules:
            put()
        elif module not in _waiting:  # such a hook cannot be taken back
            _waiting.add(module)
            wrapt.register_post_import_hook(put, module)


def _put_all(module: str, wrappers: Mapping[str, Wrapper], _module: Any = None) -> None:
    for path, wrapper in wrappers.items():
        put_under(module, path, wrapper)


def put_under(module: str, path: str, wrapper: Wrapper) -> None:
    """Wrap ``Class.method`` or a function of an imported module, under the wrappers that it has.

    Where the wrapper is there already, or this version of the module has no such function, nothing
    is done.
    """
    *owners, name = path.split(".")
    owner: Any = import_module(module)
    for each in owners:
        owner = getattr(owner, each, None)
    current: Any = getattr_static(owner, name, None)
    if current is None:
        return
    outer: Any = None
    while isinstance(current, _WRAPPER):
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
