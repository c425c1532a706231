"""Sees what is imported for the first time, and by which kind of thread."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType

_OURS = ("turnspan.", "turnspan_clickhouse.", "opentelemetry.")
_STARTERS = ("threading", "_threading_local")


class ImportWatch:
    """Asked first for every module that is not loaded; finds none itself.

    From ``arm`` on, a line is written for what a thread of ours, or one that OpenTelemetry runs for
    us, asks for: the thread, the module and where the import stands. Children that are forked write
    to the same file, and it is whole however a process ends.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def arm(self) -> None:
        """Begin to note."""
        sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Note that a module is not loaded."""
        del path, target
        frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
        if threading.current_thread() is not threading.main_thread():
            first = _module(_outermost(frame))
            if first.startswith(_OURS):
                thread = threading.current_thread().name
                os.write(self._file, f"{thread}\t{name}\t{_asking(frame)}\n".encode())
        return None


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _asking(frame: FrameType) -> str:
    """The module and line that the import stands in."""
    while frame.f_back is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    return f"{_module(frame)}:{frame.f_lineno}"


def _outermost(frame: FrameType) -> FrameType:
    """Where a thread's own work begins."""
    found = frame
    outer: FrameType | None = frame
    while outer is not None:
        if _module(outer) not in _STARTERS:
            found = outer
        outer = outer.f_back
    return found
