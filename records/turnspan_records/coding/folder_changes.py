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
from pathlib import Path
from typing import Final

from turnspan_records.access import Note
from turnspan_records.coding.transcripts.coding_log import LIVE_SECONDS

SWEEP_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 5.0
"""Between two looks, where there are no notices."""
_TICK: Final = 2_000
"""Milliseconds without a notice, after which folders that have appeared are watched too."""
_GATHER: Final = 1_000
"""Milliseconds of changes that are one."""

FileStates = dict[str, tuple[int, int, int, bool]]
"""Inode, size, time and whether it has rested since long, of every file."""


class FolderChanges:
    """Waits for changes in folders, also in those that are made later.

    Args:
        folders: gives the folders; those that are not there are waited for.
        ended: set when there is nothing more to wait for.
        note: told once where there are no notices.
        sweep: seconds between two slow looks.
    """

    def __init__(
        self,
        folders: Callable[[], Sequence[Path]],
        ended: threading.Event,
        note: Note,
        sweep: float = SWEEP_SECONDS,
    ) -> None:
        self._folders = folders
        self._ended = ended
        self._note = note
        self._sweep = sweep
        self._known: FileStates = {}
        self._noted = False

    def __iter__(self) -> Iterator[None]:
        """Once at the beginning, then whenever files are not what they were."""
        looked = 0.0
        while not self._ended.is_set():
            present = self._present()
            for noticed in self._notices(present):
                now = time.time()  # which jumps where the machine has slept
                if noticed or abs(now - looked) >= self._sweep:
                    looked = now
                    states = file_states(self._folders())
                    if states != self._known:
                        self._known = states
                        yield
                if self._ended.is_set() or self._present() != present:
                    looked = 0.0
                    break

    def retry(self) -> None:
        """Have the next slow look find a change, whatever there is."""
        self._known = {}

    def _present(self) -> list[Path]:
        return [folder for folder in self._folders() if folder.is_dir()]

    def _notices(self, folders: Sequence[Path]) -> Iterator[bool]:
        """Whether the kernel has told of a change, each time it has or a moment is over."""
        try:
            from watchfiles import watch
        except ImportError:
            self._tell("watchfiles is not installed (pip install 'turnspan[watch]')")
            yield from self._looks()
            return
        try:
            for changes in watch(
                *folders,
                watch_filter=None,
                debounce=_GATHER,
                rust_timeout=_TICK,
                yield_on_timeout=True,
                stop_event=self._ended,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                yield bool(changes)
        except OSError as error:
            if not all(folder.is_dir() for folder in folders):
                return  # deleted meanwhile
            self._tell(f"the kernel gives no more notices ({error})")
            yield from self._looks()

    def _looks(self) -> Iterator[bool]:
        while True:
            states = file_states(self._folders())
            yield states != self._known
            if self._ended.wait(_LOOK_SECONDS):
                return

    def _tell(self, why: str) -> None:
        if not self._noted:
            self._note(f"{why}: files are looked at every {_LOOK_SECONDS:g} seconds.")
        self._noted = True


def file_states(folders: Sequence[Path]) -> FileStates:
    """What tells each file of folders from what it was before; that it has come to rest is a change
    too."""
    states: FileStates = {}
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
