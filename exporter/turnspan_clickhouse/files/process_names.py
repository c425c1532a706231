"""What processes are called in the files that they share."""

from __future__ import annotations

import re
import socket


def host_and_pid(pid: int) -> str:
    """What names a process among all that may share a spool."""
    host = re.sub(r"\W", "_", socket.gethostname(), flags=re.ASCII)[:60] or "localhost"
    return f"{host}-{pid}"
