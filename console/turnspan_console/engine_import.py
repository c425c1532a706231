"""The engine's package without what it loads for ways of using it that are not ours."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import FrameType, ModuleType


class ArrowFinder:
    """Finds no pyarrow for ``chdb``, which goes without where there is none: to load it, and numpy
    with it, is a sixth of the time of a command that reads. Everybody else finds it.

    For the ``turnspan`` command alone: in other processes somebody may ask the engine for tables.
    """

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raises ``ModuleNotFoundError`` where ``chdb`` imports pyarrow; else others look."""
        if name == "pyarrow" and _importer(inspect.currentframe()).split(".")[0] == "chdb":
            raise ModuleNotFoundError("the command asks chdb for no Arrow tables", name=name)
        return None


def _importer(frame: FrameType | None) -> str:
    """The name of the module whose code imports, seen from a finder's frame."""
    frame = frame and frame.f_back
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return "" if frame is None else str(frame.f_globals.get("__name__"))
