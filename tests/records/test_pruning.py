"""Pruning: what was decided goes, and the texts that nothing refers to any more go with it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.landing import insert
from support.rows import PROJECT, SECOND, T0, call, message, said
from turnspan_clickhouse.rows.keeping_tables import Tombstone
from turnspan_clickhouse.rows.loop_tables import AgentVersion, ArtifactRow
from turnspan_clickhouse.rows.record import NO_HASH
from turnspan_clickhouse.rows.tables import (
    KEYS,
    RECORDS,
    ContextAssemblyRow,
    ContextItemRow,
    Definition,
    LlmCall,
    MessageRow,
    Record,
    columns,
)
from turnspan_clickhouse.store.client import Store
from turnspan_records.keeping.contents import mark_unreferenced, violations
from turnspan_records.keeping.keys import BY_WEEK
from turnspan_records.keeping.references import CONTENTS, REFERENCES
from turnspan_records.keeping.work import Work, unfinished

WEEK = 7 * 86_400.0


@pytest.fixture
def empty(module_store: Store) -> Store:
    """The store of this module without a row."""
    for record in RECORDS:
        module_store.command(f"TRUNCATE TABLE {record.table}")
    for name in unfinished(module_store):
        Work(module_store, name).clear()
    return module_store


def definition(number: int, **values: Any) -> Definition:
    """A definition whose hash is this number."""
    known: dict[str, Any] = {
        "project": PROJECT,
        "hash": bytes([number]) * 16,
        "kind": "context",
        "body": f"text {number}",
        "written_at": T0,
    }
    return Definition(**{**known, **values})


def held(store: Store, record: type[Record], what: str) -> list[str]:
    """One column of every row, in order."""
    return sorted(str(row[0]) for row in store.query(f"SELECT {what} FROM {record.table}").rows)


def test_every_column_of_hashes_is_in_the_list() -> None:
    """A table that names contents and is not in the list would lose them."""
    named = {(one.record.table, one.column, one.many) for one in REFERENCES}
    found = {
        (record.table, name, kind.startswith("Array"))
        for record in RECORDS
        for name, kind in columns(record)
        if "FixedString" in kind and not (record in CONTENTS.values() and name == "hash")
        if record is not Tombstone  # its hashes are of ids
    }
    assert named == found


def test_the_keys_are_those_of_the_tables(module_store: Store) -> None:
    """A key of fewer columns would delete its neighbours."""
    rows = module_store.query(
        "SELECT name, sorting_key, partition_key FROM system.tables WHERE database = {d:String}",
        {"d": module_store.database},
    ).rows
    sorted_by = {str(name): re.sub(r"^toMonday\(\w+\), ", "", str(key)) for name, key, _ in rows}
    weekly = {str(name) for name, _, key in rows if key == "toMonday(start_time)"}
    assert set(KEYS) == set(RECORDS)
    assert {one.table: ", ".join(key) for one, key in KEYS.items()} == {
        one.table: sorted_by[one.table] for one in RECORDS
    }
    assert {one.table for one in BY_WEEK} == weekly


def test_contents_go_with_the_last_row_that_names_them(empty: Store) -> None:
    """Whichever table and column it is; what another row names stays."""
    known: dict[str, Any] = {
        "project": PROJECT, "session_id": "s1", "start_time": T0, "written_at": T0,
    }  # fmt: skip
    texts = [definition(number) for number in range(1, 10)]
    words = [message("user", said(str(number))) for number in range(4)]
    insert(
        empty, *texts, *words,
        call("goes", input_messages=[words[0].hash, words[1].hash], system_prompt=texts[0].hash,
             tool_definitions=texts[1].hash, context_assembled=texts[2].hash),
        call("stays", input_messages=[words[1].hash], output_messages=[words[2].hash],
             system_prompt=texts[1].hash, tool_definitions=texts[3].hash,
             context_assembled=texts[4].hash),
        call("elsewhere", session_id="s2", input_messages=[words[3].hash]),
        ContextAssemblyRow(**known, assembly_id="a", context_hash=texts[5].hash),
        ContextItemRow(**known, assembly_id="a", item_id="i", content_hash=texts[6].hash),
        ArtifactRow(project=PROJECT, target="p", artifact_id="x", content=texts[7].hash),
        AgentVersion(project=PROJECT, version_id="v", content=texts[8].hash),
    )  # fmt: skip
    work = Work(empty)
    work.mark(LlmCall, "span_id = {id:String}", {"id": "goes"}, reason="'test'")
    mark_unreferenced(work)
    assert [(one.record.table, one.reason, one.rows) for one in work.counts()] == [
        ("llm_call", "test", 1), ("message", "unreferenced", 2), ("definition", "unreferenced", 2),
    ]  # fmt: skip
    work.delete()
    assert held(empty, Definition, "body") == [f"text {n}" for n in (2, 4, 5, 6, 7, 8, 9)]
    assert held(empty, MessageRow, "hex(hash)") == sorted(
        one.hash.hex().upper() for one in words[1:3]
    )
    assert {check.count for check in violations(work)} == {0}
    work.clear()
    assert unfinished(empty) == []


def test_a_row_that_came_after_the_decision_stays(empty: Store) -> None:
    """Of the same turn, and another version of a row that goes; both are for the next pass."""
    insert(empty, call("c1", turn_id="t1"))
    work = Work(empty)
    work.mark(LlmCall, "turn_id = 't1'")
    insert(empty, call("c2", turn_id="t1"), call("c1", turn_id="t1", written_at=T0 + 1))
    work.delete()
    work.delete()
    assert held(empty, LlmCall, "span_id") == ["c1", "c2"]
    assert work.left(LlmCall, work.weeks()) == 0
    work.clear()


def test_every_version_of_a_row_goes(empty: Store) -> None:
    """Else an older one would be seen again."""
    for version in range(3):
        insert(empty, call("c1", written_at=T0 + version), call("c2", WEEK, written_at=T0))
    work = Work(empty)
    work.mark(LlmCall, "span_id = 'c1'")
    work.delete()
    work.clear()
    assert held(empty, LlmCall, "span_id") == ["c2"]
    assert empty.query(
        "SELECT count() FROM llm_call WHERE span_id = 'c1'", None, {"final": 0}
    ).rows == [(0,)]


def test_what_just_came_stays_with_the_messages_of_sessions_at_work(empty: Store) -> None:
    """A process sends a text once: one that nothing names yet, or no more, may be named again."""
    now = int(empty.query("SELECT toUnixTimestamp64Nano(now64(9))").rows[0][0])
    day = 86_400 * SECOND
    at_work, old = message("user", said("at work"), scope="live"), message("user", said("old"))
    insert(
        empty,
        definition(1, written_at=now - day // 2), definition(2, written_at=now - 2 * day),
        at_work, old,
        message("user", said("new"), written_at=now),
        call("c1", session_id="live", start_time=now - day // 2, input_messages=[NO_HASH]),
    )  # fmt: skip
    work = Work(empty)
    mark_unreferenced(work, days=1)
    work.delete()
    assert {check.count for check in violations(work, days=1)} == {0}
    assert {check.count for check in violations(work, days=0)} == {0, 1, 2}
    work.clear()
    assert held(empty, Definition, "body") == ["text 1"]
    assert held(empty, MessageRow, "scope") == ["live", "s1"]


def test_the_bytes_go_from_the_disk(empty: Store) -> None:
    """A deleted row is in no part any more: it does not wait there for a merge."""
    insert(empty, *(call(f"c{number}", response_text="x") for number in range(100)))
    work = Work(empty)
    work.mark(LlmCall, "cityHash64(span_id) > 0 ORDER BY span_id LIMIT 25")
    work.delete()
    work.clear()
    rows = empty.query(
        "SELECT sum(rows) FROM system.parts WHERE active AND table = 'llm_call'"
        " AND database = {d:String}", {"d": empty.database},
    ).rows  # fmt: skip
    assert int(rows[0][0]) == int(empty.query("SELECT count() FROM llm_call").rows[0][0]) == 75


def test_an_odd_name_of_a_pass_is_refused(empty: Store) -> None:
    """It stands in SQL."""
    with pytest.raises(ValueError, match="x' OR"):
        Work(empty, "x' OR 1")
