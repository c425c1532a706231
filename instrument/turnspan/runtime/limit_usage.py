"""What a turn, a session or a process has used so far, counted in memory or for several processes.

Processes that write one spool share a file in it: a table of counters in shared memory. A row has
one writer, so nobody waits for another process: a process adds to its own row of a key, and the
sum over a key's rows is what all have used. A process that is killed leaves its row, which still
counts.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from turnspan.runtime.forks import in_child
from turnspan.runtime.guard import warn_once

if TYPE_CHECKING:
    from decimal import Decimal

FILE: Final = "limits"
_HEADER: Final = b"turnspan limits 1\n".ljust(64, b"\0")
_ROWS: Final = 65_536
_WORDS: Final = 8
_SIZE: Final = len(_HEADER) + _ROWS * _WORDS * 8
_PROBES: Final = 256
"""Rows that are looked at for one key at most."""
_FORGOTTEN_AFTER: Final = 86_400 * 10**9
"""Nanoseconds after its last change that a row may be given to another key."""
_AS_IT_IS: Final[int] = getattr(os, "O_BINARY", 0)
"""On Windows a file is text otherwise."""

# The words of a row: two of the key, then these.
_WRITER, _BEGAN, _CALLS, _TOKENS, _NANO_USD, _CHANGED = range(2, 8)


Used: TypeAlias = tuple[int, int, int, int]
"""When the first call began (ns since the epoch; 0: there was none), calls, tokens, and billionths
of a US dollar."""


class UsageCounter:
    """Counts for one turn, session or process. Whoever calls it holds the lock of limits."""

    __slots__ = ("_used",)

    def __init__(self) -> None:
        self._used: Used = (0, 0, 0, 0)

    def used(self) -> Used:
        """What was used so far."""
        return self._used

    def add(self, calls: int, tokens: int, nano_usd: int) -> None:
        """More was used."""
        began, so_far, spent, paid = self._used
        self._used = (began or time.time_ns(), so_far + calls, spent + tokens, paid + nano_usd)


class SharedCounter(UsageCounter):
    """The same for all processes that write one spool."""

    __slots__ = ("_file", "_high", "_low", "_row")

    def __init__(self, file: UsageFile, key: str) -> None:
        from hashlib import blake2b  # only where limits are shared: it takes milliseconds

        super().__init__()
        digest = blake2b(key.encode("utf-8", "replace"), digest_size=16).digest()
        self._high = int.from_bytes(digest[:8], sys.byteorder, signed=True) or 1
        self._low = int.from_bytes(digest[8:], sys.byteorder, signed=True)
        self._file = file
        self._row = -1

    def used(self) -> Used:
        """What all processes have used so far."""
        words, high, low = self._file.words, self._high, self._low
        began, calls, tokens, paid = self._used
        row = high % _ROWS * _WORDS
        for _ in range(_PROBES):
            seen = words[row]
            if not seen:
                break
            if seen == high and words[row + 1] == low:
                since = words[row + _BEGAN]
                if not began or since < began:
                    began = since
                calls += words[row + _CALLS]
                tokens += words[row + _TOKENS]
                paid += words[row + _NANO_USD]
            row += _WORDS
            if row == _ROWS * _WORDS:
                row = 0
        return began, calls, tokens, paid

    def add(self, calls: int, tokens: int, nano_usd: int) -> None:
        """This process has used more."""
        words, row = self._file.words, self._row
        if row < 0 or words[row + _WRITER] != self._file.writer or words[row] != self._high:
            row = self._row = self._file.own_row(self._high, self._low)
            if row < 0:  # no room: what this process uses is counted in memory
                super().add(calls, tokens, nano_usd)
                return
        if calls:
            words[row + _CALLS] += calls
            words[row + _CHANGED] = time.time_ns()
        if tokens:
            words[row + _TOKENS] += tokens
        if nano_usd:
            words[row + _NANO_USD] += nano_usd


class UsageFile:
    """The table of one spool.

    Raises:
        OSError: the file cannot be made, or is no table of this version.
    """

    def __init__(self, path: Path) -> None:
        import mmap  # as above

        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _AS_IT_IS, 0o600)
        try:
            with _locked(self._descriptor):
                head = os.read(self._descriptor, len(_HEADER))
                if head.strip(b"\0") and head != _HEADER:
                    raise OSError(f"{path} is not a table of limits of this version: remove it")
                os.ftruncate(self._descriptor, _SIZE)  # sparse: rows take room when used
                os.lseek(self._descriptor, 0, os.SEEK_SET)
                os.write(self._descriptor, _HEADER)
            self._map = mmap.mmap(self._descriptor, _SIZE)
        except BaseException:
            os.close(self._descriptor)
            raise
        self.words = memoryview(self._map)[len(_HEADER) :].cast("q")
        self.writer = 0
        self.after_fork()

    def after_fork(self) -> None:
        """In a forked child: rows of its own."""
        self.writer = int.from_bytes(os.urandom(7), "big") + 1

    def own_row(self, high: int, low: int) -> int:
        """A key's row of this process, taken if there is none; -1: there is no room."""
        words, now = self.words, time.time_ns()
        with _locked(self._descriptor):
            row = high % _ROWS * _WORDS
            for _ in range(_PROBES):
                unused = not words[row]
                if unused or now - words[row + _CHANGED] > _FORGOTTEN_AFTER:
                    for word, value in enumerate((0, 0, 0, now), _CALLS):
                        words[row + word] = value
                    words[row + _WRITER], words[row + _BEGAN] = self.writer, now
                    words[row + 1] = low
                    words[row] = high  # last: from here on others see the row
                    return row
                row = (row + _WORDS) % (_ROWS * _WORDS)
        warn_once(
            "The table of limits is full: a limit holds in each process by itself. It has room "
            "for 65,536 turns and sessions a day."
        )
        return -1


@contextmanager
def _locked(descriptor: int) -> Generator[None]:
    """One process at a time."""
    if sys.platform == "win32":  # there is no fcntl
        yield
        return
    import fcntl

    fcntl.lockf(descriptor, fcntl.LOCK_EX)  # not flock: a forked child would share it
    try:
        yield
    finally:
        fcntl.lockf(descriptor, fcntl.LOCK_UN)


class Counters:
    """The counters of this process, by what they count for."""

    _MOST: Final = 10_000

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.price: Callable[[dict[str, Any], Any, int], Decimal | None] | None = None
        """The cost in USD of a call with these attributes and this usage, made then (ns since the
        epoch); ``None``: nobody here knows prices."""
        self._folder: Path | None = None
        self._file: UsageFile | None = None
        self._counters: dict[str, UsageCounter] = {}
        in_child(self._after_fork)

    def share(self, folder: Path) -> None:
        """Count in this folder from now on, with the other processes that do."""
        self._folder, self._file = folder, None
        self._counters = {}

    def of(self, key: str) -> UsageCounter:
        """The counter of a key, shared where that is possible. Hold the lock."""
        found = self._counters.get(key)
        if found is None:
            if len(self._counters) >= self._MOST:
                del self._counters[next(iter(self._counters))]
            file = self._opened()
            found = UsageCounter() if file is None else SharedCounter(file, key)
            self._counters[key] = found
        return found

    def _opened(self) -> UsageFile | None:
        folder = self._folder
        if self._file is None and folder is not None:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                self._file = UsageFile(folder / FILE)
            except (OSError, ValueError) as error:
                self._folder = None
                warn_once(f"Limits hold in each process by itself, they cannot be shared: {error}.")
        return self._file

    def _after_fork(self) -> None:
        self.lock = threading.Lock()
        if self._file is not None:
            self._file.after_fork()


counters: Final = Counters()
