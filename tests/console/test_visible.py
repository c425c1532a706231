"""Nothing that was recorded steers a terminal, hides in it or becomes a formula, in any command."""

from __future__ import annotations

import ast
import csv
import dataclasses
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import Result

import turnspan_console
from support.assembled import FULL, assembled
from support.clickhouse_server import ClickHouseServer
from support.consortium_rows import JURY, consortium_rows
from support.kept_stores import migrated
from support.landing import insert
from support.story import CALL, TOOL, TRACE, TURN, Invoke, story
from support.terminal import on_terminal
from turnspan_clickhouse.receive.receiver_stats import ReceiverStats, write_receiver_stats
from turnspan_clickhouse.rows.tables import Annotation, MessageRow, Record
from turnspan_clickhouse.spool.segments import new_name
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION
from turnspan_console.control_characters import cell, json_text, visible
from turnspan_records.diagnostics import diagnostics

CONTROL = [chr(c) for c in (*range(0x20), *range(0x7F, 0xA0)) if c not in (9, 10)]
HIDDEN = [
    chr(c)
    for c in (
        *(0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028, 0x2029),
        *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x3164, 0xFEFF, 0xFFA0, 0xFFF9, 0xFFFB,
        *range(0xE0001, 0xE0080), 0xE0100,
    )
]  # fmt: skip
UNFIT = frozenset(CONTROL + HIDDEN)
POISON = "<\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202egnp.exe\u2066\u200b\ufeff\U000e0041\x7f\x00\b>"
"""A title, a cleared screen, a colour by C1, a line written over, turned, hidden, rubbed out."""
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_KEPT = frozenset({"status", "role", "dialect", "hash", "writer", "status_code", "parent_turn_id"})


def poisoned(record: Record) -> Record:
    """The record with the poison in every text of it, ids included."""
    values: dict[str, Any] = {}
    made: Any = record
    for field in dataclasses.fields(made):
        value = getattr(record, field.name)
        if field.name in _KEPT or (isinstance(record, Annotation) and field.name.endswith("kind")):
            continue
        if isinstance(value, str):
            values[field.name] = _text(value)
        elif isinstance(value, list) and (not value or isinstance(value[0], str)):
            if field.name not in ("input_messages", "output_messages"):
                values[field.name] = [POISON]
        elif isinstance(value, dict):
            values[field.name] = {POISON: POISON}
    return dataclasses.replace(made, **values)  # type: ignore[no-any-return]


def _text(value: str) -> str:
    if not value.startswith(("{", "[")):
        return value + POISON
    return json.dumps(_in_json(json.loads(value)), ensure_ascii=False)


def _in_json(value: Any) -> Any:
    if isinstance(value, str):
        return value if value in ("text", "tool_call", "tool_call_response") else value + POISON
    if isinstance(value, list):
        return [_in_json(one) for one in cast("list[object]", value)]
    if isinstance(value, dict):
        known = {key: _in_json(one) for key, one in cast("dict[str, object]", value).items()}
        return {**known, POISON: POISON}
    return value


@pytest.fixture(scope="module")
def poisoned_store(
    clickhouse_server: ClickHouseServer, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path]:
    """A store with the story, all of it poisoned; its spool has a refused segment and a receiver's
    figures. On a server, where each of many commands opens it at once."""
    dsn = clickhouse_server.dsn("hostile")
    with migrated(dsn) as store:
        told = [
            record if isinstance(record, MessageRow) else poisoned(record) for record in story()
        ]
        told += [poisoned(record) for record in story() if isinstance(record, MessageRow)]
        insert(store, *told, *map(poisoned, (*assembled(), *consortium_rows())))
        insert(
            store,
            *[
                poisoned(
                    Annotation(
                        project="shop",
                        subject_kind="turn",
                        subject_id=TURN,
                        kind="comment",
                        author="a",
                        comment="c",
                    )
                )
            ],
        )
    spool = Spool(tmp_path_factory.mktemp("hostile") / "spool")
    spool.rejected_folder.mkdir(parents=True)
    name = new_name("host-1", SCHEMA_VERSION, "turn_summary", b"x")
    (spool.rejected_folder / name).write_bytes(b"x")
    (spool.rejected_folder / f"{name}.error").write_text(f"refused {POISON}")
    stats = ReceiverStats(
        token="t", address=POISON, started=1.0, updated=1.0, ended=True, spans=1, again=0,
        refused=0, lost=0, traces_under_way=0, failure=POISON, answers={POISON: 1},
    )  # fmt: skip
    write_receiver_stats(spool.folder, stats)
    return str(dsn), spool.folder


@pytest.fixture
def hostile(poisoned_store: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of that store, with its spool."""
    store, spool = poisoned_store
    monkeypatch.setenv("TURNSPAN_SPOOL", str(spool))
    return store


FORMATS = ("table", "json", "jsonl", "csv")
COMMANDS: tuple[tuple[str, ...], ...] = (
    *(("diagnose", name) for name in diagnostics()),
    ("diagnose", "errors_by_type", "--format", "csv"),
    ("diagnose",), ("diagnose", "--format", "json"),
    ("errors",), ("errors", "nothing" + POISON),
    ("why", TURN[:12]), ("why", TURN[:12], "--format", "json"), ("why", "nothing" + POISON),
    *((name, "--format", one) for name in ("sessions", "turns") for one in FORMATS),
    ("turns", "--session", "thread-7" + POISON),
    ("replay",), ("replay", "thread-7"), ("replay", "thread-7", "--full"),
    ("replay", TRACE[:12], "--format", "json"),
    *(("show", one[:12], *more) for one in (TURN, CALL, TOOL, TRACE, "thread-7")
      for more in ((), ("--full",), ("--format", "json"))),
    *(("context", FULL[:12], *more) for more in ((), ("--full",), ("--format", "json"))),
    ("show", FULL[:12]), ("context", "nothing" + POISON),
    ("consortium",), ("consortium", JURY[:12]), ("consortium", JURY[:12], "--format", "json"),
    ("show", JURY[:12]), ("consortium", "nothing" + POISON),
    ("show", CALL[:12], "--request"), ("show", "nothing" + POISON), ("replay", "nothing" + POISON),
    *(("sql", f"SELECT * FROM {table}", "--format", one)
      for table in ("turn_summary", "llm_call", "tool_call", "message", "span", "definition",
                    "annotation", "turn_full", "context_assembly", "context_item")
      for one in (FORMATS if table == "llm_call" else FORMATS[:1])),
    ("sql", "SELECT toInt32(user_message) FROM turn_summary"),
    ("sql", "SELECT throwIf(1, user_message) FROM turn_summary"),
    ("sql", f"SELECT 1 AS `{POISON[:20]}`".replace("\x00", "")),
    ("sql", f"SELECT nope '{POISON}'"), ("sql", f"SELECT file('{POISON}')"),
    ("sql", f"SELECT * FROM `{POISON}`"), ("sql", "--param", POISON, "SELECT 1"),
    ("sql", "SELECT {a:Int32}", "--param", f"a={POISON}"),
    ("sql", "--write", f"SELECT nope '{POISON}'"),
    ("annotate", TURN[:12], "--comment", POISON, "--author", POISON),
    ("annotate", TURN[:12], "--outcome", POISON), ("diagnose", POISON), (POISON,), ("--" + POISON,),
    ("turns", "--since", POISON), ("status",), ("status", "--format", "json"), ("doctor",),
    ("doctor", "--format", "json"), ("ship",), ("migrate",), ("--store", POISON, "turns"),
    ("--store", f"http://{POISON}/x", "turns"), ("--store", f"chdb:///none/{POISON[:-4]}", "turns"),
)  # fmt: skip


def unfit(text: str) -> list[str]:
    return sorted({f"U+{ord(c):04X}" for c in text if c in UNFIT})


def printed(result: Result) -> str:
    """Standard output and error as the bytes say them."""
    return (result.stdout_bytes + (result.stderr_bytes or b"")).decode()


@pytest.mark.parametrize(
    "arguments", COMMANDS, ids=lambda a: " ".join(a)[:50].encode("ascii", "replace").decode()
)
def test_no_command_prints_what_is_unfit(
    invoke: Invoke, hostile: str, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    shown = printed(invoke("--store", hostile, *arguments))
    if arguments[-1] not in FORMATS[1:]:  # those are for programs, without colour
        shown = _COLOUR.sub("", shown)
    assert unfit(shown) == []


def test_the_poison_reaches_every_command(invoke: Invoke, hostile: str) -> None:
    """The test above would be no test if nothing hostile were printed."""
    marked = visible("owned\x07")
    for arguments in (
        ("sessions",), ("turns",), ("replay", "thread-7"), ("show", TURN[:12]), ("doctor",),
        ("show", CALL[:12]), ("show", TOOL[:12]), ("diagnose", "errors_by_type"), ("status",),
        ("context", FULL[:12]),
        ("sql", "SELECT * FROM llm_call", "--format", "csv"),
        ("sql", "SELECT toInt32(user_message) FROM turn_summary"),
    ):  # fmt: skip
        shown = printed(invoke("--store", hostile, *arguments))
        assert marked in shown or "<U+202E>" in shown, arguments


def test_a_terminal_gets_nothing_but_our_own_colour(hostile: str) -> None:
    for arguments in (
        ("diagnose",),
        ("replay", "thread-7"),
        ("show", CALL[:12]),
        ("turns",),
        ("sql", "SELECT * FROM llm_call"),
    ):
        shown = on_terminal("--store", hostile, *arguments, width=60)
        assert unfit(_COLOUR.sub("", shown)) == [], arguments


OF_THE_STORY = "SELECT session_id FROM llm_call WHERE session_id LIKE 'thread-7%' LIMIT 1"


def test_json_reads_back_what_was_recorded(invoke: Invoke, hostile: str) -> None:
    for form in ("json", "jsonl"):
        shown = invoke(
            "--store",
            hostile,
            "sql",
            "SELECT session_id FROM llm_call WHERE session_id LIKE 'thread-7%' LIMIT 1",
            "--format",
            form,
        )
        read = json.loads(shown.stdout)
        row = read[0] if form == "json" else read
        assert row == {"session_id": "thread-7" + POISON}


def test_raw_csv_reads_back_what_was_recorded(invoke: Invoke, hostile: str) -> None:
    sql = OF_THE_STORY
    raw = invoke("--store", hostile, "sql", sql, "--format", "csv", "--raw")
    read = csv.reader(io.StringIO(raw.stdout_bytes.decode(), newline=""))
    assert list(read) == [["session_id"], [f"thread-7{POISON}"]]


FORMULAS = {
    "=1+1": "'=1+1", "+1 (555)": "'+1 (555)", "-a": "'-a", "@SUM(A1)": "'@SUM(A1)",
    "\t=1": "'\t=1", " =1": "' =1", "\uff1d1": "'\uff1d1", "\r=1": "'\ufffd=1",
    "\x1b=1": "'\ufffd=1",
    "-1": "-1", "+2.5e-3": "+2.5e-3", "-inf": "-inf", "a=b": "a=b", "": "", "- item": "'- item",
    "\tx": "'\tx", "\n=1": "'\n=1", "1-2": "1-2", "-\u0661": "'-\u0661",
}  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula(text: str) -> None:
    assert cell(text) == FORMULAS[text]


def test_csv_is_safe_for_spreadsheets_and_numbers_stay(invoke: Invoke, filled: str) -> None:
    sql = "SELECT '=1+1' AS `=a`, -5 AS n, '-5' AS s, [-1] AS l, toDecimal32(-1.5, 2) AS d"
    shown = invoke("--store", filled, "sql", sql, "--format", "csv")
    rows = list(csv.reader(io.StringIO(shown.stdout)))
    assert rows == [["'=a", "n", "s", "l", "d"], ["'=1+1", "-5", "-5", "[-1]", "-1.50"]]
    raw = invoke("--store", filled, "sql", sql, "--format", "csv", "--raw")
    assert list(csv.reader(io.StringIO(raw.stdout))) == [
        ["=a", "n", "s", "l", "d"], ["=1+1", "-5", "-5", "[-1]", "-1.50"],
    ]  # fmt: skip


KEPT = (
    "plain", "two\nlines\tand a tab", "Gr\u00fc\u00dfe, \u4f60\u597d, \u05e9\u05dc\u05d5\u05dd",
    "\U0001f469\u200d\U0001f680", "\u0645\u06cc\u200c\u062e\u0648", "\u0915\u094d\u200d\u0937",
    "\u2764\ufe0f 1\ufe0f",
)  # fmt: skip
"""Scripts and pictures that are written with joiners keep them."""
VISIBLE = {
    **{text: text for text in KEPT}, "a\r\nb": "a\nb", "a\rb": "a\ufffdb", "\ud800": "\ufffd",
    "\u202eabc": "<U+202E>abc", "pass\u200bword": "pass<U+200B>word", "a\u200db": "a<U+200D>b",
    "a\ufe0f\ufe01\ufe02": "a\ufe0f<U+FE01><U+FE02>", "\U000e0041": "<U+E0041>",
}  # fmt: skip


@pytest.mark.parametrize("text", VISIBLE)
def test_what_is_unfit_is_marked_and_the_rest_stays(text: str) -> None:
    assert visible(text) == VISIBLE[text]
    assert json.loads(json_text(json.dumps(text, ensure_ascii=False))) == text


def test_only_one_module_writes() -> None:
    """Everything printed passes the one place that marks what is unfit."""
    root = Path(turnspan_console.__file__).parent
    found: list[str] = []
    for path in sorted(root.rglob("*.py")):
        if path.name == "output.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if name in (
                    "print",
                    "click.echo",
                    "click.secho",
                    "sys.stdout.write",
                    "sys.stderr.write",
                    "csv.writer",
                ):
                    found.append(f"{path.relative_to(root)}: {ast.unparse(node)[:60]}")
    # Before click and rich are known to be there.
    assert [one for one in found if not one.startswith("__init__.py: print")] == []


def test_a_traceback_is_marked_too(tmp_path: Path) -> None:
    script = (
        "import sys; from turnspan_console import main\n"
        "import turnspan_console.commands.sessions as s\n"
        "def broken(*a, **k): raise RuntimeError('\\x1b]0;owned\\x07')\n"
        "s.command.callback = broken; sys.argv = ['turnspan', 'sessions']; main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False, timeout=60,
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path)},
    )  # fmt: skip
    told = done.stderr.decode()
    assert "Traceback" in told and "owned" in told and unfit(told) == []
