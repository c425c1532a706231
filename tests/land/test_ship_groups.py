"""Groups: many segments land as one insert, and still each once."""

from __future__ import annotations

import errno
import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from land.spooling import ask, calls, spooled
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.native_rows import NativeBlock
from turnspan_clickhouse.rows.native_types import encode_string, varint
from turnspan_clickhouse.rows.tables import LlmCall, SpanRow, columns
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool import insert_groups
from turnspan_clickhouse.spool.insert_groups import Group, pending, planned
from turnspan_clickhouse.spool.segments import Segment
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]

COUNT = "SELECT count(), uniqExact(span_id) FROM llm_call"


def write_calls(spool: Spool, segments: int, *, first: int = 0) -> list[Segment]:
    """Segments of two calls each."""
    writer = SpoolWriter(spool)
    for n in range(first, first + segments):
        writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(n * 2, 2)))
    return spool.segments()


def test_what_waits_of_one_table_is_one_insert(store: Store) -> None:
    """A part a table, however many processes wrote however often."""
    spool = Spool(store.dsn.spool)
    write_calls(spool, 100)
    spans = [SpanRow(project="p", trace_id="x", span_id=str(n)) for n in range(5)]
    for _ in range(50):
        spooled(spool, *spans)
    result = ship(store)
    assert (result.ok, result.inserts, result.shipped_segments) == (True, 2, 150)
    assert store.query(COUNT, settings={"final": 0}).rows == [(200, 200)]
    parts = "SELECT count() FROM system.parts WHERE active AND table = 'llm_call' AND database = "
    assert store.query(f"{parts}'{store.database}'").rows == [(1,)]
    assert list((spool.folder / "groups").iterdir()) == []


def test_segments_of_another_order_of_columns_land_in_one_insert(store: Store) -> None:
    """Those that an earlier version left, before and after ours: each cell is in its column."""
    spool = Spool(store.dsn.spool)
    writer = SpoolWriter(spool)
    rows: list[Any] = [*calls(0, 12)]
    rng = random.Random(24)
    for n in range(0, 12, 2):
        block = NativeBlock(encode_block(LlmCall, rows[n : n + 2]))
        order = [*columns(LlmCall)]
        if n != 4:
            rng.shuffle(order)
        body = b"".join(
            encode_string(name) + encode_string(kind) + block.columns[name].take([0, 1])
            for name, kind in order
        )
        writer.write("llm_call", SCHEMA_VERSION, varint(len(order)) + varint(2) + body)
    result = ship(store)
    assert (result.ok, result.inserts, result.shipped_segments) == (True, 1, 6)
    for name in ("span_id", "provider", "request_model", "input_tokens", "start_time"):
        shown = f"toUnixTimestamp64Nano({name})" if name == "start_time" else name
        found = store.query(f"SELECT {shown} FROM llm_call ORDER BY start_time, span_id").rows
        wanted = sorted(rows, key=lambda row: (row.start_time, row.span_id))
        assert [cell for (cell,) in found] == [getattr(row, name) for row in wanted], name


def test_a_group_is_repeated_as_it_was(store_dsn: Dsn, tmp_path: Path) -> None:
    """A crash after the insert and before anything is deleted, and more has come since: the same
    insert is repeated under its token and adds nothing; what came since is another."""
    spool = Spool(store_dsn.spool)
    group = Group.of(write_calls(spool, 10), spool.folder)
    group.begin()
    shutil.copytree(spool.folder, tmp_path / "crashed")
    assert ship(store_dsn).ok
    shutil.rmtree(spool.folder)
    shutil.copytree(tmp_path / "crashed", spool.folder)
    write_calls(spool, 5, first=10)
    again = ship(store_dsn)
    assert (again.ok, again.inserts, again.shipped_segments) == (True, 2, 15)
    assert ask(store_dsn, COUNT) == [(30, 30)]


def test_a_crash_between_the_deletes(store_dsn: Dsn, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a group's files are gone already: the rest is not landed twice, nor counted twice."""
    spool = Spool(store_dsn.spool)
    segments = write_calls(spool, 10)
    unlink = Path.unlink

    def disk_fails(path: Path, missing_ok: bool = False) -> None:
        if path.name == segments[5].name:
            raise OSError(errno.EIO, "Input/output error")
        unlink(path, missing_ok=missing_ok)

    with monkeypatch.context() as broken:
        broken.setattr(Path, "unlink", disk_fails)
        result = ship(store_dsn)
    assert (result.remaining, result.errors) == (5, ["[Errno 5] Input/output error"])
    write_calls(spool, 5, first=10)
    assert ship(store_dsn).inserts == 1
    assert ask(store_dsn, COUNT) == [(30, 30)]
    assert spool.usage().shipped == {"llm_call": 30}
    assert list((spool.folder / "groups").iterdir()) == []


def test_a_segment_tried_alone_never_joins_a_group(store_dsn: Dsn, tmp_path: Path) -> None:
    """Its insert may have taken place under its own name."""
    spool = Spool(store_dsn.spool)
    (segment,) = write_calls(spool, 1)
    Group.of([segment], spool.folder).begin()
    shutil.copy2(segment.path, tmp_path)
    assert ship(store_dsn).ok
    shutil.copy2(tmp_path / segment.name, spool.folder)
    assert [one.alone for one in spool.segments()] == [True]
    write_calls(spool, 5, first=1)
    assert ship(store_dsn).inserts == 2
    assert ask(store_dsn, COUNT) == [(12, 12)]


def test_one_bad_segment_among_many_is_found(store: Store) -> None:
    """The group is refused whole; its halves are tried until the bad one stands alone. The cut
    block shows that a segment cannot eat the beginning of the next."""
    spool = Spool(store.dsn.spool)
    write_calls(spool, 30)
    writer = SpoolWriter(spool)
    writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(900, 3))[:-20])
    write_calls(spool, 30, first=30)
    result = ship(store)
    assert (result.rejected, result.remaining, result.errors) == (1, 0, [])
    assert result.shipped_segments == 60
    assert result.inserts < 15
    assert store.query(COUNT, settings={"final": 0}).rows == [(120, 120)]
    assert store.query("SELECT countIf(project != 'p') FROM llm_call").rows == [(0,)]
    assert len(spool.rejected()) == 1
    assert pending(spool.folder, spool.segments()) == []


def test_groups_are_of_one_table_one_schema_and_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By bytes and by number; what is large goes alone."""
    spool = Spool(tmp_path)
    writer = SpoolWriter(spool)
    for n in range(30):
        writer.write("llm_call" if n % 2 else "span", 7 + n // 20, b"x" * 100)
    writer.write("span", 7, b"x" * 1_000)
    monkeypatch.setattr(insert_groups, "GROUP_BYTES", 500)
    made = list(planned(spool.segments(), tmp_path))
    assert sorted(s.name for g in made for s in g.segments) == [s.name for s in spool.segments()]
    for group in made:
        assert len({(s.table, s.schema_version) for s in group.segments}) == 1
        assert len(group.segments) == 1 or sum(s.size for s in group.segments) <= 500
    assert len(made) == 1 + 2 * 2 + 2
    monkeypatch.setattr(insert_groups, "GROUP_SEGMENTS", 3)
    assert max(len(g.segments) for g in planned(spool.segments(), tmp_path)) == 3


def test_a_manifest_damaged_by_a_power_cut_is_no_obstacle(store_dsn: Dsn) -> None:
    """It names nothing that waits; everything lands as a new group."""
    spool = Spool(store_dsn.spool)
    group = Group.of(write_calls(spool, 3), spool.folder)
    group.begin()
    assert group.manifest is not None
    group.manifest.write_bytes(b"\xff\x00" * 20)
    assert ship(store_dsn).ok
    assert ask(store_dsn, COUNT) == [(6, 6)]


def test_a_retry_after_the_server_has_forgotten_its_token(store: Store, tmp_path: Path) -> None:
    """More inserts came in between than the table remembers: the rows are there twice, and readers
    see each once."""
    spool = Spool(store.dsn.spool)
    window = "ALTER TABLE llm_call MODIFY SETTING non_replicated_deduplication_window = 2"
    store.command(window)
    Group.of(write_calls(spool, 3), spool.folder).begin()
    shutil.copytree(spool.folder, tmp_path / "crashed")
    assert ship(store).ok
    for number in range(3):
        write_calls(spool, 1, first=10 + number)
        assert ship(store).ok
    shutil.copytree(tmp_path / "crashed", spool.folder, dirs_exist_ok=True)
    assert ship(store).ok
    assert store.query(COUNT, settings={"final": 0}).rows == [(18, 12)]
    assert store.query(COUNT).rows == [(12, 12)]
