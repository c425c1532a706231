"""Locked lineages: what they made is good, and better than what the unlocked made in its cycle.

A lineage is locked for what it makes then. So its results are those of the version that it was
locked with, not of the ones that it had come from; of a rollout it is the attempt that counts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from turnspan_clickhouse.store.client import Store
from turnspan_records.sql import statement
from turnspan_records.training.export_request import Filters


def load(store: Store, filters: Filters, work: sqlite3.Connection) -> None:
    """Copy the results of experiments with a locked lineage, and judge the locked ones good."""
    given = {"only": filters.project, "authors": list(filters.authors)}
    for *result, locked, author in store.query(statement("training/locked_results"), given).rows:
        work.execute("INSERT INTO result VALUES (?, ?, ?, ?, ?, ?)", (*result, locked))
        if locked:
            work.execute(statement("training/locked_judgment"), (*result[:2], author))


def experiments(work: sqlite3.Connection) -> tuple[str, ...]:
    """The experiments with a locked lineage."""
    found = work.execute("SELECT DISTINCT experiment_id FROM result WHERE locked ORDER BY 1")
    return tuple(str(row[0]) for row in found)


def pairs(work: sqlite3.Connection) -> Iterator[tuple[bytes, int, int]]:
    """Prompt, and the numbers of a locked lineage's sample and of an unlocked one's of its cycle:
    of the same prompt only."""
    yield from work.execute(statement("training/locked_pairs"))


def across_prompts(work: sqlite3.Connection) -> int:
    """How many results of one task and cycle are no pair, since their prompts differ."""
    found = work.execute(statement("training/locked_across_prompts"))
    return int(found.fetchone()[0])
