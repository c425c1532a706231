"""Logs that real versions of simonw/llm wrote, in small, and imports of logs into a store."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from support.shared import REPOSITORY
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_llm.importing.log import LlmLog
from turnspan_records.importing.import_run import import_log
from turnspan_records.importing.sources import ImportReport

SAMPLES = REPOSITORY / "tests" / "data" / "llm_logs"
VERSIONS = ("0.13", "0.20", "0.25", "0.26", "0.31", "0.36")
"""Of llm, which the samples are of; their ``make.py`` says how they were made."""
TABLES = (
    *("llm_call", "turn_summary", "tool_call", "message", "definition", "span"),
    *("consortium", "consortium_iteration", "consortium_member"),
)


def sample(version: str, folder: Path) -> Path:
    """The log that a version wrote, unpacked."""
    path = folder / f"llm{version}.db"
    path.write_bytes(gzip.decompress((SAMPLES / f"llm{version}.db.gz").read_bytes()))
    return path


def told(version: str) -> list[dict[str, Any]]:
    """What that version's own objects said of each response or chain of the log."""
    found: list[dict[str, Any]] = json.loads((SAMPLES / f"llm{version}.json").read_text("utf-8"))
    return found


def import_llm(
    store: Store,
    path: Path,
    *,
    consortium_db: Path | None = None,
    project: str = "llm",
    again: bool = False,
) -> ImportReport:
    """Import a log into an open store."""
    return import_log(
        lambda: nullcontext(store),
        Spool(store.dsn.spool),
        LlmLog(path, consortium_db),
        project=project,
        again=again,
    )


def rows_of(store: Store, project: str = "llm") -> dict[str, list[tuple[Any, ...]]]:
    """Everything that is in the tables, but who wrote it and when."""
    return {
        table: [
            tuple(row)
            for row in store.query(
                f"SELECT * EXCEPT (written_at) {_without_writer(table)} FROM {table} FINAL"
                " WHERE project = {project:String} ORDER BY ALL",
                {"project": project},
            ).rows
        ]
        for table in TABLES
    }


def _without_writer(table: str) -> str:
    return "" if table in ("message", "definition") else "REPLACE ('' AS writer)"


def source_counts(path: Path) -> dict[str, int]:
    """How many rows each table of a log has, without its indexes of words."""
    connection = sqlite3.connect(path)
    try:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        return {
            table: count
            for (table,) in tables
            if "_fts" not in table
            and (count := connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0])
        }
    finally:
        connection.close()


def accounted(report: ImportReport) -> dict[str, int]:
    """How many rows of each table a report accounts for."""
    found: dict[str, int] = {}
    for (table, _), rows in report.seen.items():
        found[table] = found.get(table, 0) + rows
    return found
