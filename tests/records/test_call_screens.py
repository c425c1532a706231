"""What a call's cost is made of, texts by their hashes, and why a turn stopped."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from support.landing import insert
from support.pricing import price
from support.rows import PROJECT, T0, answered, call, message, said, tool, turn
from turnspan import semconv
from turnspan.turn.turn import TokenUsage
from turnspan_clickhouse.pricing.price_sources import TOLD
from turnspan_clickhouse.pricing.prices import Pricer
from turnspan_clickhouse.rows.tables import Definition, Record
from turnspan_clickhouse.store.client import Store
from turnspan_records.screens.cost import cost_parts
from turnspan_records.screens.stop_evidence import stop_evidence
from turnspan_records.screens.texts import LONGEST, definition_text, text_range, texts, tool_range

COUNTS = {"input_tokens": 1_000, "cache_read_tokens": 600, "cache_write_tokens": 100,
          "output_tokens": 200, "reasoning_tokens": 50}  # fmt: skip
MODELS = (("anthropic", "claude-sonnet-4-5"), ("openai", "gpt-5"), ("google", "gemini-2.5-pro"))
HUGE = message("tool", said("é" * 300_000), said("\N{PARTY POPPER}end"))
BLOCKS = message(
    "tool",
    answered("c1", [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]),
    {**said("begins"), "truncated": True, "original_bytes": 900},
)
MANY = [message("user", said(f"{n} " + "word " * 40_000)) for n in range(8)]


PRICER = Pricer()


def priced(provider: str, model: str, **changes: Any) -> Any:
    usage = {**COUNTS, "cache_write_tokens": 100 if provider == "anthropic" else None}
    cost, version = price(PRICER, provider, model, model, TokenUsage(**usage), T0)
    assert cost is not None
    known: dict[str, Any] = {**usage, "cost_usd": cost, "price_version": version}
    known |= {"provider": provider, "response_model": model}
    return call(changes.pop("span", model), **{**known, **changes})


@pytest.fixture(scope="module")
def landed(module_store: Store) -> Store:
    """Priced calls, long messages, and a turn that stopped for each reason."""
    rows: list[Record] = [priced(*model) for model in MODELS]
    rows += [
        priced(*MODELS[0], span="dearer", cost_usd=Decimal(1)),
        priced(*MODELS[0], span="told", price_version=TOLD),
        priced(*MODELS[0], span="hour", attributes={
            semconv.USAGE_CACHE_WRITE_1H_INPUT_TOKENS: "60"}, cost_usd=Decimal("0")),
        call("heard", provider="gcp.gemini", response_model="gemini-2.5-flash", input_tokens=100,
            output_tokens=0, cost_usd=Decimal("0.070078"), price_version="v", attributes={
            "gen_ai.usage.audio.input_tokens": "70", "gen_ai.usage.text.input_tokens": "30",
            "turnspan.usage.web_searches": "2"}),
        call("unpriced"),
        Definition(project=PROJECT, hash=b"\1" * 16, kind="system_prompt", body="Be brief."),
        HUGE,
        BLOCKS,
        tool("long-tool", arguments="{}", result="é" * 300_000),
        *MANY,
        *stopped(),
    ]  # fmt: skip
    insert(module_store, *rows)
    return module_store


@pytest.mark.parametrize(("provider", "model"), MODELS)
def test_the_parts_are_the_cost(landed: Store, provider: str, model: str) -> None:
    """To the last digit, each token once."""
    found = cost_parts(landed, PROJECT, model)
    assert sum((part.cost_usd for part in found.parts), Decimal(0)) == found.cost_usd
    kinds = {part.kind: part.count for part in found.parts}
    assert kinds["uncached input"] == (300 if provider == "anthropic" else 400)
    assert kinds["cache read"] == 600 and not found.estimated
    assert kinds["output"] + kinds.get("reasoning", 0) == 200


def test_a_cost_of_other_prices_is_told_as_an_estimate(landed: Store) -> None:
    found = cost_parts(landed, PROJECT, "dearer")
    assert found.cost_usd == 1 and found.estimated and found.parts
    kinds = {part.kind: part.count for part in cost_parts(landed, PROJECT, "hour").parts}
    assert kinds["cache write, kept for an hour"] == 60 and kinds["cache write"] == 40
    kinds = {part.kind: part.count for part in cost_parts(landed, PROJECT, "heard").parts}
    assert kinds == {"uncached input": 30, "input audio": 70, "web searches": 1}
    assert "the provider stated" in cost_parts(landed, PROJECT, "told").reason
    assert "no price" in cost_parts(landed, PROJECT, "unpriced").reason
    with pytest.raises(KeyError):
        cost_parts(landed, PROJECT, "nobody")


def test_texts_fill_an_answer_and_say_what_is_left(landed: Store) -> None:
    hashes = [one.hash.hex() for one in MANY]
    got: list[str] = []
    asked = ["0" * 32, *hashes]
    missing: list[str] = []
    while asked:
        found = texts(landed, PROJECT, "s1", asked)
        assert sum(len(one.parts) for one in found.messages) < 1_300_000
        got += [one.hash for one in found.messages]
        missing += found.missing
        asked = list(found.left)
    assert got == hashes and missing == ["0" * 32]


def test_a_long_message_comes_in_ranges(landed: Store) -> None:
    (first,) = texts(landed, PROJECT, "s1", [HUGE.hash.hex()]).messages
    assert first.cut == (0,) and len(first.parts.encode()) < LONGEST + 1_000
    begins = json.loads(first.parts)
    assert begins[0]["truncated"] and begins[1]["content"] == "\N{PARTY POPPER}end"
    text = ""
    while True:
        found = text_range(landed, PROJECT, "s1", HUGE.hash.hex(), 0, len(text))
        text += found.text
        if len(text) == found.total:
            break
    assert text == "é" * 300_000
    assert text_range(landed, PROJECT, "s1", BLOCKS.hash.hex(), 0, 0).text == "one\ntwo"
    recorded_cut = text_range(landed, PROJECT, "s1", BLOCKS.hash.hex(), 1, 0)
    assert (recorded_cut.text, recorded_cut.original_bytes) == ("begins", 900)
    assert definition_text(landed, PROJECT, "01" * 16) == "Be brief."
    for part in (-1, 2):
        with pytest.raises(KeyError):
            text_range(landed, PROJECT, "s1", HUGE.hash.hex(), part, 0)


def test_what_a_tool_gave_comes_in_ranges(landed: Store) -> None:
    first = tool_range(landed, PROJECT, "long-tool", "result", 0)
    rest = tool_range(landed, PROJECT, "long-tool", "result", len(first.text))
    assert len(first.text) == LONGEST and first.total == rest.total == 300_000
    assert first.text + rest.text == "é" * 300_000
    assert tool_range(landed, PROJECT, "long-tool", "arguments", 0).text == "{}"
    with pytest.raises(KeyError):
        tool_range(landed, PROJECT, "none", "result", 0)


def stopped() -> list[Record]:
    """A turn for each reason, with what shows it."""
    reasons: dict[str, dict[str, Any]] = {
        "user_aborted": {},
        "because I say so": {},
        "loop_detected:search 3 times": {},
        "round_cap": {"rounds": 4, "max_rounds": 4},
        "tool_failure": {"tool_error_count": 2},
        "error": {"error_type": "Timeout"},
        "max_tokens": {},
        "silent_rounds": {"silent_rounds": 30},
        "empty_no_tools": {},
        "completed": {},
        "running": {"status": "running"},
    }
    rows: list[Record] = []
    for at, (reason, values) in enumerate(reasons.items()):
        here: dict[str, Any] = {"turn_id": reason, "session_id": "stopped"}
        begun = 100 * at
        rows.append(turn(reason, begun, session_id="stopped", stop_reason=reason, **values))
        for n in (1, 2, 3):
            failed = "Timeout" if n == 3 and reason == "error" else ""
            said_so: dict[str, Any] = {"response_text": "x" if n == 1 else "", "error_type": failed,
                       "finish_reasons": ["length" if n == 3 else "tool_use"]}  # fmt: skip
            rows.append(call(f"{at}c{n}", begun + 3 * n, round=n, **said_so, **here))
            gave: dict[str, Any] = {"result": "[]", "failed": n != 2, "error_type": "KeyError"}
            rows.append(
                tool(f"{at}t{n}", begun + 3 * n + 1, round=n, arguments="{}", **gave, **here)
            )
        rows.append(tool(f"{at}u", begun + 11, round=3, name="other", arguments="{}", **here))
    return rows


@pytest.mark.parametrize(
    ("reason", "number", "shown"),
    [
        ("user_aborted", 1, ["0c3"]),
        ("because I say so", 2, ["1c3"]),
        ("loop_detected:search 3 times", 4, ["2t1", "2t2", "2t3"]),
        ("round_cap", 5, ["3c3"]),
        ("tool_failure", 6, ["4t3"]),
        ("error", 7, ["5c3"]),
        ("max_tokens", 8, ["6c3"]),
        ("silent_rounds", 9, ["7c2", "7c3"]),
        ("empty_no_tools", 10, ["8c3"]),
        ("completed", 11, ["9c3"]),
        ("running", 0, ["10c3"]),
    ],
)
def test_why_a_turn_stopped(landed: Store, reason: str, number: int, shown: list[str]) -> None:
    """The rule of docs/turns.md by its place there, and the rows that show it."""
    found = stop_evidence(landed, PROJECT, reason)
    assert (found.number, [row.span_id for row in found.rows]) == (number, shown)
    if reason == "round_cap":
        assert found.facts == (("rounds", "4"), ("max_rounds", "4"))
    if reason == "tool_failure":
        assert found.rows[0].says == "search: KeyError"
    if reason == "max_tokens":
        assert found.rows[0].says == "the last reply: length"
