"""What grouping finds of a log, in a file of SQLite's own that is gone when it is closed: in memory
it would grow with the log for as long as the import lasts."""

from __future__ import annotations

import pickle
import sqlite3
from typing import Final

from turnspan_llm.grouping.model import Grouping, RunFound

_SCHEMA: Final = """
PRAGMA journal_mode = OFF;
CREATE TABLE place (id TEXT PRIMARY KEY, run TEXT, role INTEGER, iteration INTEGER) WITHOUT ROWID;
CREATE TABLE run (output TEXT PRIMARY KEY, told BLOB);
"""


class Verdicts:
    """Runs by their outputs, and places by rows."""

    def __init__(self) -> None:
        self._scratch = sqlite3.connect("", isolation_level=None)
        self._scratch.executescript(_SCHEMA)

    def close(self) -> None:
        """Forget them."""
        self._scratch.close()

    def add(self, grouping: Grouping) -> None:
        """Add what was found in a stretch of the log."""
        self._scratch.execute("BEGIN")
        self._scratch.executemany(
            "INSERT OR REPLACE INTO place VALUES (?, ?, ?, ?)",
            (
                (id_, place.consortium_id, place.role, place.iteration)
                for id_, place in grouping.places.items()
            ),
        )
        self._scratch.executemany(
            "INSERT OR REPLACE INTO run VALUES (?, ?)",
            ((run.output.row.id, pickle.dumps(run)) for run in grouping.runs),
        )
        self._scratch.execute("COMMIT")

    def place(self, row_id: str) -> tuple[str, int, int] | None:
        """The run, role and iteration of a row; ``None`` of one that is in no run."""
        found = self._scratch.execute(
            "SELECT run, role, iteration FROM place WHERE id = ?", (row_id,)
        ).fetchone()
        return None if found is None else (str(found[0]), int(found[1]), int(found[2]))

    def run(self, output: str) -> RunFound | None:
        """The run that a row is the output of."""
        found = self._scratch.execute("SELECT told FROM run WHERE output = ?", (output,)).fetchone()
        return None if found is None else _read(found[0])


def _read(told: bytes) -> RunFound:
    run = pickle.loads(told)
    assert isinstance(run, RunFound)
    return run
