"""What was forgotten does not land: late segments are sifted, in the spool and on their way."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path
from typing import Any

import pytest

from land.spooling import spooled
from support.landing import insert
from support.rows import PROJECT, T0, call, message, said, tool, turn
from turnspan_clickhouse.rows.keeping_tables import Tombstone
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.native_rows import NativeBlock
from turnspan_clickhouse.rows.owner_columns import BELONGING, key_of, key_sql
from turnspan_clickhouse.rows.tables import (
    RECORDS,
    Annotation,
    Definition,
    LlmCall,
    Record,
    SpanRow,
    columns,
)
from turnspan_clickhouse.rows.tombstone_filter import Named, Tombstones, sift
from turnspan_clickhouse.ship import forgotten
from turnspan_clickhouse.ship.forgotten import mark, read_tombstones, write_tombstones
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.ship.spool_filter import sift_spool
from turnspan_clickhouse.spool.insert_groups import Group
from turnspan_clickhouse.spool.segments import reason_of
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store

pytestmark = pytest.mark.both_kinds(False)

NOW = T0 + 10**18


def tombstones(*names: tuple[str, str], until: int = NOW) -> Tombstones:
    """Tombstones in the project of hand-made records."""
    made = Tombstones()
    for kind, id_ in names:
        made.add((kind, PROJECT, id_), until)
    return made


def forget(store: Store, *names: Named, until: int = NOW) -> None:
    """Write tombstones as ``turnspan forget`` does."""
    write_tombstones(store, dict.fromkeys(names, until), lambda row: row)
    mark(Spool(store.dsn.spool).folder)


def of(store: Store, table: str, column: str) -> list[Any]:
    """A column's values."""
    found = store.query(f"SELECT DISTINCT toString({column}) AS one FROM {table} ORDER BY one")
    return [row[0] for row in found.rows]


def test_every_table_says_whose_its_rows_are() -> None:
    """By columns that it has; or why nothing less than a project has them."""
    assert set(BELONGING) == {record.table for record in RECORDS}
    for record in RECORDS:
        known, names = BELONGING[record.table], dict(columns(record))
        assert names[known.time].startswith("DateTime64")
        used = {key.column for key in known.keys} | {*known.definitions, *known.messages}
        assert used <= set(names)
        placed = set(names) & {"session_id", "turn_id", "user_id", "scope", "attempt_id"}
        hashes = {name for name, kind in names.items() if "FixedString" in kind}
        assert not known.project_only or not placed, record.table
        assert {*known.definitions, *known.messages} == hashes - {"hash", "key"}, record.table
        assert known.keys or known.project_only or record is Definition


def test_a_key_is_the_same_in_sql(store: Store) -> None:
    """So that the store can tell what an application left out, and the other way round."""
    sql = key_sql("{kind:String}", "{id:String}").replace("project", "{project:String}")
    for named in (("user", "shop", "ada@example.org"), ("session", "", "ü\n'"), ("turn", "a", "")):
        kind, project, id_ = named
        given = {"kind": kind, "project": project, "id": id_}
        assert store.query(f"SELECT hex({sql})", given).rows[0][0] == key_of(*named).hex().upper()


@pytest.mark.parametrize("record", RECORDS)
def test_any_block_can_be_taken_apart(record: type[Record]) -> None:
    """What is left is what an encoder makes of the rows that are left."""
    dice = random.Random(record.table)
    values: dict[str, Any] = {
        "String": lambda: dice.choice(["", "x" * 300, "ü", "a"]),
        "FixedString(16)": lambda: dice.randbytes(16),
        "DateTime64(9, 'UTC')": lambda: dice.randrange(2**60),
        "Float64": dice.random,
        "Bool": lambda: dice.random() < 0.5,
        "Array(String)": lambda: ["a", "", "b" * 200][: dice.randrange(4)],
        "Array(FixedString(16))": lambda: [dice.randbytes(16)] * dice.randrange(3),
        "Array(Float64)": lambda: [0.5] * dice.randrange(3),
        "Map(String, String)": lambda: {"user.id": "ada", "b": ""} if dice.random() < 0.5 else {},
        "Nullable(Float64)": lambda: dice.choice([None, 0.5]),
        "Nullable(UInt64)": lambda: dice.choice([None, 7]),
        "Nullable(Decimal(18, 12))": lambda: dice.choice([None, 1]),
    }
    plain = {name: kind for name, kind in columns(record) if kind in values}
    rows = [record(**{name: values[kind]() for name, kind in plain.items()}) for _ in range(9)]

    block = NativeBlock(encode_block(record, rows))

    assert block.without(set()) == encode_block(record, rows)
    assert block.without({0, 4, 8}) == encode_block(
        record, [row for number, row in enumerate(rows) if number not in (0, 4, 8)]
    )
    assert block.without(set(range(9))) == b""


def test_rows_are_left_out_by_session_turn_trace_user_and_subject() -> None:
    """Those of others stay, also in the same trace; and so does what began after."""
    rows: list[Record] = [
        call("a", session_id="gone"),
        call("b", session_id="here"),
        call("c", session_id="here", turn_id="gone"),
        call("d", session_id="", turn_id="", trace_id="gone"),
        call("e", session_id="", turn_id="gone-trace", trace_id="gone-trace"),
        call("f", session_id="", turn_id="another", trace_id="gone"),
        call("g", session_id="later", attributes={"user.id": "gone"}),
        call("h", session_id="gone", start_time=NOW + 1),
        call("i", session_id="gone", project="another"),
    ]
    known = tombstones(
        *(("session", "gone"), ("turn", "gone"), ("trace", "gone"), ("trace", "gone-trace")),
        ("user", "gone"),
    )
    found = sift("llm_call", encode_block(LlmCall, rows), known)
    assert NativeBlock(found.block).texts("span_id") == ["b", "f", "h", "i"]
    assert found.dropped == 5
    assert found.names["session", PROJECT, "later"] == NOW

    judged = [
        Annotation(PROJECT, kind, id_, created_at=T0, rejected_id=rejected)
        for kind, id_, rejected in (
            ("turn", "gone", ""),
            ("llm_call", "x", ""),
            ("call", "y", "x"),
            ("call", "gone", ""),
            ("attempt", "gone", ""),
        )
    ]
    known = tombstones(("turn", "gone"), ("span", "x"))
    left = sift("annotation", encode_block(Annotation, judged), known)
    kept = NativeBlock(left.block)
    assert list(zip(kept.texts("subject_kind"), kept.texts("subject_id"), strict=True)) == [
        ("call", "gone"),
        ("attempt", "gone"),
    ]


def test_a_late_segment_lands_without_what_was_forgotten(store: Store) -> None:
    """Rows of others in the same segment land; one of which nothing is left is done with."""
    forget(store, ("session", PROJECT, "gone"))
    spool = Spool(store.dsn.spool)
    writer = spooled(
        spool,
        *(turn("t1", session_id="gone"), turn("t2", session_id="here")),
        *(call("c1", session_id="gone"), call("c2", session_id="here")),
        message("user", said("my secret"), scope="gone"),
        SpanRow(project=PROJECT, trace_id="9", session_id="gone", start_time=T0),
    )
    result = ship(store)
    writer.close()

    assert (result.ok, result.forgotten, result.shipped_rows) == (True, 4, 2)
    assert not spool.segments()
    assert of(store, "turn_summary", "turn_id") == ["t2"]
    assert of(store, "llm_call", "span_id") == ["c2"]
    assert of(store, "message", "scope") == of(store, "span", "trace_id") == []
    assert "message" not in spool.totals.shipped


def test_an_unseen_session_of_a_forgotten_user_is_recognised(store: Store) -> None:
    """By its turn, which names the user; its messages, which name nobody, come last."""
    forget(store, ("user", PROJECT, "ada"))
    spool = Spool(store.dsn.spool)
    writer = spooled(
        spool,
        message("user", said("my secret"), scope="new"),
        tool("x", session_id="new"),
        turn("t", session_id="new", user_id="ada", trace_id="1" * 32),
    )
    first = ship(store)
    # The next segment of that session comes later still, to another process.
    forgotten._known.clear()  # pyright: ignore[reportPrivateUsage]
    spooled(spool, call("late", session_id="new")).close()
    second = ship(store)
    writer.close()

    assert first.ok and second.ok
    assert (second.forgotten, second.shipped_rows) == (1, 0)
    assert of(store, "message", "scope") == of(store, "llm_call", "span_id") == []
    known = read_tombstones(store)
    assert known.until("turn", PROJECT, "t") == known.until("session", PROJECT, "new") == NOW


def test_a_shipper_of_this_machine_heeds_a_tombstone_at_once(store: Store) -> None:
    """It asked the store a moment ago, and found none."""
    spool = Spool(store.dsn.spool)
    spooled(spool, call("before", session_id="gone")).close()
    assert ship(store).shipped_rows == 1
    forget(store, ("session", PROJECT, "gone"))
    spooled(spool, call("after", session_id="gone")).close()
    assert ship(store).forgotten == 1
    assert of(store, "llm_call", "span_id") == ["before"]


def test_a_store_of_before_there_were_tombstones_has_none(store: Store) -> None:
    """And takes what it takes."""
    store.command("DROP TABLE tombstone")
    forgotten._known.clear()  # pyright: ignore[reportPrivateUsage]
    assert not read_tombstones(store)
    spooled(Spool(store.dsn.spool), call("c")).close()
    assert ship(store).shipped_rows == 1


def test_a_spool_is_sifted_where_it_lies(tmp_path: Path) -> None:
    """What waits, what was begun together, what was set aside; the rest is as it was."""
    spool = Spool(tmp_path / "spool")
    for number in range(3):
        spooled(spool, call(f"a{number}", session_id="gone"), call(f"b{number}")).close()
    spooled(spool, call("whole", session_id="gone")).close()
    spooled(spool, call("set-aside", session_id="gone"), call("kept")).close()
    spooled(spool, call("damaged", session_id="gone")).close()
    *waiting, mixed, damaged = spool.segments()
    damaged.path.write_bytes(damaged.path.read_bytes()[:-3])
    spool.reject(mixed, "Code: 6: cannot parse 'gone'")
    spool.reject(damaged, "The file is damaged.")
    group = Group.of(waiting[:2], spool.folder)
    group.begin()
    answers = spool.folder / "answers"
    answers.mkdir()
    lines = [json.dumps([PROJECT, [1, 2], session, 3, 4, 5]) for session in ("gone", "s1")]
    (answers / "1.answers").write_text("\n".join(lines) + "\n")

    known = tombstones(("session", "gone"))
    done = sift_spool(spool, known, [b"gone"])
    again = sift_spool(spool, known, [b"gone"])

    assert (done.rows, done.removed, done.answers) == (5, 1, 1)
    assert (again.rows, again.segments, again.removed, again.answers) == (0, 0, 0, 0)
    left = [NativeBlock(segment.path.read_bytes()).texts("span_id") for segment in spool.segments()]
    assert left == [["b0"], ["b1"], ["b2"]]
    (refused,) = spool.rejected()
    assert NativeBlock(refused.path.read_bytes()).texts("span_id") == ["kept"]
    assert b"gone" not in reason_of(refused.path).read_bytes()
    assert not refused.damage(refused.path.read_bytes())
    assert group.manifest is not None and not group.manifest.exists()
    assert not [p for p in spool.folder.rglob("*") if p.is_file() and b"gone" in p.read_bytes()]


def test_tombstones_in_great_number_are_found_quickly(store: Store) -> None:
    """Each is 24 bytes in a shipper's memory; the rows of a block cost microseconds."""
    number = 20_000
    rows = [
        Tombstone(PROJECT, "session", key_of("session", PROJECT, f"s{n}"), NOW, written_at=T0)
        for n in range(number)
    ]
    insert(store, *rows)
    known = read_tombstones(store)
    assert known.until("session", PROJECT, "s777") == NOW
    assert known.until("session", PROJECT, f"s{number}") == 0
    block = encode_block(LlmCall, [call(f"c{n}", session_id=f"s{2 * n}") for n in range(20_000)])
    began = time.process_time()
    assert sift("llm_call", block, known).dropped == number // 2
    assert time.process_time() - began < 10
