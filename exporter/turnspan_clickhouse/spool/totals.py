"""The spool's running totals: one place where every process looks up what became of the rows.

``totals.json`` is written by whoever holds ``ship.lock``::

    shipped   rows landed, by table
    dropped   rows lost by writers that are gone, by reason
    last      tokens of the newest inserts that are counted: repeated after a crash, one counts once
    buried    writers whose own figures are already in ``dropped``

A living writer's figures (what it has queued and lost) are in its lock file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from turnspan.content.model import as_dict, as_list
from turnspan_clickhouse.files.atomic_files import write_whole

_LAST = 16


@dataclass(frozen=True, slots=True)
class WriterStats:
    """What one process says of itself: spans queued, and rows and spans lost by reason."""

    queued: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])

    def encoded(self) -> bytes:
        """As text, padded so that the next one can be written over it on a full disk."""
        text = json.dumps({"queued": self.queued, "dropped": dict(self.dropped)})
        return text.ljust(-(-len(text) // 4096) * 4096).encode()


def read_writer_stats(path: Path) -> WriterStats:
    """A writer's figures out of its lock file; zeros where it says nothing."""
    found = _read(path)
    queued = found.get("queued")
    return WriterStats(queued if isinstance(queued, int) else 0, _counts(found.get("dropped")))


class Totals:
    """A spool's totals; what could not be written yet is kept and added to the next write."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "totals.json"
        self._shipped: Counter[str] = Counter()

    @property
    def shipped(self) -> dict[str, int]:
        """Rows landed so far, by table, whichever process shipped them."""
        return dict(Counter(_counts(_read(self._path).get("shipped"))) + self._shipped)

    @property
    def dropped(self) -> dict[str, int]:
        """Rows lost by writers that are gone, by reason."""
        return _counts(_read(self._path).get("dropped"))

    @property
    def absorbed(self) -> set[str]:
        """Writers that are in ``dropped`` already."""
        return set(_names(_read(self._path).get("buried")))

    def landed(self, token: str, table: str, rows: int) -> None:
        """Count an insert, once however often it is repeated. Call with the spool's lock held."""
        found = _read(self._path)
        last = _names(found.get("last"))
        if token not in last:
            self._shipped[table] += rows
        shipped = Counter(_counts(found.get("shipped"))) + self._shipped
        if self._write({**found, "shipped": dict(shipped), "last": [*last[1 - _LAST :], token]}):
            self._shipped.clear()

    def absorb(self, gone: Mapping[str, WriterStats]) -> bool:
        """Take in what writers that are gone had lost; whether that could be written, else try
        again. Call with the spool's lock held."""
        found = _read(self._path)
        known = _names(found.get("buried"))
        dropped = Counter(_counts(found.get("dropped")))
        for token, stats in gone.items():
            if token not in known:
                dropped.update(stats.dropped)
        return self._write({**found, "dropped": dict(dropped), "buried": list(gone)})

    def _write(self, content: Mapping[str, Any]) -> bool:
        try:
            write_whole(self._path, json.dumps(content).encode())
        except OSError:  # a full disk must not keep the rows from landing, which empties it
            return False
        return True


def _read(path: Path) -> dict[str, Any]:
    try:
        return as_dict(json.loads(path.read_text("utf-8"))) or {}
    except (OSError, ValueError):  # not there, empty, or being written
        return {}


def _counts(value: object) -> dict[str, int]:
    pairs = (as_dict(value) or {}).items()
    return {name: count for name, count in pairs if isinstance(count, int)}


def _names(value: object) -> list[str]:
    return [str(name) for name in as_list(value) or []]
