"""Claude Code over OTLP, in the form that its monitoring guide documents."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import ANY

import pytest

from receive.otlp import Made, Said, logs, request
from receive.serving import PROTOBUF, Served, serving
from receive.test_order import ask
from support.representatives import few
from turnspan import config
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]

SCOPE = "com.anthropic.claude_code.tracing"
STANDARD = {"session.id": "s-1", "user.id": "u-1", "terminal.type": "xterm"}


def span(name: str, parent: str, start: float, end: float, **attributes: Any) -> Made:
    """A span of Claude Code; ``name`` may have a number behind it."""
    said = {key.replace("__", "."): value for key, value in attributes.items()}
    kind = name.removeprefix("claude_code.").partition(" ")[0]
    return Made(
        name,
        parent,
        start,
        end,
        service="claude-code",
        scope=SCOPE,
        attributes={**STANDARD, "span.type": kind, **said},
    )


TOOL_ID = "toolu_01"
TRACE = (
    span("claude_code.interaction", "", 0, 9, user_prompt="Which files?", interaction__sequence=1),
    span(
        "claude_code.llm_request 1",
        "claude_code.interaction",
        1,
        2,
        model="claude-opus-4-6",
        gen_ai__system="anthropic",
        gen_ai__request__model="claude-opus-4-6",
        input_tokens=2,
        output_tokens=30,
        cache_read_tokens=800,
        cache_creation_tokens=70,
        ttft_ms=450,
        attempt=2,
        success=True,
        stop_reason="tool_use",
        gen_ai__response__finish_reasons=["tool_use"],
        request_id="req_1",
        effort="high",
    ),
    span(
        "claude_code.tool",
        "claude_code.interaction",
        3,
        6,
        tool_name="Bash",
        tool_use_id=TOOL_ID,
        full_command="ls /missing",
    ),
    span(
        "claude_code.tool.blocked_on_user",
        "claude_code.tool",
        3,
        4,
        decision="accept",
        source="user_temporary",
    ),
    span(
        "claude_code.tool.execution",
        "claude_code.tool",
        4,
        5.9,
        tool_use_id=TOOL_ID,
        success=False,
        error="exit 2",
        error_class="shell_error",
    ),
    span(
        "claude_code.llm_request 2",
        "claude_code.interaction",
        7,
        8,
        model="claude-opus-4-6",
        input_tokens=3,
        output_tokens=5,
        cache_read_tokens=870,
        cache_creation_tokens=0,
        success=True,
        stop_reason="end_turn",
        request_id="req_2",
    ),
)
CALLS = (
    "SELECT session_id, provider, request_model, response_id, input_tokens, output_tokens,"
    " cache_read_tokens AS hit, cache_write_tokens AS written, tries, time_to_first_chunk AS ttfc,"
    " finish_reasons, cost_usd > 0 AS priced FROM llm_call ORDER BY start_time"
)
TOOLS = "SELECT name, call_id, arguments, result, failed, error_type, session_id FROM tool_call"
DECISIONS = (
    "SELECT call_id, attributes['turnspan.coding.decision'] AS decision,"
    " attributes['turnspan.coding.decision.source'] AS source, error_type FROM tool_call"
)
TURNS = (
    "SELECT session_id, user_id, agent_name, user_message, llm_call_count AS calls,"
    " tool_call_count AS tools, tool_error_count AS errors, input_tokens, round(duration) AS took,"
    " cost_usd > 0 AS priced FROM turn_summary"
)


def send(served: Served, spans: tuple[Made, ...]) -> None:
    """Send spans under the names they have without their numbers."""
    made = request("claude", spans)
    for of_resource in made.resource_spans:
        of_resource.scope_spans[0].spans[0].name = (
            of_resource.scope_spans[0].spans[0].name.partition(" ")[0]
        )
    assert served.post(made.SerializeToString(), PROTOBUF).status == 200


@pytest.mark.parametrize(
    "order", few(["at once", "one by one", "the turn first"], ["at once", "the turn first"])
)
def test_spans_are_calls_tools_and_a_turn(embedded_dsn: Dsn, order: str) -> None:
    """With tokens and price, whichever comes first; a tool is one row of its two spans."""
    with serving(embedded_dsn) as served:
        ended = sorted(TRACE, key=lambda one: one.end)
        if order == "at once":
            send(served, TRACE)
        for one in ended if order == "one by one" else (ended[-1:] + ended[:-1]):
            send(served, (one,))
    first, second = ask(embedded_dsn, CALLS)
    (tool,) = ask(embedded_dsn, TOOLS)
    (turn,) = ask(embedded_dsn, TURNS)

    assert first == {
        "session_id": "s-1",
        "provider": "anthropic",
        "request_model": "claude-opus-4-6",
        "response_id": "req_1",
        "input_tokens": 872,
        "output_tokens": 30,
        "hit": 800,
        "written": 70,
        "tries": 2,
        "ttfc": pytest.approx(0.45),
        "finish_reasons": ["tool_use"],
        "priced": True,
    }
    assert (second["input_tokens"], second["tries"], second["priced"]) == (873, 1, True)
    assert tool == {
        "name": "Bash",
        "call_id": TOOL_ID,
        "arguments": '{"command":"ls /missing"}',
        "result": "",
        "failed": True,
        "error_type": "shell_error",
        "session_id": "s-1",
    }
    assert turn == {
        "session_id": "s-1",
        "user_id": "u-1",
        "agent_name": "claude-code",
        "user_message": "Which files?",
        "calls": 2,
        "tools": 1,
        "errors": 1,
        "input_tokens": 872 + 873,
        "took": 9,
        "priced": True,
    }


def test_a_subagent_is_part_of_the_turn_that_started_it(embedded_dsn: Dsn) -> None:
    """Its calls are inside the tool that runs it; they count for the turn."""
    agent_tool = span(
        "claude_code.tool", "claude_code.interaction", 2, 8, tool_name="Agent", tool_use_id="t-9"
    )
    inner = replace(TRACE[5], parent="claude_code.tool", start=3, end=4)
    with serving(embedded_dsn) as served:
        send(served, (TRACE[0], TRACE[1], inner, agent_tool))
    (turn,) = ask(embedded_dsn, TURNS)

    assert (turn["calls"], turn["tools"], turn["input_tokens"]) == (2, 1, 872 + 873)


SECRET = "the launch code is 4711"
TOLD = (
    span("claude_code.interaction", "", 0, 9, user_prompt=SECRET),
    span(
        "claude_code.llm_request 1",
        "claude_code.interaction",
        1,
        2,
        model="claude-opus-4-6",
        success=False,
        error=SECRET,
        status_code=529,
        new_context=SECRET,
        response__model_output=SECRET,
        user_system_prompt=SECRET,
        system_prompt_preview=SECRET,
    ),
    replace(
        span(
            "claude_code.tool",
            "claude_code.interaction",
            3,
            6,
            tool_name="Read",
            tool_use_id="t-1",
            file_path=SECRET,
            tool_input=SECRET,
            full_command=SECRET,
        ),
        events=(("tool.output", {"content": SECRET}),),
    ),
)


@pytest.mark.parametrize("captured", [True, False])
def test_content_lands_only_where_it_is_captured(embedded_dsn: Dsn, captured: bool) -> None:
    """What was asked, answered, run and found is content, and so is an error's text."""
    before = config.active()
    config.activate(config.resolve({"capture_content": captured}, {}))
    try:
        with serving(embedded_dsn) as served:
            send(served, TOLD)
    finally:
        config.activate(before)
    (call,) = ask(embedded_dsn, "SELECT error_type, error_message, response_text FROM llm_call")
    (tool,) = ask(embedded_dsn, TOOLS)
    (turn,) = ask(embedded_dsn, TURNS)
    (landed,) = ask(embedded_dsn, "SELECT toString(groupArray(tuple(*))) AS rows FROM span")

    assert (call["error_type"], tool["failed"]) == ("529", False)
    assert (call["response_text"], tool["result"], turn["user_message"]) == (
        (SECRET, SECRET, SECRET) if captured else ("", "", "")
    )
    assert (call["error_message"] == SECRET) == captured
    if not captured:
        assert SECRET not in landed["rows"]


def event(name: str, at: float, **attributes: Any) -> Said:
    """A log event of Claude Code: its name is the body, numbers are text as some are."""
    said = {key.replace("__", "."): value for key, value in attributes.items()}
    whole = {**STANDARD, "event.name": name, "prompt.id": "p-1", **said}
    return Said("", "", whole, body=f"claude_code.{name}", at=at)


REQUEST: dict[str, Any] = {
    "query_source": "repl_main_thread",
    "model": "claude-opus-4-6",
    "input_tokens": 2,
    "output_tokens": "30",
    "cache_read_tokens": 800,
    "cache_creation_tokens": 70,
    "cost_usd": 0.01,
}
TITLE = {"model": "claude-haiku-4-5", "query_source": "generate_session_title"}
LOG = (
    event("user_prompt", 0, prompt="Which files?", prompt_length="12"),
    event("api_request", 1, duration_ms=500, request_id="req_0", **TITLE),
    event("api_request", 2, duration_ms="1000", ttft_ms=450, request_id="req_1", **REQUEST),
    event(
        "tool_decision",
        3,
        tool_name="Bash",
        tool_use_id=TOOL_ID,
        decision="accept",
        source="user_temporary",
    ),
    event(
        "tool_result",
        6,
        tool_name="Bash",
        tool_use_id=TOOL_ID,
        success="false",
        duration_ms="2000",
        error_type="shell_error",
        error="exit 2",
        tool_input='{"command":"ls /missing"}',
    ),
    event("api_error", 7, model="claude-opus-4-6", duration_ms=500, status_code=529, error="busy"),
    event("api_request", 8, duration_ms=900, request_id="req_2", **REQUEST),
    event("assistant_response", 8, request_id="req_2", response="None.", response_length="5"),
)


def send_log(served: Served, records: tuple[Said, ...]) -> None:
    """Send log records."""
    made = logs("claude", records, service="claude-code")
    assert served.post(made.SerializeToString(), PROTOBUF, "/v1/logs").status == 200


@pytest.mark.parametrize("together", [True, False])
def test_log_events_alone_are_calls_tools_and_a_turn(embedded_dsn: Dsn, together: bool) -> None:
    """Without tracing, which is a beta; sent twice they are the same records."""
    with serving(embedded_dsn) as served:
        for records in (LOG,) if together else (LOG[:5], LOG[5:], LOG):
            send_log(served, records)
    _, first, failed, last = ask(embedded_dsn, CALLS)
    (tool,) = ask(embedded_dsn, TOOLS)
    of_title, turn = ask(embedded_dsn, f"{TURNS} ORDER BY start_time")
    said = ask(embedded_dsn, "SELECT response_text, error_type FROM llm_call ORDER BY start_time")

    assert (first["input_tokens"], first["output_tokens"], first["ttfc"]) == (872, 30, 0.45)
    assert [one["session_id"] for one in (first, failed, last)] == ["s-1"] * 3
    assert (first["priced"], failed["priced"], last["priced"]) == (True, None, True)
    assert said == [
        {"response_text": "", "error_type": ""},
        {"response_text": "", "error_type": ""},
        {"response_text": "", "error_type": "529"},
        {"response_text": "None.", "error_type": ""},
    ]
    assert tool == {
        "name": "Bash",
        "call_id": TOOL_ID,
        "arguments": '{"command":"ls /missing"}',
        "result": "",
        "failed": True,
        "error_type": "shell_error",
        "session_id": "s-1",
    }
    assert (turn["session_id"], turn["user_message"]) == ("s-1", "Which files?")
    assert (turn["calls"], turn["tools"], turn["input_tokens"]) == (3, 1, 2 * 872)
    assert (of_title["calls"], of_title["user_message"]) == (1, "")


@pytest.mark.parametrize("of", ["claude_code.interaction", ""], ids=["with ids", "without ids"])
@pytest.mark.parametrize("first", ["spans", "events"])
def test_events_beside_spans_make_no_second_record(embedded_dsn: Dsn, first: str, of: str) -> None:
    """What both tell of is one record; the answer, which only an event has, is on it."""
    both = tuple(
        replace(one, of=of)
        for one in LOG
        if one.attributes["event.name"] != "api_error"
        and one.attributes.get("request_id") != "req_0"
    )
    with serving(embedded_dsn) as served:
        for signal in (first, "spans", "events"):
            if signal == "spans":
                send(served, TRACE)
            else:
                send_log(served, both)
    calls = ask(embedded_dsn, "SELECT response_id, response_text FROM llm_call ORDER BY start_time")
    tools = ask(embedded_dsn, TOOLS)

    assert calls == [
        {"response_id": "req_1", "response_text": ""},
        {"response_id": "req_2", "response_text": "None."},
    ]
    assert [(one["name"], one["call_id"], one["failed"]) for one in tools] == [
        ("Bash", TOOL_ID, True)
    ]
    assert ask(embedded_dsn, DECISIONS) == [
        {"call_id": TOOL_ID, "decision": "accept", "source": "user_temporary", "error_type": ANY}
    ]


@pytest.mark.parametrize("tracing", [False, True])
def test_a_rejected_tool_is_a_tool_that_failed(embedded_dsn: Dsn, tracing: bool) -> None:
    """Nothing tells of its end but the decision; with a span of its own it is still one record."""
    of = "claude_code.interaction" if tracing else ""
    rejects = {"decision": "reject", "source": "user_reject"}
    blocked = replace(TRACE[3], attributes={**STANDARD, **rejects})
    nameless = event("tool_decision", 3, tool_name="Read", decision="accept")
    no = {"tool_name": "Bash", "tool_use_id": TOOL_ID, **rejects}
    decision = replace(event("tool_decision", 4, **no), of=of)
    end = replace(event("tool_result", 5, tool_use_id=TOOL_ID, success="false"), of=of)
    with serving(embedded_dsn) as served:
        if tracing:
            send(served, (TRACE[1], blocked))
            send(served, (TRACE[2], TRACE[5], TRACE[0]))
        said = tuple(replace(one, of=of) for one in (LOG[0], LOG[2]))
        for records in ((nameless, *said, decision), (decision, end)):
            send_log(served, records)
    assert ask(embedded_dsn, DECISIONS) == [
        {
            "call_id": TOOL_ID,
            "decision": "reject",
            "source": "user_reject",
            "error_type": "rejected",
        }
    ]
    (turn,) = ask(embedded_dsn, TURNS)
    assert (turn["tools"], turn["errors"]) == (1, 1)


def test_odd_values_of_events_cost_nothing_but_themselves(embedded_dsn: Dsn) -> None:
    """Whatever stands where a number or a text should: the call lands, and so does the next."""
    odd: tuple[Any, ...] = ("nan", "inf", "-5", "1e300", "x", True, [1], None)
    with serving(embedded_dsn) as served:
        for number, one in enumerate(odd):
            at, id_ = 10 * number, f"odd {number}"
            names = ("duration_ms", "input_tokens", "response", "prompt", "error")
            values = dict.fromkeys(names, one) if one is not None else {}
            send_log(
                served,
                (
                    event("user_prompt", at + 1, **values),
                    event("api_request", at + 2, request_id=id_, **{**REQUEST, **values}),
                    event("assistant_response", at + 2, request_id=id_, **values),
                    event("tool_result", at + 3, **values),
                    event("api_request", at + 4, request_id=f"after {id_}", **REQUEST),
                ),
            )
    calls = ask(embedded_dsn, "SELECT response_id FROM llm_call")

    wanted = {f"{before}odd {number}" for number in range(len(odd)) for before in ("", "after ")}
    assert {one["response_id"] for one in calls} == wanted
    assert len(calls) == len(wanted)


def test_events_without_content_leave_none(embedded_dsn: Dsn) -> None:
    """Content off: prompt, answer, command and error are in no row."""
    before = config.active()
    config.activate(config.resolve({"capture_content": False}, {}))
    try:
        with serving(embedded_dsn) as served:
            send_log(served, LOG)
    finally:
        config.activate(before)
    landed = ""
    for table in ("span", "llm_call", "tool_call", "turn_summary", "message"):
        (rows,) = ask(embedded_dsn, f"SELECT toString(groupArray(tuple(*))) AS rows FROM {table}")
        landed += rows["rows"]

    assert "req_1" in landed
    for said in ("Which files?", "None.", "ls /missing", "exit 2"):
        assert said not in landed
