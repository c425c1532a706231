"""Progress on a terminal, of what takes longer than a second."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE: Final = 1.0
"""Seconds before anything is shown."""


class Bars:
    """One bar for each stage, on standard error; none on a pipe. Use as a context manager."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._visible = sys.stderr.isatty()
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def show(self, stage: str, done: int, total: int) -> None:
        """So much of a stage is done."""
        if not self._visible or time.monotonic() - self._begun < PATIENCE:
            return
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
