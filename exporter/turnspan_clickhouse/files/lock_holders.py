"""Who holds a lock: a process that is stopped, or hangs, keeps everybody else waiting.

Whoever takes one of the locks that others wait for writes its name and the time into the file. The
lock itself is the kernel's, so what is written is believed only while the lock is held; where Linux
says which process holds it, that is believed before the file.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from turnspan import config
from turnspan.content.model import as_dict
from turnspan.redaction.redactor import Redactor
from turnspan_clickhouse.files import held_files


def host_and_pid(pid: int) -> str:
    """What names a process among all that may share a spool."""
    host = re.sub(r"\W", "_", socket.gethostname(), flags=re.ASCII)[:60] or "localhost"
    return f"{host}-{pid}"


STOPPED, ALIVE, GONE, ELSEWHERE = "stopped", "alive", "gone", "elsewhere"
LONG_SECONDS = 600.0
"""A lock that is held for longer is worth a look."""
_TRANSIENT_SECONDS = 0.25
"""Seconds for which a lock may be that of a process that is no more, before it is called so."""
_PADDED = 256
"""Bytes that a file is filled up to, so that a full disk takes the next name as well."""
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds a lock. ``since`` is 0 where it is not known, ``state`` one of the
    words above, ``forked`` the processes that have the lock of one that is gone."""

    host: str
    pid: int
    since: float
    state: str
    command: str = ""
    forked: tuple[int, ...] = ()

    @property
    def stopped(self) -> bool:
        """Whether nothing goes on while it is as it is."""
        return self.state == STOPPED

    @property
    def stuck(self) -> bool:
        """Whether somebody should look at it: it is stopped, gone, or takes very long."""
        long = bool(self.since) and time.time() - self.since > LONG_SECONDS
        return self.state in (STOPPED, GONE) or long

    def __str__(self) -> str:
        """For the middle of a sentence."""
        named = f"process {self.pid}" + (f" ({self.command})" if self.command else "")
        where = f" on host {self.host or 'unknown'}" if self.state == ELSEWHERE else ""
        state = {
            STOPPED: ", which is stopped",
            GONE: ", which is gone while a process that it forked has its lock",
            ALIVE: ", which is alive",
        }.get(self.state, "")
        return named + where + state + (f", since {_moment(self.since)}" if self.since else "")

    @property
    def remedy(self) -> str:
        """What to do about it, as a sentence; records that were written are safe whatever is."""
        if self.state == STOPPED:
            return (
                f"Wake it (`kill -CONT {self.pid}`) or end it (`kill -9 {self.pid}`): what it "
                "wrote is safe, and lands once."
            )
        if self.state == GONE:
            pids = " ".join(map(str, self.forked)) or "its children"
            return f"End what it left: `kill {pids}`."
        if self.state == ELSEWHERE:
            return f"Look at process {self.pid} on {self.host or 'its host'}; if it hangs, end it."
        return f"If it hangs, end it (`kill {self.pid}`): what it wrote is safe, and lands once."


def signed(before: bytes = b"", *, shipped: bool = False) -> bytes:
    """What this process writes into a lock that it has just taken; with ``shipped`` also that it
    ships now. ``before`` is what the file said."""
    told = {**_told(before), "holder": host_and_pid(os.getpid()), "since": time.time()}
    if shipped:
        told |= {"shipper": told["holder"], "shipped": told["since"]}
    text = json.dumps(told)
    return text.ljust(_PADDED).encode()


def last_shipped(content: bytes) -> tuple[str, float]:
    """Who shipped last, and when."""
    told = _told(content)
    shipped = told.get("shipped")
    return str(told.get("shipper", "")), float(shipped) if isinstance(shipped, float) else 0.0


def holder(path: Path) -> Holder | None:
    """The process that holds a lock file; ``None`` where nobody does or the file cannot be read.

    That a holder is gone, or has no name, is said only of a lock that stays so with this holder:
    one that ended while we looked has just given it up, perhaps to another one, a child between
    fork and exec has its parent's for a moment, and one that has just taken it has not yet written
    its name.
    """
    try:
        fd = os.open(path, held_files.OPENED_TO_LOOK)
    except OSError:
        return None
    try:
        first: Holder | None = None
        patience = 0.0
        while held_files.is_held(fd):
            found = _described(fd, path)
            if found.state in (ALIVE, STOPPED) or (found.state == ELSEWHERE and found.host):
                return found
            if first is None or (found.pid, found.since) != (first.pid, first.since):
                first, patience = found, time.monotonic() + _TRANSIENT_SECONDS
            elif time.monotonic() > patience:
                return found
            time.sleep(_TRANSIENT_SECONDS / 25)
    except OSError:
        pass  # who holds it cannot be told
    finally:
        os.close(fd)
    return None


def stopped(process: str) -> bool:
    """Whether a process, as ``host_and_pid`` names it, is one of this host that is stopped."""
    host, _, pid = process.rpartition("-")
    return host == host_and_pid(0).rpartition("-")[0] and _state(int(pid)) == STOPPED


def _described(fd: int, path: Path) -> Holder:
    told = _told(held_files.read_from_start(fd, 4096))
    host, _, number = str(told.get("holder", "")).rpartition("-")
    pid, since = int(number) if number.isdigit() else 0, told.get("since")
    here = host_and_pid(0).rpartition("-")[0]
    known = _by_kernel(os.fstat(fd))
    if known and (known != pid or host != here):  # it has not yet, or could not, write its name
        host, pid, since = here, known, 0.0
    since = float(since) if isinstance(since, (int, float)) else 0.0
    if host != here:
        return Holder(host, pid, since, ELSEWHERE)
    state = _state(pid)
    forked = tuple(_openers(path, pid)) if state == GONE else ()
    return Holder(host, pid, since, state, _command(pid), forked)


def _by_kernel(found: os.stat_result) -> int:
    """The process that has a flock on a file, as Linux tells; 0 where nobody tells."""
    if sys.platform == "win32":
        return 0
    mark = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    with contextlib.suppress(OSError, ValueError):
        for line in (_PROC / "locks").read_text("ascii", "replace").splitlines():
            words = line.split()
            if mark in words and "FLOCK" in words and "->" not in words:
                return max(0, int(words[4]))
    return 0


def _state(pid: int) -> str:
    if sys.platform == "win32":  # where os.kill(pid, 0) is Ctrl-C; a lock that is held has a holder
        return ALIVE
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
    except OSError:
        if not _PROC.joinpath("self").exists():  # no Linux: whether it is there is all we learn
            with contextlib.suppress(ProcessLookupError):
                with contextlib.suppress(PermissionError):
                    os.kill(pid, 0)
                return ALIVE
        return GONE
    letter = text.rpartition(")")[2].split()[0]
    return STOPPED if letter in "Tt" else GONE if letter in "ZX" else ALIVE


def _command(pid: int) -> str:
    """Its command line, masked, as far as it may be read."""
    try:
        raw = (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return ""
    text = raw.replace(b"\0", b" ").decode("utf-8", "replace").strip()[:1_000]
    masked = Redactor(config.resolve({}, {})).text(text, "command")
    plain = "".join(c if c.isprintable() else "?" for c in masked)
    return plain if len(plain) <= 120 else f"{plain[:119]}…"


def _openers(path: Path, besides: int) -> Iterator[int]:
    """Processes that have a file open, of those that we may look at."""
    wanted = str(path.resolve())
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            pid = int(folder.name)
            if pid not in (besides, os.getpid()) and any(
                os.readlink(link) == wanted for link in (folder / "fd").iterdir()
            ):
                yield pid


def _told(content: bytes) -> Mapping[str, Any]:
    try:
        return as_dict(json.loads(content)) or {}
    except ValueError:
        return {}


def _moment(since: float) -> str:
    return datetime.fromtimestamp(since, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
