"""Progress on a terminal, of what takes longer than a second."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE: Final = 1.0
"""Seconds before anything is shown."""


@contextlib.contextmanager
def working(what: str) -> Generator[None]:
    """Show on a terminal, at once and on standard error, what goes on inside: work that takes
    seconds and has no steps. Nothing on a pipe."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{what} ..."):
        yield


class Bars:
    """One bar for each stage, on standard error; none on a pipe. Use as a context manager.

    A bar is shown after ``patience`` seconds. Threads may call ``show`` at the same time.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._shown_from = time.monotonic() + patience
        self._lock = threading.Lock()
        self._visible = sys.stderr.isatty()
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def show(self, stage: str, done: int, total: int) -> None:
        """So much of a stage is done."""
        if not self._visible or time.monotonic() < self._shown_from:
            return
        with self._lock:
            progress = self._progress or self._start()
            if stage not in self._tasks:
                self._tasks[stage] = progress.add_task(stage, total=total)
            progress.update(self._tasks[stage], completed=done, total=total)

    def _start(self) -> Progress:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
        from rich.progress import TimeRemainingColumn as Remaining

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            Remaining(),
            console=Console(stderr=True),
            transient=True,
        )
        self._progress.start()
        return self._progress

    def __enter__(self) -> Bars:
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()
