"""When something in folders has changed: by the kernel's notices, and by a slow look beside them.

The notices come through ``watchfiles`` (the extra ``watch``: typed, alive, wheels for every
platform; an extra, since elsewhere it is compiled by Rust). Without it, and where the kernel gives
no more watches, the files are looked at every few seconds. The slow look finds what no notice tells
of: files of a network disk, what happened while the machine slept.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from turnspan_records.access import Note
from turnspan_records.coding.transcripts.coding_log import LIVE_SECONDS

_LOOK_SECONDS: Final = 5.0
"""Between two looks, where there are no notices."""
_TICK: Final = 2_000
"""Milliseconds without a notice, after which folders that have appeared are watched too."""
_GATHER: Final = 1_000
"""Milliseconds of changes that are one."""

FileStates = dict[str, tuple[int, int, int, bool]]
"""Inode, size, time and whether it has rested since long, of every file."""


@dataclass(slots=True)
class FolderChanges:
    """Waits for changes in folders, also in those that are made later."""

    folders: Callable[[], Sequence[Path]]
    """Gives the folders; those that are not there are waited for."""
    ended: threading.Event
    """Set when there is nothing more to wait for."""
    note: Note
    """Told once where there are no notices."""
    sweep: float = 60.0
    """Seconds between two slow looks."""
    _known: FileStates = field(default_factory=dict[str, tuple[int, int, int, bool]])
    _noted: bool = False

    def __iter__(self) -> Iterator[None]:
        """Once at the beginning, then whenever files are not what they were."""
        looked = 0.0
        while not self.ended.is_set():
            present = self._present()
            for noticed in self._notices(present):
                now = time.time()  # which jumps where the machine has slept
                if noticed or abs(now - looked) >= self.sweep:
                    looked = now
                    states = file_states(self.folders())
                    if states != self._known:
                        self._known = states
                        yield
                if self.ended.is_set() or self._present() != present:
                    looked = 0.0
                    break

    def retry(self) -> None:
        """Have the next slow look find a change, whatever there is."""
        self._known = {}

    def _present(self) -> list[Path]:
        return [folder for folder in self.folders() if folder.is_dir()]

    def _notices(self, folders: Sequence[Path]) -> Iterator[bool]:
        """Whether there may be a change: when the kernel tells of one, or a moment is over."""
        try:
            from watchfiles import watch
        except ImportError:
            yield from self._looks("watchfiles is not installed (pip install 'turnspan[watch]')")
            return
        try:
            for changes in watch(
                *folders,
                watch_filter=None,
                debounce=_GATHER,
                rust_timeout=_TICK,
                yield_on_timeout=True,
                stop_event=self.ended,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                yield bool(changes)
        except OSError as error:
            if not all(folder.is_dir() for folder in folders):
                return  # deleted meanwhile
            yield from self._looks(f"the kernel gives no more notices ({error})")

    def _looks(self, why: str) -> Iterator[bool]:
        if not self._noted:
            self.note(f"{why}: files are looked at every {_LOOK_SECONDS:g} seconds.")
        self._noted = True
        yield True
        while not self.ended.wait(_LOOK_SECONDS):
            yield True


def file_states(folders: Sequence[Path]) -> FileStates:
    """What tells each file of folders from what it was before; that it has come to rest is a change
    too."""
    states = FileStates()
    rested = (time.time() - LIVE_SECONDS) * 1e9
    for folder in folders:
        for parent, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(parent, name)
                try:
                    found = os.stat(path)
                except OSError:
                    continue  # deleted meanwhile
                written = found.st_mtime_ns
                states[path] = (found.st_ino, found.st_size, written, written < rested)
    return states
