"""What each receiver of a spool has done, in a file that other processes read.

``receivers/<writer's token>.json`` in the spool folder, written every few seconds and at the end.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from turnspan_clickhouse.files.atomic_files import private_folder, write_whole

FOLDER = "receivers"
BEAT_SECONDS = 5.0
_DEAD_SECONDS = 30.0
MAX_NAMES, MAX_NAME_LENGTH = 100, 100


class LeftOutCounts(Counter[str]):
    """How often something was left out, by its name: of at most ``MAX_NAMES``, and ``others``."""

    def note(self, name: str, number: int = 1) -> str:
        """Count it; returns the name by which it is counted."""
        name = name[:MAX_NAME_LENGTH] or "no name"
        if name not in self and len(self) >= MAX_NAMES:
            name = "others"
        self[name] += number
        return name

    def add(self, other: LeftOutCounts) -> None:
        """Count what another one has counted."""
        for name, number in other.items():
            self.note(name, number)


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
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    """Data points of metrics, and log records, of which nothing is kept, by their names."""

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
