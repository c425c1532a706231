"""What each receiver of a spool has done, in a file that other processes read.

``receivers/<writer's token>.json`` in the spool folder, written every few seconds and at the end.
"""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from turnspan_clickhouse.files.atomic_files import private_folder, write_whole

FOLDER = "receivers"
BEAT_SECONDS = 5.0
_DEAD_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ReceiverStats:
    """One receiver's figures since it began; times are seconds since the epoch."""

    token: str
    address: str
    started: float
    updated: float
    ended: bool
    spans: int
    again: int
    refused: int
    lost: int
    traces_under_way: int
    failure: str
    answers: dict[str, int]
    """Requests by the HTTP status they were answered with."""

    @property
    def alive(self) -> bool:
        """Whether it runs, as far as its figures tell."""
        return not self.ended and time.time() - self.updated < _DEAD_SECONDS


def write_receiver_stats(spool: Path, stats: ReceiverStats) -> None:
    """Write or replace a receiver's figures.

    Raises:
        OSError: the spool folder cannot be written.
    """
    private_folder(spool)
    path = private_folder(spool / FOLDER) / f"{stats.token}.json"
    write_whole(path, json.dumps(asdict(stats)).encode())


def read_receiver_stats(spool: Path) -> list[ReceiverStats]:
    """The figures of all receivers that ran lately, the newest first."""
    found: list[ReceiverStats] = []
    for path in (spool / FOLDER).glob("*.json"):
        with contextlib.suppress(OSError, ValueError, TypeError):  # being replaced or removed
            told = cast("dict[str, Any]", json.loads(path.read_text()))
            found.append(ReceiverStats(**told))
    return sorted(found, key=lambda stats: -stats.started)
