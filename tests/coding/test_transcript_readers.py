"""Recorded transcripts of Gemini CLI, OpenCode, Copilot CLI and Pi: the tools' own sums."""

from __future__ import annotations

import json
import random
import re
from decimal import Decimal
from typing import Any

import orjson
import pytest

from support.coding_transcripts import TOOLS, calls, items, of_type, read, real_files, tokens
from turnspan.content.model import as_dict, as_list
from turnspan_records.coding.transcripts.events import (
    Interruption,
    SessionStart,
    ToolEnd,
    UserMessage,
)

pytestmark = pytest.mark.large_data

NAMELESS = (SessionStart, Interruption)
UNKNOWN = {
    "openclaw/schema_drift.jsonl": "unknown: compact",
    "qwen/019f0000-0000-7000-8000-000000000005.jsonl": "unknown: no object",  # two in one line
}
"""What real files have that is unknown, each once."""


def test_every_line_of_real_files_is_accounted_for() -> None:
    """Nothing is unknown but what is; a file is its own tool's alone; ids are of one message."""
    files = real_files(*TOOLS)
    assert len(files) >= 60
    for tool, path in files:
        values = items(tool, path)
        events, seen = read(tool, values, path)
        name = "/".join(path.parts[-2:])
        unknown = [key for key in seen if "unknown" in key]
        assert unknown == [UNKNOWN[name] for _ in range(name in UNKNOWN)]
        assert seen.total() == len(values)
        if name not in UNKNOWN and path.name != "schema_drift.json" and path.suffix != ".md":
            own = [each.kind for each in TOOLS.values() if each.is_own(values[0])]
            assert tool.kind in own
            assert set(own) <= {tool.kind, "pi", "openclaw", "gemini-cli", "qwen-code"}
        if "[trimmed for fixture]" not in path.read_text():
            ids = [event.message_id for event in events if not isinstance(event, NAMELESS)]
            assert len(ids) == len(set(ids)), path
            asked = {p["id"] for c in calls(events) for p in c.parts if p["type"] == "tool_call"}
            runs = of_type(ToolEnd, events)
            assert {run.call_id for run in runs} - asked <= {"call_2", ""}, (
                path
            )  # asked by no message


def test_geminis_totals_are_the_tools_own() -> None:
    """``total`` is input and output, by message: once, whatever repeats it."""
    stated: dict[str, int] = {}
    for tool, path in real_files("gemini"):
        events, _ = read(tool, items(tool, path), path)
        own = {
            str(value["id"]): int(value["tokens"]["total"])
            for value in map(as_dict, items(tool, path))
            if value is not None and value.get("tokens")
        }
        assert tokens(events) == sum(own.values()), path
        for call in calls(events):
            cached, thought = call.usage.cache_read_tokens, call.usage.reasoning_tokens
            assert (cached or 0) <= (call.usage.input_tokens or 0)
            assert (thought or 0) <= (call.usage.output_tokens or 0)
        stated |= own
    assert len(stated) >= 20


def test_opencodes_messages_are_counted_and_not_their_steps() -> None:
    """A step says again what its message says; what was aborted has not been counted."""
    counted = aborted = 0
    for tool, path in real_files("opencode"):
        if "dark-factory" not in str(path):
            continue
        events, _ = read(tool, items(tool, path), path)
        infos = [m["info"] for m in json.loads(path.read_text())["messages"]]
        totals = [info["tokens"].get("total", 0) for info in infos if info["role"] == "assistant"]
        assert tokens(events) == sum(totals)
        for call in calls(events):
            stopped = call.error_type == "MessageAbortedError"
            assert (call.usage.output_tokens is None) is (call.cost_usd is None) is stopped
            counted, aborted = counted + (not stopped), aborted + stopped
            assert call.start and call.time >= call.start
        assert len(of_type(Interruption, events)) == sum("error" in info for info in infos)
    assert (counted, aborted) == (46, 4)


def test_copilots_output_is_by_message_and_its_input_of_the_session() -> None:
    """The sum of a session's output is the shutdown's; input is made up for no call."""
    sums: list[int] = []
    for tool, path in real_files("copilot-cli"):
        values = items(tool, path)
        events, _ = read(tool, values, path)
        used = [call.usage.output_tokens for call in calls(events)]
        assert all(call.usage.input_tokens is None for call in calls(events))
        assert 0 not in used
        ends = [value["data"] for value in values if value["type"] == "session.shutdown"]
        if not ends or "entire-checkpoints" not in str(path):
            continue
        (end,) = ends
        assert of_type(SessionStart, events)[-1].attributes["session_usage"] == end["modelMetrics"]
        (metrics,) = end["modelMetrics"].values()
        assert sum(filter(None, used)) == metrics["usage"]["outputTokens"]
        sums.append(metrics["usage"]["outputTokens"])
    assert sums == [0, 0, 45, 39]


def test_pis_sums_are_the_tools_own() -> None:
    """Tokens by kind and costs, to the cent's millionth; aborted without counts is unknown."""
    ((tool, path),) = [pair for pair in real_files("pi") if pair[1].name == "large-session.jsonl"]
    values = items(tool, path)
    events, _ = read(tool, values, path)
    said = [v["message"] for v in values if v.get("message", {}).get("role") == "assistant"]
    assert len(calls(events)) == len(said) == 453
    kinds = ("input", "output", "cacheRead", "cacheWrite")
    assert tokens(events) == sum(m["usage"][kind] for m in said for kind in kinds)
    cost = sum(Decimal(str(m["usage"]["cost"]["total"])) for m in said)
    assert sum(call.cost_usd or 0 for call in calls(events)) == round(cost, 12)
    unknown = [call for call in calls(events) if call.usage.input_tokens is None]
    assert len(unknown) == 14
    assert {call.finish_reasons for call in unknown} == {("aborted",)}
    assert len(of_type(Interruption, events)) == 21


def test_kimis_records_of_usage_are_the_sum_of_the_calls() -> None:
    """Each step's, and the compaction's; a tool's result may come before its call's end."""
    counts = dict[str, int]()
    for tool, path in real_files("kimi"):
        values = items(tool, path)
        events, _ = read(tool, values, path)
        records = [value["usage"] for value in values if value["type"] == "usage.record"]
        counts[path.name] = tokens(events)
        assert tokens(events) == sum(sum(record.values()) for record in records)
    assert sorted(counts.values()) == [0, 41_651, 697_193]


def test_aiders_costs_are_those_of_its_messages() -> None:
    """The tool's running sums are no costs; a run that was stopped has none."""
    for tool, path in real_files("aider"):
        events, _ = read(tool, items(tool, path), path)
        text = path.read_text()
        stated = re.findall(r"^> Tokens: .*Cost: \$([\d.]+) message", text, re.MULTILINE)
        costs = [call.cost_usd for call in calls(events) if call.cost_usd is not None]
        assert costs == [Decimal(cost) for cost in stated]
        runs = text.count("\n# aider chat started at ")
        assert len({start.session_id for start in of_type(SessionStart, events)}) == runs
        prompts = [event for event in of_type(UserMessage, events) if not event.injected]
        assert "####" not in "".join(str(prompt.parts) for prompt in prompts)


def test_an_answer_that_several_actions_came_of_counts_once() -> None:
    """OpenHands writes the whole answer into each action, and into what came of it."""
    for tool, path in real_files("openhands"):
        values = items(tool, path)
        events, _ = read(tool, values, path)
        answers = {
            answer["id"]: answer["usage"]["total_tokens"]
            for value in values
            if (answer := value.get("tool_call_metadata", {}).get("model_response"))
        }
        assert len(answers) >= 4
        assert tokens(events) == sum(answers.values())


# -- hostile files ------------------

ODD: list[Any] = [
    *(None, True, -1, 1e308, 2**63, 2**64 - 1, 0.5, "", "x" * 100, "9" * 60, "2026-99-99", "\x00"),
    *("\u202e\x1b[31m", "\ud7ff", [], {}, [[]], [None], {"": None}, [{"type": 1}], {"id": 5}),
    {"type": "text", "text": ["x"]},
]


def mutated(value: Any, dice: random.Random, share: float) -> Any:
    """The value with some fields gone, of a wrong type, or another's."""
    if dice.random() < share:
        return dice.choice(ODD)
    fields, entries = as_dict(value), as_list(value)
    if fields is not None:
        return {k: mutated(v, dice, share) for k, v in fields.items() if dice.random() > share}
    if entries is not None:
        return [mutated(each, dice, share) for each in entries]
    if isinstance(value, str) and dice.random() < share:
        return value[: dice.randrange(len(value) + 1)]
    return value


def plain(value: Any) -> str:
    """No reader's own object is in an event: media is found in plain ones only."""
    assert not isinstance(value, dict)
    return str(value)


def check_hostile(seed: int) -> None:
    dice = random.Random(seed)
    for tool, path in real_files(*TOOLS, "claude-code", "codex"):
        values = items(tool, path)[:120]
        for share in (0.01, 0.1):
            hostile = [mutated(value, dice, share) for value in values]
            tool.is_own(hostile[0])
            tool.values(hostile[0])
            events, seen = read(tool, hostile, path)
            assert seen.total() == len(hostile)
            odd = [key for key in seen if len(key) > 90 or not key.isprintable()]
            assert odd == [], path
            for event in events:
                values = [getattr(event, name) for name in event.__slots__]
                orjson.dumps(values, plain, orjson.OPT_PASSTHROUGH_SUBCLASS)


def test_a_wrong_type_in_any_field_is_never_an_error() -> None:
    """Each value is accounted for, and what is made of it can be written."""
    check_hostile(1)


@pytest.mark.release
@pytest.mark.parametrize("seed", range(2, 40))
def test_many_wrong_types_are_never_an_error(seed: int) -> None:
    """As above, many times."""
    check_hostile(seed)
