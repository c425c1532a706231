"""``turnspan context``: the panel, as text, as JSON and on a terminal."""

from __future__ import annotations

import json
import re
from typing import Final

import pytest
from rich.cells import cell_len

from support.assembled import BARE, BYPASS, CALL, FULL, OTHER, TEXT, TURN, assembled
from support.kept_stores import migrated
from support.landing import insert
from support.representatives import few
from support.rows import call, message, said
from support.story import Invoke
from support.terminal import on_terminal
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = pytest.mark.usefixtures("kept_engine")

SENT: Final = "7a" * 8
COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The DSN of a store with them; tests only read it."""
    dsn = Dsn(scheme="chdb", path=tmp_path_factory.mktemp("contexts") / "store")
    with migrated(dsn) as opened:
        asked = message("user", said("What now?"))
        sent = call(SENT, input_messages=[asked.hash], input_tokens=1234)
        insert(opened, *assembled(), asked, sent)
    return str(dsn)


def test_the_panel_says_what_went_in_what_did_not_and_why(invoke: Invoke, store: str) -> None:
    """Budget by section, steps, kept and dropped, the text; a pipe gets it whole."""
    shown = invoke("--store", store, "context", FULL)
    assert shown.exit_code == 0
    lines = [re.sub(r"\s+", " ", line).strip() for line in shown.stdout.splitlines()]
    assert lines[0] == f"Context {FULL} edit_page"
    assert "session thread-y" in lines[1] and "250 ms" in lines[1]
    assert lines[2:4] == ["about Cabo Norte", f"used by 1 model call: {CALL[:8]}"]
    assert "130 tokens used of 100: 30 too many" in lines
    instructions = next(line for line in lines if line.startswith("instructions 90"))
    assert "1 kept" in instructions and "69.2%" in instructions
    assert any("1 kept, 1 dropped (70 tokens)" in line for line in lines)
    assert "plan 200 ms KeyError" in lines
    assert "kept: 2" in lines and "dropped: 1" in lines
    assert "Cabo Norte encyclopedia 40 0.876 0 wiki" in lines
    assert "Tides encyclopedia budget 70" in lines
    assert "line 40" in lines


@pytest.mark.parametrize("id_", [FULL[:8], CALL, CALL[:9]])
def test_an_assembly_is_found_by_its_own_id_and_its_calls(
    invoke: Invoke, store: str, id_: str
) -> None:
    """Also by the beginning."""
    shown = json.loads(invoke("--store", store, "context", id_, "--format", "json").stdout)
    assert [one["id"] for one in shown] == [FULL]


@pytest.mark.parametrize("id_", [TURN, "thread-y"])
def test_a_turn_and_a_session_show_all_of_theirs(invoke: Invoke, store: str, id_: str) -> None:
    """The oldest first."""
    shown = json.loads(invoke("--store", store, "context", id_, "--format", "json").stdout)
    assert [(one["id"], one["bypassed"]) for one in shown] == [(FULL, False), (BYPASS, True)]
    assert shown[0]["items"][1]["text"] == "Lit in 1887."
    assert shown[0]["text"] == TEXT
    sections = [(one["name"], one["tokens"], one["dropped"]) for one in shown[0]["sections"]]
    assert sections == [("instructions", 90, 0), ("encyclopedia", 40, 1)]
    assert "bypassed: plain" in invoke("--store", store, "context", id_).stdout


@pytest.mark.parametrize("id_", [OTHER, BARE, "thread-z"])
def test_what_used_none_is_said_to(invoke: Invoke, store: str, id_: str) -> None:
    """With the way to record one; it is a finding, not a failure."""
    shown = invoke("--store", store, "context", id_)
    assert shown.exit_code == 1
    assert "No context assembly is recorded of" in shown.stderr


def test_of_a_call_without_one_the_parts_of_its_prompt_are_shown(
    invoke: Invoke, store: str
) -> None:
    """As estimates; together they are what the provider counted."""
    shown = invoke("--store", store, "context", SENT).stdout
    assert "This call has no recorded context assembly" in shown
    assert [line.split()[:2] for line in shown.splitlines()[1:]] == [
        ["new", "~1,234"],
        ["in", "all"],
    ]
    made = json.loads(invoke("--store", store, "context", SENT, "--format", "json").stdout)
    assert (made["input_tokens"], made["parts"][0]["tokens"]) == (1234, 1234)


def test_show_knows_it_too(invoke: Invoke, store: str) -> None:
    """As any other record."""
    shown = invoke("--store", store, "show", FULL)
    assert f"Context {FULL}" in shown.stdout and "Tides" in shown.stdout
    assert json.loads(invoke("--store", store, "show", FULL, "--format", "json").stdout)["items"]


@pytest.mark.parametrize("width", few([60, 100], [60]))
def test_a_terminal_gets_lines_that_fit_and_long_texts_cut(store: str, width: int) -> None:
    """With the way to see all of it."""
    shown = on_terminal("--store", store, "context", FULL, width=width)
    plain = COLOUR.sub("", shown)
    assert max(cell_len(line) for line in plain.splitlines()) <= width
    assert "more lines (--full)" in plain and "line 40" not in plain
    assert "line 40" in on_terminal("--store", store, "context", FULL, "--full", width=width)
