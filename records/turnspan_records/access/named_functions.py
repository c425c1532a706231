"""Functions named on a command line as ``module:function``."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any


class LoadError(ValueError):
    """A function cannot be loaded; the message says what to do."""


def load_function(named: str) -> Any:
    """The object that ``module:name`` or ``module:name.attribute`` means. Modules of the current
    folder are found, too.

    Raises:
        LoadError: there is none, it cannot be called, or importing its module fails.
    """
    module_name, _, path = named.partition(":")
    if not module_name or not path:
        raise LoadError(f"{named!r} names no function: write module:function, as in app:answer.")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        raise LoadError(
            f"Module {module_name!r} cannot be imported from {os.getcwd()}: "
            f"{type(error).__name__}: {error}."
        ) from error
    for name in path.split("."):
        found = getattr(found, name, None)
        if found is None:
            raise LoadError(f"Module {module_name!r} has no {path!r}.")
    if not callable(found):
        raise LoadError(f"{named} is a {type(found).__name__}, not a function.")
    return found
