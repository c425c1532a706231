"""How ``turnspan hooks run`` begins: the coding agent that calls it waits for milliseconds only.

The event is read, and a child goes on with it. Nothing is imported before that which the
interpreter has not imported already, but the clock.
"""

from __future__ import annotations

import io
import os
import sys
import time
from typing import Final

AT: Final = "_TURNSPAN_HOOK_AT"
"""The environment variable of the child: when the agent called, in seconds since the epoch. Until
the child looks at files, the agent may have gone on."""
_LONGEST = 16 * 2**20
"""Characters of an event."""


def leave_to_child() -> None:
    """Go on in a child that the agent does not wait for, and whose end does not end with it; this
    process exits with 0."""
    if AT in os.environ:
        return
    os.environ[AT] = repr(time.time())
    event = sys.stdin.read(_LONGEST) if sys.stdin is not None else ""
    if sys.platform == "win32":
        import subprocess

        flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
        child = subprocess.Popen(
            [sys.executable, *sys.argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=flags,
            text=True,
        )
        assert child.stdin is not None
        child.stdin.write(event)
        child.stdin.close()
        os._exit(0)
    if os.fork():
        os._exit(0)
    os.setsid()  # a signal to the agent's group does not reach it
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):  # the agent may wait until its pipes are closed
        os.dup2(nothing, fd)
    sys.stdin = io.StringIO(event)
