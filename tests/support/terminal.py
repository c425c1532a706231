"""The command on a pseudo-terminal: what it writes there, and what it does when keys are typed."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import selectors
import struct
import subprocess
import sys
import termios
import time
from types import TracebackType

from support.story import ENTRY


def on_terminal(*arguments: str, width: int = 80, **environ: str) -> str:
    """What the command writes to a terminal of a width, escape codes included."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY, *arguments],
        stdin=child,
        stdout=child,
        stderr=child,
        env={**os.environ, "TERM": "xterm-256color", **environ},
    )
    os.close(child)
    shown = b""
    while True:
        try:
            piece = os.read(parent, 65_536)
        except OSError:  # the last writer has closed the terminal
            break
        if not piece:
            break
        shown += piece
    os.close(parent)
    assert process.wait(60) == 0, shown
    return shown.decode().replace("\r\n", "\n")


class Typing:
    """The command on a pseudo-terminal, with somebody at the keys.

    >>> with Typing("review") as screen:
    ...     screen.wait("? keys")
    ...     screen.type("u")
    """

    def __init__(self, *arguments: str, width: int = 100, **environ: str) -> None:
        self._parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
        self._process = subprocess.Popen(
            [sys.executable, "-c", ENTRY, *arguments],
            stdin=child,
            stdout=child,
            stderr=child,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color", **environ},
        )
        os.close(child)
        self.shown = ""
        """Everything that was written since ``type`` was last called, without colours."""

    def __enter__(self) -> Typing:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(60)
        os.close(self._parent)

    def wait(self, text: str, seconds: float = 60.0, *, line: bool = False) -> str:
        """Wait until this is on the screen, and the program waits for a key, or a ``line``; returns
        all of it."""
        patience = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < patience, f"{text!r} is not in: {self.shown}"
            if self._is_readable(0.05):
                self.shown += self._read()
        while self._wants_line() != line:
            assert time.monotonic() < patience, f"no key is waited for: {self.shown}"
            time.sleep(0.01)
        while self._is_readable(0):  # all of it was written before
            self.shown += self._read()
        return self.shown

    def _is_readable(self, seconds: float) -> bool:
        # Not select(): a run of all tests has more than 1,024 files open.
        with selectors.DefaultSelector() as waiting:
            waiting.register(self._parent, selectors.EVENT_READ)
            return bool(waiting.select(seconds))

    def type(self, keys: str) -> None:
        """Press keys; forget what was shown before."""
        self.shown = ""
        os.write(self._parent, keys.encode())

    def press(self, key: str, until: str) -> str:
        """Press a key and wait for what comes of it."""
        self.type(key)
        return self.wait(until)

    def end(self) -> int:
        """Wait for the end of the program; returns its exit code."""
        while True:
            try:
                piece = self._read()
            except OSError:  # the last writer has closed the terminal
                break
            if not piece:
                break
            self.shown += piece
        return self._process.wait(60)

    def _read(self) -> str:
        piece = os.read(self._parent, 65_536).decode("utf-8", "replace")
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", piece).replace("\r\n", "\n")

    def _wants_line(self) -> bool:
        """Whether the terminal takes lines, not single keys. What is typed before it changes to
        those is thrown away."""
        return bool(termios.tcgetattr(self._parent)[3] & termios.ICANON)
