"""A store whose tables are not those of this Turnspan is told in one sentence by every command."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.representatives import few
from support.story import Invoke, fill
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

pytestmark = pytest.mark.usefixtures("kept_engine")

LEDGER = "turnspan.schema_migration (version, name, checksum, client_version, applied_at)"
ANOTHER = "has tables of another Turnspan, or of something else"
CASES = {
    "a newer version": (
        [f"INSERT INTO {LEDGER} VALUES (999, 'x', 'beef', '9.9', now64(9))"],
        "schema version 999, newer than the",
    ),
    "a table changed in place": (
        [f"INSERT INTO {LEDGER} VALUES (3, 'x', 'beef', '0.0', now64(9) + 60)"],
        ANOTHER,
    ),
    "an unknown ledger": (
        [
            "DROP TABLE turnspan.schema_migration",
            "CREATE TABLE turnspan.schema_migration (v Int8) ENGINE = MergeTree ORDER BY v",
        ],
        ANOTHER,
    ),
    "tables of something else": (
        [
            "DROP DATABASE turnspan",
            "CREATE DATABASE turnspan",
            "CREATE TABLE turnspan.llm_call (a Int8) ENGINE = MergeTree ORDER BY a",
        ],
        ANOTHER,
    ),
    "a column gone": (
        ["ALTER TABLE turnspan.turn_summary DROP INDEX by_word, DROP COLUMN stop_reason"],
        "lacks tables or columns",
    ),
    "a table gone": (["DROP TABLE turnspan.turn_summary"], "lacks tables or columns"),
}
READERS = (("sessions",), ("turns",), ("replay",), ("diagnose",), ("show", "a1a1a1a1"))


@pytest.mark.parametrize("case", few(CASES, ["a newer version", "a column gone"]))
def test_every_reader_says_it_in_one_sentence(case: str, tmp_path: Path, invoke: Invoke) -> None:
    """Exit code 3, one line on standard error, what is wrong and what to do."""
    statements, told = CASES[case]
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    fill(dsn)
    with open_store(dsn) as store:
        for sql in statements:
            store.command(sql)

    fine = ["show", "replay"] if case == "a column gone" else []  # they do not need that one
    for command in READERS:
        shown = invoke("--store", str(dsn), *command)
        if shown.exit_code == 0 and command[0] in fine:
            continue
        line = shown.stderr.splitlines()[-1]
        assert (shown.exit_code, told in line, len(line) < 500) == (3, True, True), shown.output
    doctor = invoke("--store", str(dsn), "doctor")
    assert "check itself failed" not in doctor.output and "SETTINGS" not in doctor.output
    assert doctor.exit_code == (0 if case == "tables of something else" else 1), doctor.output


def test_a_mistake_in_a_query_of_ones_own_is_told_in_clickhouses_words(
    invoke: Invoke, filled: str
) -> None:
    """There the store is as it should be."""
    shown = invoke("--store", filled, "sql", "SELECT nothing FROM turn_summary")
    assert shown.exit_code == 1 and "Unknown expression identifier `nothing`" in shown.stderr
