"""The command on a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

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
