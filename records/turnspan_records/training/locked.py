"""Locked lineages: what they made is good, and better than what the unlocked made in its cycle.

A lineage is locked for what it makes then. So its results are those of the version that it was
locked with, not of the ones that it had come from; of a rollout it is the attempt that counts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.training.export_request import Filters

LOCKED: Final = "locked"
"""The kind of judgment that an attempt gets by it."""

_MADE: Final = """
CREATE TABLE result (
    project TEXT, attempt_id TEXT, experiment_id TEXT, cycle INTEGER, task TEXT, locked INTEGER);
"""
_INDEXED: Final = """
CREATE INDEX result_by_attempt ON result (attempt_id, project);
CREATE INDEX result_by_cycle ON result (project, experiment_id, cycle, locked);
"""
_RESULTS: Final = """
WITH
    of AS
    (
        SELECT project, experiment_id, lineage_id, locked, locked_time FROM lineage_current
        WHERE ({only:String} = '' OR project = {only:String})
    ),
    at_least_one AS (SELECT project, experiment_id FROM of WHERE locked),
    made AS
    (
        SELECT project, lineage_id, cycle, task, version_id, started_at, final_attempt_id, status
        FROM rollout_current WHERE ({only:String} = '' OR project = {only:String})
    ),
    held AS
    (
        SELECT m.project AS project, m.lineage_id AS lineage_id,
            argMax(m.version_id, m.started_at) AS version_id
        FROM made AS m INNER JOIN of AS o ON o.project = m.project AND o.lineage_id = m.lineage_id
        WHERE o.locked AND m.started_at <= o.locked_time
        GROUP BY project, lineage_id
    ),
    by AS
    (
        SELECT project, lineage_id, argMax(e.author, created_at) AS author,
            argMax(kind, created_at) AS word
        FROM lineage_event AS e
        WHERE kind IN ('locked', 'unlocked')
            AND (empty({authors:Array(String)}) OR e.author IN {authors:Array(String)})
        GROUP BY project, lineage_id
    )
SELECT
    m.project AS project, m.final_attempt_id AS attempt_id, o.experiment_id AS experiment_id,
    m.cycle AS of_cycle, m.task AS of_task, toUInt8(o.locked) AS is_locked, by.author AS said_by
FROM made AS m
INNER JOIN of AS o ON o.project = m.project AND o.lineage_id = m.lineage_id
LEFT JOIN held AS h ON h.project = m.project AND h.lineage_id = m.lineage_id
LEFT JOIN by ON by.project = m.project AND by.lineage_id = m.lineage_id
WHERE m.status = 'succeeded' AND m.final_attempt_id != ''
    AND (o.project, o.experiment_id) IN (SELECT project, experiment_id FROM at_least_one)
    AND (NOT o.locked OR h.lineage_id = '' OR h.version_id = m.version_id)
    AND (NOT o.locked OR empty({authors:Array(String)}) OR by.word = 'locked')
ORDER BY project, attempt_id
"""


def load(store: Store, filters: Filters, work: sqlite3.Connection) -> None:
    """Copy the results of experiments with a locked lineage, and judge the locked ones good."""
    work.executescript(_MADE)
    given = {"only": filters.project, "authors": list(filters.authors)}
    for *result, locked, author in store.query(_RESULTS, given).rows:
        work.execute("INSERT INTO result VALUES (?, ?, ?, ?, ?, ?)", (*result, locked))
        if locked:
            work.execute(
                "INSERT INTO judgment (project, subject_kind, subject_id, kind, outcome, author)"
                " VALUES (?, 'attempt', ?, ?, ?, ?)",
                (*result[:2], LOCKED, LOCKED, author),
            )
    work.executescript(_INDEXED)


def experiments(work: sqlite3.Connection) -> tuple[str, ...]:
    """The experiments with a locked lineage."""
    found = work.execute("SELECT DISTINCT experiment_id FROM result WHERE locked ORDER BY 1")
    return tuple(str(row[0]) for row in found)


def pairs(work: sqlite3.Connection) -> Iterator[tuple[bytes, int, int]]:
    """Prompt, and the numbers of a locked lineage's sample and of an unlocked one's of its cycle:
    of the same prompt only."""
    yield from work.execute(
        "SELECT c.prompt_hash, c.number, r.number FROM result AS better"
        " JOIN sample AS c ON c.attempt = better.attempt_id AND c.project = better.project"
        " JOIN result AS other ON other.project = better.project"
        " AND other.experiment_id = better.experiment_id AND other.cycle = better.cycle"
        " AND NOT other.locked"
        " JOIN sample AS r ON r.attempt = other.attempt_id AND r.project = other.project"
        " AND r.prompt_hash = c.prompt_hash"
        " WHERE better.locked ORDER BY c.prompt_hash, c.project, c.unit, r.unit"
    )


def across_prompts(work: sqlite3.Connection) -> int:
    """How many results of one task and cycle are no pair, since their prompts differ."""
    both = " EXISTS (SELECT 1 FROM sample AS s WHERE s.attempt = {}.attempt_id)"
    found = work.execute(
        "SELECT count(*) FROM result AS better JOIN result AS other"
        " ON other.project = better.project AND other.experiment_id = better.experiment_id"
        " AND other.cycle = better.cycle AND other.task = better.task AND NOT other.locked"
        " WHERE better.locked"
        f" AND {both.format('better')} AND {both.format('other')}"
        " AND NOT EXISTS (SELECT 1 FROM sample AS c JOIN sample AS r"
        " ON r.prompt_hash = c.prompt_hash"
        " WHERE c.attempt = better.attempt_id AND r.attempt = other.attempt_id)"
    )
    return int(found.fetchone()[0])
