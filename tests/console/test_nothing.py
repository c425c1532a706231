"""A reading command that finds nothing names the store and the likeliest reason."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from support.clickhouse_server import ClickHouseServer
from support.kept_stores import copy_schema, migrated
from support.landing import insert
from support.representatives import few
from support.rows import T0, call, turn
from support.small_disk import small_disk
from support.story import Invoke, fill
from turnspan.content.model import as_list
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import Annotation, LlmCall, Record, SpanRow, TurnSummary
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.dsn import Dsn, data_folder
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION

FILTERED = (("sessions",), ("turns",), ("diagnose",), ("diagnose", "loops"))
COMMANDS = (*FILTERED, ("replay",))
READERS = (*COMMANDS, ("show", "abcdef12"), ("replay", "abcdef12"))


def store_of(folder: Path, *rows: Record) -> Dsn:
    """An embedded store with these rows."""
    dsn = Dsn(scheme="chdb", path=folder / "some")
    with migrated(dsn) as store:
        insert(store, *rows)
    return dsn


def said(invoke: Invoke, *arguments: str) -> str:
    """What a command says on standard error: one line that names the store."""
    shown = invoke(*arguments)
    assert shown.exit_code in (0, 1), shown.output
    (line,) = shown.stderr.splitlines()
    store = arguments[1] if arguments[0] == "--store" else "chdb://"
    assert line.startswith("turnspan: ") and f" in {store}" in line
    return line


def missing(invoke: Invoke, dsn: Dsn, *command: str) -> str:
    """What a command says of a store that is not there, and does not make."""
    shown = invoke("--store", str(dsn), *command)
    assert shown.exit_code == 3 and shown.stdout == ""
    (line,) = shown.stderr.splitlines()
    assert line.startswith(f"turnspan: There is no store {dsn}: ")
    assert dsn.path is not None and not dsn.path.exists()
    return line


@pytest.mark.usefixtures("kept_engine")
@pytest.mark.parametrize("command", few(READERS, [("turns",), ("replay",)]), ids=" ".join)
def test_an_empty_store_says_how_to_fill_it(invoke: Invoke, command: tuple[str, ...]) -> None:
    """Nobody has recorded anything yet: there is no store, or nothing in it."""
    path = data_folder() / "store"
    told = "a program records when it calls turnspan.configure()"
    assert told in missing(invoke, Dsn(scheme="chdb", path=path), *command)
    copy_schema(path)
    assert f"it is empty; {told}" in said(invoke, *command)


LISTS = (
    *(("sessions",), ("turns",), ("turns", "--filter", "agent:nobody"), ("consortium",)),
    *(("lineage",), ("replay",), ("diagnose", "loops"), ("sql", "--saved")),
)
OTHERS = (
    *(("errors",), ("errors", "no_such_tool"), ("find", "no such text"), ("diagnose",)),
    *(("show", "abcdef12"), ("why", "abcdef12"), ("replay", "abcdef12"), ("context", "abcdef12")),
    *(("lineage", "nobody"), ("consortium", "abcdef12"), ("diff", "abcdef12", "abcdef13")),
    *(("compare", "abcdef12", "abcdef13"), ("annotate", "abcdef12", "--outcome", "used")),
    *(("forget", "--session", "nobody"), ("withdraw", "abcdef12", "score")),
)


@pytest.fixture(scope="module")
def empty(clickhouse_server: ClickHouseServer) -> str:
    """The address of a store without a row: on a server, where a command opens it at once."""
    dsn = clickhouse_server.dsn("nothing")
    with migrated(dsn):
        return str(dsn)


@pytest.mark.parametrize("command", [*LISTS, *OTHERS], ids=" ".join)
def test_nothing_found_is_one_exit_code(
    invoke: Invoke, empty: str, command: tuple[str, ...]
) -> None:
    """The same for every command, and a list of nothing is an empty list for a program."""
    assert invoke("--store", empty, *command).exit_code == 1
    if command in LISTS:
        shown = invoke("--store", empty, *command, "--format", "json")
        assert (shown.exit_code, json.loads(shown.stdout)) == (1, [])


def test_a_statement_without_rows_was_run(invoke: Invoke, empty: str) -> None:
    """Which is all that `sql` says of it."""
    shown = invoke("--store", empty, "sql", "SELECT 1 WHERE 0", "--format", "json")
    assert (shown.exit_code, json.loads(shown.stdout)) == (0, [])


@pytest.mark.parametrize(
    "command",
    [
        *(("sessions",), ("turns",), ("errors",), ("errors", "stock"), ("find", "order")),
        *(
            ("diagnose",),
            ("diagnose", "slow_calls"),
            ("replay",),
            ("why", "thread-7"),
            ("show", "thread-7"),
        ),
    ],
    ids=" ".join,
)
def test_ids_are_called_as_the_tables_call_them(
    invoke: Invoke, filled: str, command: tuple[str, ...]
) -> None:
    """In JSON and csv, whichever command prints them."""
    shown = invoke("--store", filled, *command, "--format", "json")
    named = {key for key, value in pairs(json.loads(shown.stdout)) if isinstance(value, str)}
    assert not named & {"session", "turn", "span", "trace"}
    if command in (("sessions",), ("turns",)):
        assert "session_id" in named
        head = invoke("--store", filled, *command, "--format", "csv").stdout.splitlines()[0]
        assert "session_id" in head.split(",")
        shown = invoke("--store", filled, "sql", "SELECT 'x' AS session", "--format", "json")
        assert json.loads(shown.stdout) == [{"session": "x"}]


def pairs(value: Any) -> Iterator[tuple[str, object]]:
    """All that a value of JSON calls by a name."""
    if isinstance(value, dict):
        named = cast("dict[str, Any]", value)
        yield from named.items()
        value = list(named.values())
    for one in as_list(value) or ():
        yield from pairs(one)


@pytest.mark.parametrize("command", few(COMMANDS, list(COMMANDS)[::4]), ids=" ".join)
def test_records_in_another_store_are_pointed_at(
    invoke: Invoke, command: tuple[str, ...], tmp_path: Path
) -> None:
    """They wait in the default store, and TURNSPAN_STORE names another one."""
    usual = Dsn(scheme="chdb", path=data_folder() / "store")
    writer = SpoolWriter(Spool(usual.spool))
    writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, [call("a" * 16)]))
    writer.close()

    other = Dsn(scheme="chdb", path=tmp_path / "other")

    assert f": there are records in {usual} (--store" in missing(invoke, other, *command)


@pytest.mark.usefixtures("kept_engine")
@pytest.mark.parametrize(
    ("table", "reason"),
    [("no_such_table", "1 record waits in the spool "), ("tool_call", "it refused 1 record: ")],
)
def test_records_that_cannot_land_are_counted(invoke: Invoke, table: str, reason: str) -> None:
    """They wait in the spool, or the store refused them."""
    path = data_folder() / "store"
    copy_schema(path)
    dsn = Dsn(scheme="chdb", path=path)
    writer = SpoolWriter(Spool(dsn.spool))
    writer.write(table, SCHEMA_VERSION, encode_block(LlmCall, [call("a" * 16)]))
    writer.close()

    shown = invoke("sessions")

    line = shown.stderr.splitlines()[-1]
    assert str(dsn) in line and reason in line and "`turnspan doctor` shows why" in line


def test_a_disabled_sdk_is_named(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """OTEL_SDK_DISABLED here is likely to be there too."""
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    dsn = Dsn(scheme="chdb", path=data_folder() / "store")
    assert "OTEL_SDK_DISABLED is true" in missing(invoke, dsn, "sessions")


@pytest.mark.parametrize("command", FILTERED, ids=" ".join)
@pytest.mark.parametrize(
    ("filters", "reason"),
    [
        (("--project", "x"), "nothing is recorded of project 'x', but of "),
        (("--since", "1s"), "nothing is recorded of that time; the newest began 20"),
        (("--until", "2001-01-01"), "nothing is recorded of that time; the newest began 20"),
    ],
)
def test_a_filter_that_lets_nothing_through_is_named(
    invoke: Invoke, filled: str, command: tuple[str, ...], filters: tuple[str, str], reason: str
) -> None:
    """The store has records, but not of that project or time."""
    assert reason in re.sub(r"\s+", " ", said(invoke, "--store", filled, *command, *filters))


def test_a_session_that_is_not_there_is_named(invoke: Invoke, filled: str) -> None:
    """And how to list those that are."""
    line = said(invoke, "--store", filled, "turns", "--session", "nobody")
    assert line.endswith("there is no session 'nobody' (`turnspan sessions` lists them).")


@pytest.mark.usefixtures("kept_engine")
def test_no_reason_is_made_up_for_what_is_simply_not_there(invoke: Invoke, tmp_path: Path) -> None:
    """A diagnostic without findings is good news, and says so."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "some")
    fill(dsn)
    shown = invoke("--store", str(dsn), "diagnose", "loops")
    assert "nothing found" in shown.stdout and shown.stderr == ""


@pytest.mark.usefixtures("kept_engine")
@pytest.mark.parametrize(
    ("rows", "command", "reason"),
    [
        ([call("a" * 16, session_id="")], "turns", "1 model call is recorded, but in no turn"),
        ([call("a" * 16)], "sessions", "1 model call is recorded, but in no turn"),
        ([turn("a" * 16, session_id="")], "sessions", "1 turn is recorded, but in no session"),
        (
            [SpanRow(project="p", span_id="a" * 16, start_time=T0, written_at=T0)],
            "sessions",
            "1 span is recorded, but no model call",
        ),
        (
            [Annotation(project="p", subject_id="a" * 16, written_at=T0)],
            "diagnose",
            "1 judgment is recorded, but nothing that was judged",
        ),
    ],
)
def test_records_that_are_no_sessions_are_told(
    invoke: Invoke, rows: list[Record], command: str, reason: str, tmp_path: Path
) -> None:
    """Something was recorded, but not what the command lists."""
    assert reason in said(invoke, "--store", str(store_of(tmp_path, *rows)), command)


@pytest.mark.release
@pytest.mark.parametrize(
    "rows",
    [
        pytest.param((), id="nothing"),
        pytest.param(
            (SpanRow(project="p", span_id="1", start_time=T0),),
            id="spans",
        ),
        pytest.param((call("1"),), id="calls"),
    ],
)
def test_on_a_full_disk_nobody_is_told_to_record(
    invoke: Invoke, tmp_path: Path, rows: tuple[Record, ...]
) -> None:
    """What was recorded could not land, or be written: neither a decorator nor an instrumentation
    is what is missing, whatever of it is there."""
    with small_disk(tmp_path / "disk", 64 * 2**20) as disk:
        dsn = store_of(disk.folder, *rows)
        disk.fill()
        for command in (*COMMANDS, ("find", "x")):
            shown = invoke("--store", str(dsn), *command)
            assert not re.search("decorate|configure|instrument", shown.output), command
            if command in (("sessions",), ("turns",)):
                assert "is full" in shown.stderr


@pytest.mark.usefixtures("kept_engine")
def test_what_waits_is_said_before_any_advice(invoke: Invoke, tmp_path: Path) -> None:
    """Model calls landed; their turn is in a segment that the store does not take now."""
    dsn = store_of(tmp_path, call("a"))
    writer = SpoolWriter(Spool(dsn.spool))
    writer.write("no_such_table", SCHEMA_VERSION, encode_block(TurnSummary, [turn("t")]))
    shown = invoke("--store", str(dsn), "turns")
    assert "1 record waits" in shown.stderr and "decorate" not in shown.output
    writer.close()
