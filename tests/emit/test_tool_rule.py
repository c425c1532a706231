"""The application's own rule for tools that failed without raising."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import turnspan
from emit.conftest import Spans
from support.kept_stores import copy_schema
from turnspan import config, semconv
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import errors
from turnspan.turn.tool_failure import tool_failed


@pytest.fixture
def rule(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts a rule in force, as ``configure`` and the environment give it."""

    def use(given: Any = None, pattern: str = "") -> None:
        settings = config.resolve({"tool_failed": given}, {"TURNSPAN_TOOL_FAILED": pattern})
        monkeypatch.setattr(config, "_active", settings)
        monkeypatch.setattr(config, "look_up", None)  # also where a test before has made recorders

    return use


FAILED: list[Any] = [
    "Error: no such page",
    {"text": "Error: no such page"},
    [{"type": "text", "text": "Error: no such page"}],
    ["fine", "Error: no such page"],
    {"status": "failed", "more": 1},
    {"ok": False},  # as usual, where the pattern is not found
]
FINE: list[Any] = ["No Error: at all", {"ok": True}, [], None, 5, {"text": "fine"}, ["fine"], b"x"]


@pytest.mark.parametrize("result", FAILED + FINE)
def test_a_pattern_is_looked_for_in_texts_and_json(rule: Any, result: Any) -> None:
    """At the text's beginning, that of its parts, and in what JSON makes of the rest."""
    assert tool_failed(result) == (result in FAILED[-1:])
    rule(pattern=r'^Error: |"status": "failed"')
    assert tool_failed(result) == (result in FAILED)


def test_a_function_says_yes_no_or_nothing(rule: Any) -> None:
    """``None`` leaves it to the flags."""
    known = {"bad": True, "good": False}

    def said(result: Any) -> bool | None:
        return known.get(result["it"])

    rule(said)
    asked = [("bad", ""), ("good", "e"), ("other", "e"), ("other", "")]
    told = [tool_failed({"it": it, "error": error}) for it, error in asked]
    assert told == [True, False, True, False]


@pytest.mark.tests_internal_errors
def test_one_that_raises_is_counted_and_the_flags_decide(rule: Any) -> None:
    def broken(_: Any) -> bool:
        raise LookupError("no")

    rule(broken)
    assert [tool_failed({"ok": False}), tool_failed({"ok": True})] == [True, False]
    assert errors.counts() == {"tool_failed": 2}
    errors.reset()


def test_it_holds_for_spans_and_turns_and_records_nothing_itself(spans: Spans, rule: Any) -> None:
    """A rule may call what is recorded: it is no part of the turn."""

    @turnspan.tool
    def look(page: str) -> str:
        return f"missing: {page}"

    def missing(result: Any) -> bool:
        return bool(look("inner")) and str(result).startswith("missing")

    rule(missing)

    @turnspan.agent
    def answer(question: str) -> None:
        with turnspan.inference(model="m") as call:
            call.response(text="", tool_calls=[{"id": "1", "name": "look", "arguments": {}}])
        look(question)

    answer("x")
    assert len(spans.all()) == 3
    tool = dict(spans.one("execute_tool look").attributes or {})
    assert tool[semconv.TOOL_FAILED] is True
    turn = dict(spans.one("invoke_agent answer").attributes or {})
    assert (turn[semconv.TURN_STOP_REASON], turn[semconv.TURN_TOOL_ERRORS]) == ("tool_failure", 1)


def test_what_is_no_rule() -> None:
    with pytest.raises(ConfigError, match=r"tool_failed must be a function \(result\)"):
        turnspan.configure(tool_failed="^Error")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_the_variable_reaches_the_rows(tmp_path: Path) -> None:
    """A process that only has the variable; one that is no expression is said and left out."""
    program = """
import turnspan
from turnspan_clickhouse.store.opening import open_store
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.ship.shipper import ship
turnspan.configure()
with turnspan.agent("a"):
    for text in ("Error: a", "fine"):
        with turnspan.tool("t") as tool:
            tool.result = text
turnspan.shutdown()
ship(parse())
with open_store(parse()) as store:
    print(store.query("SELECT result, failed FROM tool_call ORDER BY result").rows)
"""
    for pattern, told in (("^Error", True), ("(", False)):
        copy_schema(tmp_path / str(told))
        store = f"chdb://{tmp_path}/{told}"
        environment = {"TURNSPAN_STORE": store, "TURNSPAN_TOOL_FAILED": pattern}
        ran = subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, **environment},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert ran.stdout.strip() == str([("Error: a", told), ("fine", False)])
        assert ("write a regular expression" in ran.stderr) != told
