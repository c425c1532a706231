"""The receiver's limits."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEFAULT_MAX_REQUEST_BYTES = 64 * 2**20

FOLLOWING: Final = "coding"
"""The folder of a spool in which those that import coding agents' transcripts keep their notes."""
NEWS: Final = "telemetry"
"""The folder in it that changes when telemetry of a coding agent was received."""


def follows_transcripts(spool: Path) -> bool:
    """Whether transcripts were followed, or a hook has run, for the store of this spool."""
    return (spool / FOLLOWING).is_dir()


@dataclass(frozen=True, slots=True)
class ReceiveSettings:
    """Limits of a receiver; sizes in bytes, times in seconds."""

    max_request_bytes: int = DEFAULT_MAX_REQUEST_BYTES
    """A request's size at most, as it is sent and decompressed."""
    max_request_spans: int = 250_000
    """A request's spans at most."""
    max_waiting_bytes: int = 4 * DEFAULT_MAX_REQUEST_BYTES
    """All requests under way together, decompressed; of more the client is told to come back."""
    max_held_bytes: int = 256 * 2**20
    """Spans kept for traces under way, in memory; of more the least recent traces are given up."""
    max_event_bytes: int = 64 * 2**20
    """Events kept whose spans have not come, in memory; of more the oldest are given up."""
    event_patience: float = 2.0
    """How long root calls of a service that tells their content in events wait for those."""
    head_timeout: float = 10.0
    """How long a client may take to send a request's head, from when it connected or began it."""
    read_timeout: float = 30.0
    """How long a client may take to send a request's body."""
    max_connections: int = 512
    """Connections at once; of more each is told to come back."""
    settle_after: float = 5.0
    """How long a whole trace must be quiet before a turn that no agent's span is about lands."""
    give_up_after: float = 600.0
    """How long a trace is kept without a new span."""
    fsync: bool = False
    """Whether a batch must survive a power cut, not only the process, before it is acknowledged."""
    transcripts: bool | None = None
    """Whether transcripts of coding agents are imported too: their telemetry then completes those
    records, and makes none of its own. None: as soon as ``follows_transcripts``."""
