"""The Native encoder: types round-trip, nasty values never fail, a poison row costs itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

import pytest

from support.kept_stores import migrated
from turnspan_clickhouse.rows.columns import columns_of
from turnspan_clickhouse.rows.native_encoder import encode_block, encode_rows
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.tables import (
    MONEY,
    NO_HASH,
    RECORDS,
    TIME,
    LlmCall,
    Record,
    column,
    columns,
)
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn

HASH = bytes(range(16))


@dataclass(slots=True)
class Sample(Record):
    """A column of every type that the records use."""

    table: ClassVar[str] = "sample"

    n: int = column("UInt32", 0)
    text: Any = column("String", "")
    truth: Any = column("Bool", False)
    tiny: Any = column("UInt8", 0)
    small: Any = column("UInt32", 0)
    large: Any = column("UInt64", 0)
    signed: Any = column("Nullable(Int8)", None)
    number: Any = column("Float64", 0.0)
    time: Any = column(TIME, 0)
    hash: Any = column("FixedString(16)", NO_HASH)
    maybe_int: Any = column("Nullable(UInt64)", None)
    maybe_float: Any = column("Nullable(Float64)", None)
    money: Any = column(MONEY, None)
    words: Any = column("Array(String)", factory=list)
    hashes: Any = column("Array(FixedString(16))", factory=list)
    pairs: Any = column("Map(String, String)", factory=dict)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with the sample's table and all the records' tables."""
    path: Path = tmp_path_factory.mktemp("encode")
    with migrated(Dsn(scheme="chdb", path=path)) as opened:
        names = ", ".join(f"{name} {kind}" for name, kind in columns(Sample))
        opened.command(f"CREATE TABLE sample ({names}) ENGINE = MergeTree ORDER BY n")
        yield opened


def landed(store: Store, *rows: Sample) -> list[dict[str, Any]]:
    """What the engine makes of the rows."""
    for position, row in enumerate(rows):
        row.n = position
    store.command("TRUNCATE TABLE sample")
    store.insert_native("sample", encode_block(Sample, rows), token=f"s{random.random()}")
    return store.query("SELECT * FROM sample ORDER BY n").dicts()


def check(store: Store, name: str, given: list[Any], expected: list[Any]) -> None:
    """One column's values in one block, beside defaults, and each alone in a block of its own."""
    assert [row[name] for row in landed(store, *[Sample(**{name: v}) for v in given])] == expected
    for value, wanted in zip(given, expected, strict=True):
        (row,) = landed(store, Sample(**{name: value}))
        assert row[name] == wanted


LONG = "ö" * 70_000
BEST: list[tuple[str, list[Any]]] = [
    ("text", ["", "a", "x" * 127, "x" * 128, "x" * 20_000, "Grüße", LONG, "nul\0", "😀\u2028"]),
    ("text", ["same", "same", "same"]),
    ("truth", [True, False, True]),
    ("tiny", [0, 255, 7]),
    ("small", [0, 2**32 - 1, 12]),
    ("large", [0, 2**64 - 1, 2**63]),
    ("signed", [None, -1, 0, 127, -128]),
    ("number", [0.0, -1.5, 1e300, float("inf")]),
    ("hash", [NO_HASH, HASH, HASH[::-1]]),
    ("maybe_int", [None, 0, 2**64 - 1]),
    ("maybe_int", [None, None]),
    ("maybe_float", [None, 0.5, -0.25]),
    ("money", [None, Decimal("0.000000000001"), Decimal("-12.5"), Decimal("999999.999999999999")]),
    ("words", [[], ["a", "ü", "x" * 300], [""], ["stop"]]),
    ("hashes", [[], [HASH, NO_HASH], [HASH]]),
    ("pairs", [{}, {"k": "v", "ü": "x" * 200}, {"": ""}]),
]


@pytest.mark.parametrize(
    ("name", "values"), BEST, ids=[f"{n}-{i}" for i, (n, _) in enumerate(BEST)]
)
def test_values_of_the_right_type_come_back(store: Store, name: str, values: list[Any]) -> None:
    """Exactly, whatever else is in the block."""
    check(store, name, values, values)


def test_times_come_back_to_the_nanosecond(store: Store) -> None:
    """A DateTime64(9) column takes nanoseconds since the epoch, and a datetime given by mistake."""
    moment = datetime(2026, 11, 1, 10, 11, 12, 123456, tzinfo=timezone.utc)
    nanoseconds = 1_793_527_872_123_456_789
    landed(store, Sample(time=nanoseconds), Sample(time=moment), Sample(time=0))
    result = store.query("SELECT toUnixTimestamp64Nano(time) FROM sample ORDER BY n")
    assert [row[0] for row in result.rows] == [nanoseconds, nanoseconds - 789, 0]


class Shown:
    """An object of the application's own."""

    def __str__(self) -> str:
        return "shown"


class Hostile:
    """An object that cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no")


INF = float("inf")
WORST: list[tuple[str, list[Any], list[Any]]] = [
    (
        "text",
        ["lone \ud800.", "pair \ud83d\ude00", None, 7, b"b\xff", Shown(), ["l"], "good"],
        ["lone \ufffd.", "pair 😀", "", "7", "b\ufffd", "shown", "['l']", "good"],
    ),
    ("truth", [2, 300, None, "yes", "", -1], [True, True, False, True, False, True]),
    ("tiny", [-1, 256, None, "12", "twelve", 3.9], [0, 255, 0, 12, 0, 3]),
    ("small", [2**40, -5, float("inf"), float("nan"), 1], [2**32 - 1, 0, 2**32 - 1, 0, 1]),
    ("large", [2**64, -1, 10**30, Decimal(5)], [2**64 - 1, 0, 2**64 - 1, 5]),
    ("signed", [1000, -1000, "x"], [127, -128, 0]),
    ("number", [None, "1.5", "x", 10**400, -(10**400), 3], [0.0, 1.5, 0.0, INF, -INF, 3.0]),
    (
        "hash",
        [None, "", b"short", HASH.hex(), HASH + b"more", 5, bytearray(HASH)],
        [
            NO_HASH,
            NO_HASH,
            b"short".ljust(16, b"\0"),
            HASH,
            HASH,
            b"5".ljust(16, b"\0"),
            HASH,
        ],
    ),
    ("maybe_int", [-1, 2**70, "7", None], [0, 2**64 - 1, 7, None]),
    (
        "money",
        [Decimal("NaN"), Decimal("1e30"), 0.25, "abc", Decimal("-Infinity"), 3],
        [None, Decimal("999999.999999999999"), Decimal("0.25"), None, None, Decimal(3)],
    ),
    (
        "words",
        [None, ("a", 1), "one", ["\udcff", None]],
        [[], ["a", "1"], ["one"], ["\ufffd", ""]],
    ),
    (
        "hashes",
        [None, (HASH,), [b"x", HASH], HASH, [HASH.hex()]],
        [[], [HASH], [b"x".ljust(16, b"\0"), HASH], [HASH], [HASH]],
    ),
    (
        "pairs",
        [None, {"a": 1, 2: None}, {"\ud800": "\udfff"}, "odd"],
        [{}, {"a": "1", "2": ""}, {"\ufffd": "\ufffd"}, {"": "odd"}],
    ),
]


@pytest.mark.parametrize(("name", "given", "expected"), WORST, ids=[name for name, _, _ in WORST])
def test_other_values_are_made_to_fit(
    store: Store, name: str, given: list[Any], expected: list[Any]
) -> None:
    """Clamped, replaced, defaulted or shown as text; the values beside them are untouched."""
    check(store, name, given, expected)


def test_nan_is_a_float_like_any_other(store: Store) -> None:
    """It neither fails nor turns into something else."""
    landed(store, Sample(number=float("nan")), Sample(number=1.0))
    assert store.query("SELECT isNaN(number) FROM sample ORDER BY n").rows == [(1,), (0,)]


@pytest.mark.parametrize(
    "texts", [{}, {"a": "b"}, {"": "", "é": "x" * 127}, {"k" * 128: "日" * 6_000, "b": "\0"}]
)
def test_encoded_pairs_are_read_again(texts: dict[str, str]) -> None:
    """Of texts of any length; one is added at the end or put in the place of its key."""
    pairs = EncodedMap.of(texts)
    assert (pairs.count, pairs.texts()) == (len(texts), texts)
    for key in ("new", *texts):
        more = pairs.plus(key, "y" * 300)
        assert list(more.texts().items()) == list({**texts, key: "y" * 300}.items())
        assert pairs.texts() == texts


def test_pairs_and_dictionaries_land_alike(store: Store) -> None:
    """A column may hold both."""
    landed(store, Sample(n=1, pairs={"a": "é"}), Sample(n=2, pairs=EncodedMap.of({"a": "é"})))
    assert store.query("SELECT pairs FROM sample ORDER BY n").rows == [({"a": "é"},)] * 2


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.table)
def test_each_column_is_read_at_its_place(record: type[Record]) -> None:
    """The values come in the order of the class's columns, none left out."""
    names = [name for name, _ in columns(record)]
    row = record()
    for name in names:
        setattr(row, name, name)
    read = [list(values) for values in columns_of(record, [row, row])]
    assert read == [[name, name] for name in names]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.table)
def test_any_mixture_of_nasty_values_lands(store: Store, record: type[Record]) -> None:
    """200 rows of values of any type in any column: the engine takes them all, as valid UTF-8."""
    dice = random.Random(record.table)
    nasty: list[Any] = [None, "", "x", "\ud800", "é" * 200, 0, -1, 2**70, 1.5, float("nan")]
    nasty += [float("inf"), Decimal("NaN"), b"\xff", [], ["a"], {"k": 1}, (), True, Shown(), HASH]
    names = [name for name, _ in columns(record)]
    rows: list[Record] = []
    for _ in range(200):
        row = record()
        for name in names:
            if dice.random() < 0.5:
                setattr(row, name, dice.choice(nasty))
        rows.append(row)
    times = [name for name, kind in columns(record) if kind == TIME]
    for row in rows:  # within what a partition key and a reader of dates can take
        for name in times:
            setattr(row, name, dice.choice([0, 1_793_527_872_123_456_789]))
    before = store.query(f"SELECT count() FROM {record.table}", settings={"final": 0}).rows[0][0]
    store.insert_native(record.table, encode_block(record, rows), token=f"nasty-{record.table}")
    after = store.query(f"SELECT count() FROM {record.table}", settings={"final": 0}).rows[0][0]
    assert 0 < after - before <= len(rows)
    strings = [name for name, kind in columns(record) if kind == "String"]
    valid = " AND ".join(f"isValidUTF8({name})" for name in strings)
    assert store.query(f"SELECT count() FROM {record.table} WHERE NOT ({valid})").rows == [(0,)]


def test_a_poison_row_costs_only_itself(store: Store) -> None:
    """The others land; the poison comes back with its reason."""
    rows = [Sample(n=position, text=str(position)) for position in range(500)]
    rows[100].text = Hostile()
    rows[499].pairs = {"k": Hostile()}
    block, rejected = encode_rows(Sample, rows)
    assert [row for row, _ in rejected] == [rows[100], rows[499]]
    assert [str(error) for _, error in rejected] == ["no", "no"]
    store.command("TRUNCATE TABLE sample")
    store.insert_native("sample", block, token="poison")
    assert store.query("SELECT count(), uniqExact(text) FROM sample").rows == [(498, 498)]


def test_a_row_of_another_class_is_rejected() -> None:
    """It costs only itself, too."""
    block, rejected = encode_rows(LlmCall, [LlmCall(), Sample()])
    assert block == encode_block(LlmCall, [LlmCall()])
    assert [type(row) for row, _ in rejected] == [Sample]


def test_no_rows_are_no_bytes() -> None:
    """An empty batch, or one of poison only, gives nothing to write."""
    assert encode_block(LlmCall, []) == b""
    block, rejected = encode_rows(Sample, [Sample(text=Hostile())])
    assert (block, len(rejected)) == (b"", 1)
