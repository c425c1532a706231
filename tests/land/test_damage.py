"""Damaged segments: each is found before it is shipped, set aside, and costs only itself."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from land.spooling import ask, calls
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.native_reader import MalformedBlockError
from turnspan_clickhouse.rows.native_rows import check, halves
from turnspan_clickhouse.rows.native_types import varint
from turnspan_clickhouse.rows.tables import RECORDS, LlmCall, Record, columns
from turnspan_clickhouse.ship import landing
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.insert_groups import Group
from turnspan_clickhouse.spool.segments import Segment
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access.spooled import refused

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]

GOOD = encode_block(LlmCall, calls(0, 3, response_text="The answer is 42." * 4))
HEAD = len(varint(len(columns(LlmCall))))


def flipped(content: bytes, bit: int) -> bytes:
    """One bit another."""
    at, mask = bit // 8, 1 << bit % 8
    return content[:at] + bytes([content[at] ^ mask]) + content[at + 1 :]


def counted(rows: int) -> bytes:
    """The block, with another count of rows."""
    return GOOD[:HEAD] + varint(rows) + GOOD[HEAD + 1 :]


def zeroed(size: int) -> bytes:
    """As a power cut leaves it: the length is there, so many bytes of the content are not."""
    return GOOD[: len(GOOD) - size] + bytes(size)


def segment(folder: Path, *, checksum: bool = True) -> Segment:
    """One that holds the good block; without a checksum as versions before wrote it."""
    spool = Spool(folder)
    path = SpoolWriter(spool).write("llm_call", SCHEMA_VERSION, GOOD)
    if not checksum:
        path.rename(unchecked(path))
    (found,) = spool.segments()
    return found


def unchecked(path: Path) -> Path:
    """The name of a segment before there were checksums."""
    return path.with_name(path.name.replace(f"-{zlib.crc32(path.read_bytes()):08x}.", "."))


def test_every_bit_counts(tmp_path: Path) -> None:
    """Of the whole file; the good one is good."""
    one = segment(tmp_path)
    assert one.damage(GOOD) == ""
    assert all(one.damage(flipped(GOOD, bit)) for bit in range(len(GOOD) * 8))


@pytest.mark.parametrize("checksum", [True, False], ids=["checksum", "none"])
def test_every_length_counts(tmp_path: Path, checksum: bool) -> None:
    """Cut anywhere, longer than it was, empty; also where there is no checksum."""
    one = segment(tmp_path, checksum=checksum)
    assert one.damage(GOOD) == ""
    assert all(one.damage(GOOD[:size]) for size in range(len(GOOD)))
    assert one.damage(GOOD + b"\0")
    assert "is empty" in one.damage(b"")


def test_every_tail_of_zeros_is_seen(tmp_path: Path) -> None:
    """What the kernel had not written when the power went, and it is named."""
    one = segment(tmp_path)
    changed = [size for size in range(1, len(GOOD)) if zeroed(size) != GOOD]
    assert len(changed) > len(GOOD) - 40
    assert all(one.damage(zeroed(size)) for size in changed)
    assert "power cut" in one.damage(zeroed(200))


@pytest.mark.parametrize("checksum", [True, False], ids=["checksum", "none"])
@pytest.mark.parametrize("rows", [0, 1, 2, 4, 127, 128, 2**20, 2**40, 2**63])
def test_every_wrong_count_is_seen(tmp_path: Path, rows: int, checksum: bool) -> None:
    """Also without a checksum: what is counted is not there, or something is left."""
    assert segment(tmp_path, checksum=checksum).damage(counted(rows))


def test_a_count_that_was_written_so(tmp_path: Path) -> None:
    """A checksum says that it is what the writer wrote, not that that made sense."""
    spool = Spool(tmp_path)
    writer = SpoolWriter(spool)
    for rows in (0, 2**20, 2**40):
        path = writer.write("llm_call", SCHEMA_VERSION, counted(rows))
        (one,) = [one for one in spool.segments() if one.path == path]
        assert "rows and columns" in one.damage(counted(rows))
        assert one.rows() == 0


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "a bit": lambda content: flipped(content, len(content) * 4),
    "a bit of the count": lambda content: flipped(content, HEAD * 8 + 3),
    "cut": lambda content: content[: len(content) // 2],
    "zeros": lambda content: content[:100] + bytes(len(content) - 100),
    "empty": lambda _: b"",
    "a huge count": lambda _: counted(2**40),
    "garbage": lambda content: random.Random(3).randbytes(len(content)),
}


@pytest.mark.parametrize("checksum", [True, False], ids=["checksum", "none"])
def test_a_damaged_segment_costs_only_itself(store_dsn: Dsn, checksum: bool) -> None:
    """Each kind of damage among good ones, in one pass; none waits for it, in this or the next."""
    spool = Spool(store_dsn.spool)
    writer = SpoolWriter(spool)
    names: dict[str, str] = {}
    for number, (name, damage) in enumerate(DAMAGES.items()):
        for which in range(3):
            block = encode_block(LlmCall, calls(number * 10 + which * 2, 2))
            path = writer.write("llm_call", SCHEMA_VERSION, block)
            if not checksum:
                path = path.rename(unchecked(path))
            if which == 1 and (checksum or name != "a bit"):  # in a text: nobody could know
                path.write_bytes(damage(block))
                names[path.name] = name
    good = 3 * len(DAMAGES) - len(names)
    result = ship(store_dsn)
    assert (result.rejected, result.shipped_segments) == (len(names), good)
    assert (result.errors, result.remaining, result.inserts) == ([], 0, 1)
    assert ask(store_dsn, "SELECT count(), uniqExact(span_id) FROM llm_call") == [(2 * good,) * 2]
    assert {one.name for one in refused(spool)} == names.keys()
    assert all(one.reason.startswith("The file is ") for one in refused(spool))
    assert spool.usage().rejected_rows <= 3 * len(names)  # what a damaged head says is not believed
    writer.close()


def test_a_power_cut_in_the_middle_of_an_insert(store_dsn: Dsn) -> None:
    """The list of a group is there and one of its segments is not whole: the others land, under
    their token."""
    spool = Spool(store_dsn.spool)
    writer = SpoolWriter(spool)
    for number in range(4):
        writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(number * 2, 2)))
    segments = spool.segments()
    Group.of(segments, spool.folder).begin()
    segments[2].path.write_bytes(bytes(segments[2].size))
    result = ship(store_dsn)
    assert (result.rejected, result.shipped_segments, result.errors) == (1, 3, [])
    assert ask(store_dsn, "SELECT count() FROM llm_call") == [(6,)]
    writer.close()


def test_old_segments_still_ship_and_the_engine_reads_new_ones(embedded_dsn: Dsn) -> None:
    """A spool that two versions write; and a segment is a Native file, by a name that says so."""
    spool = Spool(embedded_dsn.spool)
    writer = SpoolWriter(spool)
    for number in range(2):
        path = writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(number, 1)))
        if number:
            path.rename(unchecked(path))
    with open_store(embedded_dsn) as store:
        sql = f"SELECT count(), sum(input_tokens) FROM file('{spool.folder}/*.llm_call.native')"
        assert [tuple(row) for row in store.query(sql, settings={"final": 0}).rows] == [(2, 2)]
    assert ship(embedded_dsn).shipped_rows == 2
    writer.close()


# -- taking blocks apart ------------------


def value(kind: str, number: int) -> Any:
    """A value of a column's type, another one for each number."""
    text = f"{'ü' * (number % 7)}{number}" * (40 if number % 5 == 0 else 1)
    made: dict[str, Any] = {
        "String": text,
        "FixedString(16)": number.to_bytes(16, "big"),
        "Bool": bool(number % 2),
        "Float64": number / 3,
        "Array(String)": [text] * (number % 4),
        "Array(FixedString(16))": [number.to_bytes(16, "big")] * (number % 3),
        "Map(String, String)": {f"k{n}": text for n in range(number % 3)},
        "Nullable(Decimal(18, 12))": None if number % 2 else Decimal(number) / 7,
        "Nullable(Float64)": None if number % 2 else number / 3,
    }
    inner = kind.removeprefix("Nullable(").rstrip(")") if "Decimal" not in kind else kind
    return made.get(kind, None if inner != kind and number % 2 else number % 100)


def records(kind: type[Record], count: int) -> list[Record]:
    """Rows with something in every column."""
    made: list[Record] = []
    for number in range(count):
        fields = {name: value(column, number) for name, column in columns(kind)}
        made.append(kind(**fields))
    return made


@pytest.mark.parametrize("kind", RECORDS, ids=lambda kind: kind.table)
def test_halves_are_what_would_have_been_written(kind: type[Record]) -> None:
    """Of every table, with every type: row by row, nothing else."""
    for count in (2, 3, 50):
        rows = records(kind, count)
        block = encode_block(kind, rows)
        check(block)
        middle = count // 2
        parts = (encode_block(kind, rows[:middle]), encode_block(kind, rows[middle:]))
        assert halves(block) == parts
        for size in random.Random(count).sample(range(len(block)), 40):
            assert halves(block[:size]) is None
            with pytest.raises(MalformedBlockError):
                check(block[:size])
    assert halves(encode_block(kind, records(kind, 1))) is None


def test_a_crash_while_a_segment_is_taken_apart(store: Store) -> None:
    """Its parts have names that follow from its own: done again, they are the same inserts."""
    spool = Spool(store.dsn.spool)
    writer = SpoolWriter(spool)
    block = encode_block(LlmCall, calls(0, 4))
    whole = writer.write("llm_call", SCHEMA_VERSION, block)
    (one,) = spool.segments()
    parts = halves(block)
    assert parts is not None
    made = spool.split(one, parts)
    assert [part.rows() for part in made] == [2, 2]
    whole.write_bytes(block)  # the crash came before the whole was deleted
    assert [part.name for part in spool.split(one, parts)] == [part.name for part in made]
    assert ship(store).shipped_rows == 4
    spool.split(one, parts)
    assert ship(store).shipped_rows == 4
    sql = "SELECT count(), uniqExact(span_id) FROM llm_call"
    assert [tuple(row) for row in store.query(sql, settings={"final": 0}).rows] == [(4, 4)]
    writer.close()


def test_one_bad_row_of_a_large_segment(store: Store) -> None:
    """The engine refuses what it says; the other rows land, and only that one is set aside."""
    spool = Spool(store.dsn.spool)
    writer = SpoolWriter(spool)
    store.command("ALTER TABLE llm_call ADD CONSTRAINT small CHECK input_tokens < 1000")
    rows = calls(0, 100)
    (bad,) = calls(500, 1, input_tokens=5_000)
    rows.insert(37, bad)
    writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, rows))
    result = ship(store)
    assert (result.shipped_rows, result.rejected, result.errors) == (100, 1, [])
    assert spool.usage().rejected_rows == 1
    writer.close()


def test_no_end_of_bad_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Were it all of them, a segment is not taken apart for ever."""
    monkeypatch.setattr(landing, "_SPLITS", 3)
    spool = Spool(store.dsn.spool)
    writer = SpoolWriter(spool)
    store.command("ALTER TABLE llm_call ADD CONSTRAINT none CHECK input_tokens > 1000000")
    writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(0, 100)))
    result = ship(store)
    assert (result.shipped_rows, result.rejected, result.remaining) == (0, 4, 0)
    assert spool.usage().rejected_rows == 100
    writer.close()
