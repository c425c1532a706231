"""What a rerun's spans carry, and the names of its sessions.

Without a rerun ``scope`` is ``None``, and nothing else of this module is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class RerunScope:
    """The rerun under way in this process. ``attributes`` go on every span when it starts: the
    rerun, and a fork's attempt."""

    __slots__ = ("attributes", "rerun_id")

    def __init__(self, rerun_id: str, attributes: Mapping[str, Any]) -> None:
        self.rerun_id = rerun_id
        self.attributes = attributes


scope: RerunScope | None = None
"""The process's rerun."""
landing_hosts: set[str] = set()
"""The hosts of the stores that this process records into: a rerun lets records through to them."""


def session_name(session_id: str, rerun_id: str) -> str:
    """The name of a session in a rerun: no rerun adds to the session that it plays."""
    if not session_id or session_id.endswith(f"~{rerun_id}"):
        return session_id
    return f"{session_id}~{rerun_id}"
