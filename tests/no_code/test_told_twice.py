"""One model call, one tool execution: one row, whoever tells of it, in whatever trace."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from random import Random
from typing import Any

import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import (
    INVALID_SPAN,
    Span,
    SpanKind,
    Status,
    StatusCode,
    set_span_in_context,
    use_span,
)

import turnspan
from no_code.conftest import Stage
from no_code.talks import call_of
from support.representatives import few
from turnspan.pipeline.processor import RecordProcessor
from turnspan_clickhouse.normalise import foreign

SAID = "It is sunny in Rome."


@contextmanager
def beside(stage: Stage, scope: str, name: str, **attributes: Any) -> Generator[Span]:
    """A span of another package that a callback begins and ends, in a trace of its own."""
    span = stage.provider.get_tracer(scope).start_span(name, kind=SpanKind.CLIENT)
    yield span
    span.set_attributes(attributes)
    span.end()


def call_attributes(**more: Any) -> dict[str, Any]:
    """What a framework's callback says of a model call."""
    output = [{"role": "assistant", "parts": [{"type": "text", "content": SAID}]}]
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "openai/gpt-4o",
        "gen_ai.output.messages": json.dumps(output),
        **more,
    }


USER = [{"role": "user", "content": "The weather in Rome?"}]


@pytest.fixture
def long_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, what waits for a better source goes on waiting."""
    monkeypatch.setattr(foreign, "WAITS_NS", 10**12)


@pytest.mark.parametrize("known_by", ["response id", "answer", "tokens"])
def test_a_call_beside_a_frameworks_span(stage: Stage, known_by: str) -> None:
    """By the response id, else by what was answered, else by the tokens."""
    attributes = call_attributes()
    if known_by == "response id":
        attributes["gen_ai.response.id"] = "r1"
    if known_by != "answer":
        del attributes["gen_ai.output.messages"]
    if known_by == "tokens":
        attributes |= {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5}
    with beside(stage, "framework", "ChatModel", **attributes):
        stage.model.chat(USER, {"role": "assistant", "content": SAID}, "r1")
    (call,) = stage.rows.calls
    (turn,) = stage.rows.turns
    assert (call.scope_name, call.response_text) == ("turnspan.openai", SAID)
    assert (turn.llm_call_count, turn.input_tokens, turn.rounds) == (1, 10, 1)


def test_two_equal_calls_at_once_are_two(stage: Stage) -> None:
    """Each of the framework's spans stands for one of ours."""
    attributes = call_attributes()
    with (
        beside(stage, "framework", "a", **attributes),
        beside(stage, "framework", "b", **attributes),
    ):
        for name in ("r1", "r2"):
            stage.model.chat(USER, {"role": "assistant", "content": SAID}, name)
    assert [call.response_id for call in stage.rows.calls] == ["r1", "r2"]


def test_a_call_that_failed_is_told_twice(stage: Stage) -> None:
    """Neither knows an answer."""
    import openai

    with (
        beside(stage, "framework", "ChatModel", **call_attributes()) as span,
        pytest.raises(openai.APIStatusError),
    ):
        try:
            stage.model.chat(USER, 500)
        finally:
            span.set_status(Status(StatusCode.ERROR, "no"))
            span.set_attribute("error.type", "500")
    assert len(stage.rows.calls) == 1


def test_another_call_at_the_same_time_is_another(stage: Stage) -> None:
    """Another answer, or long after."""
    other = json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": "Rain."}]}])
    attributes = call_attributes(**{"gen_ai.output.messages": other})
    with beside(stage, "framework", "ChatModel", **attributes):
        stage.model.chat(USER, {"role": "assistant", "content": SAID}, "r1")
    time.sleep(0.3)
    with beside(stage, "framework", "later", **call_attributes()):
        pass
    assert len(stage.rows.calls) == 3


@pytest.mark.parametrize("call_id", ["t1", ""])
def test_a_tool_of_an_mcp_client_is_the_models(stage: Stage, call_id: str) -> None:
    """Its span is in a trace of its own, and knows the id or only name and arguments."""
    asked = {"role": "assistant", "content": None, "tool_calls": [call_of("t1", "look", at="Rome")]}
    stage.model.chat(USER, asked, "r1")
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.arguments": '{"at": "Rome"}',
    }
    if call_id:
        attributes["gen_ai.tool.call.id"] = call_id
    with beside(stage, "mcp", "tools/call look", **attributes):
        pass
    result = {"role": "tool", "tool_call_id": "t1", "content": "25 degrees"}
    stage.model.chat([*USER, asked, result], {"role": "assistant", "content": SAID}, "r2")

    (tool,) = stage.rows.tools
    (turn,) = stage.rows.turns
    assert (tool.call_id, tool.turn_id, tool.session_id) == ("t1", turn.turn_id, turn.session_id)
    assert tool.result == "25 degrees", "the span did not say it: the next request's messages do"
    assert (turn.tool_call_count, turn.rounds, turn.stop_reason) == (1, 2, "completed")


def test_a_failure_that_only_one_of_them_knows(stage: Stage) -> None:
    """A callback's span tells of the exception; the model was only given a text."""
    asked = {"role": "assistant", "content": None, "tool_calls": [call_of("t1", "look", at="Rome")]}
    stage.model.chat(USER, asked, "r1")
    span = stage.provider.get_tracer("framework").start_span("look")
    result = {"role": "tool", "tool_call_id": "t1", "content": "It did not work."}
    stage.model.chat([*USER, asked, result], {"role": "assistant", "content": "Sorry."}, "r2")
    span.set_attributes(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.tool.call.id": "t1",
            "error.type": "ValueError",
        }
    )
    span.set_status(Status(StatusCode.ERROR, "no"))
    span.end()
    (tool,) = stage.rows.tools
    (turn,) = stage.rows.turns
    assert (tool.failed, turn.tool_error_count, turn.stop_reason) == (True, 1, "tool_failure")


@pytest.mark.parametrize("failed", [False, True], ids=["worked", "failed"])
@pytest.mark.parametrize("when", ["before its result", "after it", "after the turn"])
def test_a_tool_of_a_decorated_turn_that_a_thread_tells_of(
    stage: Stage, when: str, failed: bool
) -> None:
    """LangSmith's exporter does so when it finds the time, in a trace of its own."""
    asked = {"role": "assistant", "content": None, "tool_calls": [call_of("t1", "look", at="Rome")]}
    result = {"role": "tool", "tool_call_id": "t1", "content": "It is as it is."}
    told = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.id": "t1",
        **({"error.type": "KeyError"} if failed else {}),
    }
    with turnspan.agent("desk") as turn:
        told["turnspan.turn.id"] = turn.id
        span = stage.provider.get_tracer("thread").start_span("look", Context(), attributes=told)
        stage.model.chat(USER, asked, "r1")
        if when == "before its result":
            span.end()
        stage.model.chat([*USER, asked, result], {"role": "assistant", "content": SAID}, "r2")
        if when == "after it":
            span.end()
    if when == "after the turn":
        span.end()
    (tool,) = stage.rows.tools
    (row,) = stage.rows.turns
    assert (tool.turn_id, tool.round, tool.failed) == (turn.id, 1, failed)
    assert tool.result == "It is as it is."
    assert (row.tool_call_count, row.tool_error_count, row.rounds) == (1, int(failed), 2)
    assert row.stop_reason == ("tool_failure" if failed else "completed")


def _told(stage: Stage, scope: str, **attributes: Any) -> None:
    """A package tells of something, all at once."""
    stage.provider.get_tracer(scope).start_span(scope, attributes=attributes).end()


@pytest.mark.parametrize("scope", ["openinference.instrumentation.google_adk", "gcp.vertex.agent"])
def test_a_tool_that_says_that_it_has_no_id(stage: Stage, scope: str) -> None:
    """Google's agent development kit writes so of one that raised."""
    asked = {"role": "assistant", "content": None, "tool_calls": [call_of("t1", "look")]}
    stage.model.chat(USER, asked, "r1")
    told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    kind = {"openinference.span.kind": "TOOL", "tool.name": "look"}
    _told(stage, scope, **told, **kind, **{"gen_ai.tool.call.id": "<not specified>"})
    (tool,) = stage.rows.tools
    (turn,) = stage.rows.turns
    assert (tool.call_id, tool.turn_id) == ("t1", turn.turn_id)


@pytest.mark.parametrize("text", ["I look.", None])
def test_a_framework_that_makes_ids_of_its_own(stage: Stage, text: str | None) -> None:
    """Its span and ours are of one call, which asks for the same of the same tool."""
    asked = {
        "role": "assistant",
        "content": text,
        "tool_calls": [call_of("ours", "look", at="Rome")],
    }
    theirs = {**asked, "tool_calls": [call_of("theirs", "look", at="Rome")]}
    span = Package(stage, "framework").begin(None, **{"gen_ai.output.messages": written([theirs])})
    stage.model.chat(USER, asked, "r1")
    span.end()
    (call,) = stage.rows.calls
    assert (call.scope_name, call.response_id) == ("turnspan.openai", "r1")


def test_the_roles_of_smolagents(stage: Stage) -> None:
    """OpenInference writes them as they are before the provider is sent its own."""
    scope = "openinference.instrumentation.smolagents"
    task = [("user", "New task:\nWhere?")]
    seen = [("assistant", "Look."), ("tool-response", "Error:\nno city")]
    for history, answer in ((task, "Look."), ([*task, *seen], "Nowhere.")):
        told: dict[str, Any] = {"openinference.span.kind": "LLM", "llm.model_name": "m"}
        for place, (role, text) in enumerate(history):
            told[f"llm.input_messages.{place}.message.role"] = role
            told[f"llm.input_messages.{place}.message.content"] = text
        out = "llm.output_messages.0.message"
        told |= {f"{out}.role": "assistant", f"{out}.content": answer}
        if answer == "Look.":
            told |= {f"{out}.tool_calls.0.tool_call.function.name": "look"}
        _told(stage, scope, **told)
        if answer == "Look.":
            kind = {"openinference.span.kind": "TOOL", "tool.name": "look"}
            _told(stage, scope, **kind, **{"error.type": "KeyError"})
    (tool,) = stage.rows.tools
    (turn,) = stage.rows.turns
    assert (tool.failed, tool.result, turn.rounds) == (True, "Error:\nno city", 2)


@pytest.mark.parametrize("failed", [False, True], ids=["worked", "failed"])
def test_a_tool_that_began_before_its_call_had_ended(stage: Stage, failed: bool) -> None:
    """A stream ends when the framework has left it. Until the result comes nobody knows whose the
    tool is, which is told of in a trace of its own and without an id."""
    asked = {"role": "assistant", "content": None, "tool_calls": [call_of("t1", "look", at="Rome")]}
    told = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.arguments": '{"at": "Rome"}',
        **({"error.type": "KeyError"} if failed else {}),
    }
    span = stage.provider.get_tracer("framework").start_span("look", Context(), attributes=told)
    stage.model.chat(USER, asked, "r1")
    span.end()
    result = {"role": "tool", "tool_call_id": "t1", "content": "It is as it is."}
    stage.model.chat([*USER, asked, result], {"role": "assistant", "content": SAID}, "r2")
    (tool,) = stage.rows.tools
    (turn,) = stage.rows.turns
    assert (tool.turn_id, tool.call_id, tool.round) == (turn.turn_id, "t1", 1)
    assert (tool.result, tool.failed) == ("It is as it is.", failed)
    assert (turn.tool_call_count, turn.tool_error_count) == (1, int(failed))
    assert turn.stop_reason == ("tool_failure" if failed else "completed")


def test_a_thread_that_carries_the_turn_of_another_user(stage: Stage) -> None:
    """It tells of every tool: by the call's id it is the one whose own span was there before."""
    with turnspan.agent("desk") as first:
        pass
    asked = {"role": "assistant", "content": None, "tool_calls": [call_of("t1", "look", at="Rome")]}
    told: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.id": "t1",
    }
    with turnspan.agent("desk") as turn:
        stage.model.chat(USER, asked, "r1")
        own = {**told, "turnspan.turn.id": turn.id}
        stage.provider.get_tracer("app").start_span("look", Context(), attributes=own).end()
    late = {**told, "turnspan.turn.id": first.id}
    stage.provider.get_tracer("thread").start_span("look", Context(), attributes=late).end()
    (tool,) = stage.rows.tools
    assert tool.turn_id == turn.id


def test_a_tool_of_a_decorated_turn_stays_there(stage: Stage) -> None:
    """Somebody else's call, that nobody decorated, has its id: there are models that count."""
    asked = {"role": "assistant", "content": None, "tool_calls": [call_of("call_1", "look")]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "mine"}
    told = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.id": "call_1",
    }
    with turnspan.agent("desk") as turn:
        told["turnspan.turn.id"] = turn.id
        stage.provider.get_tracer("thread").start_span("look", Context(), attributes=told).end()
    stage.model.chat(USER, asked, "r1")
    stage.model.chat([*USER, asked, result], {"role": "assistant", "content": SAID}, "r2")
    (tool,) = (row for row in stage.rows.tools if row.turn_id == turn.id)
    (decorated,) = (row for row in stage.rows.turns if row.turn_id == turn.id)
    assert (tool.scope_name, tool.result, decorated.tool_call_count) == ("thread", "", 1)


def test_a_tool_that_is_told_late_is_in_its_round(stage: Stage) -> None:
    """It waited with its package's call; the turn has gone on since."""
    look = {"role": "assistant", "content": "I look."}
    told = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    with stage.provider.get_tracer("app").start_as_current_span("step"):
        stage.model.chat(USER, look, "r1")
        tool = stage.provider.get_tracer("framework").start_span("look", attributes=told)
        stage.model.chat([*USER, look], {"role": "assistant", "content": SAID}, "r2")
        tool.end()
    (row,) = stage.rows.tools
    (turn,) = stage.rows.turns
    assert (row.round, turn.rounds, turn.tool_call_count) == (1, 2, 1)


def test_a_span_beside_ours_that_is_over_before_ours_begins(stage: Stage) -> None:
    """A framework's, of a stream: the client was made in between."""
    told = call_attributes()
    with stage.provider.get_tracer("app").start_as_current_span("step"):
        with beside(stage, "framework", "ChatModel", **told):
            pass
        time.sleep(0.4)
        assert [*stage.model.stream(USER, {"role": "assistant", "content": SAID}, "r1")]
    (call,) = stage.rows.calls
    assert (call.scope_name, call.stream) == ("turnspan.openai", True)


def test_an_agents_span_that_comes_when_its_last_tool_was_brought(stage: Stage) -> None:
    """The next turn's request brings the result of the tool that ended the one before."""
    tracer = stage.provider.get_tracer("framework")
    stage.rows.waiting = []
    asked = call_of("t1", "final_answer", answer="Rome.")
    reply = {"role": "assistant", "content": None, "tool_calls": [asked]}
    done = {"role": "tool", "tool_call_id": "t1", "content": "Rome."}
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}
    with tracer.start_as_current_span("run", attributes=agent, end_on_exit=False) as late:
        stage.model.chat(USER, reply, "r1")
    history = [*USER, reply, done, {"role": "user", "content": "And then?"}]
    with tracer.start_as_current_span("run", attributes=agent):
        stage.model.chat(history, {"role": "assistant", "content": SAID}, "r2")
        late.end()
    stage.rows.together()
    assert [turn.llm_call_count for turn in stage.rows.turns] == [1, 1]
    assert [turn.tool_call_count for turn in stage.rows.turns] == [1, 0]


def test_a_wrapper_around_an_agent_is_not_another_turn(stage: Stage) -> None:
    """``Agent workflow`` around ``Agent workflow`` around the agent that works."""
    tracer = stage.provider.get_tracer("framework")
    names = ("Agent workflow", "Agent workflow", "Desk")
    spans = [{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name} for name in names]
    with (
        tracer.start_as_current_span(names[0], attributes=spans[0]),
        tracer.start_as_current_span(names[1], attributes=spans[1]),
        tracer.start_as_current_span(names[2], attributes=spans[2]),
    ):
        stage.model.chat(USER, {"role": "assistant", "content": SAID}, "r1")
    (turn,) = stage.rows.turns
    assert (turn.agent_name, turn.parent_turn_id) == ("Desk", "")
    assert (turn.user_message, turn.response_text) == ("The weather in Rome?", SAID)


def test_an_agents_span_for_each_step_is_one_turn(stage: Stage) -> None:
    """The tool runs between them, inside neither."""
    tracer = stage.provider.get_tracer("framework")
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "Desk"}
    asked = {"role": "assistant", "content": None, "tool_calls": [call_of("t1", "look", at="Rome")]}
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.arguments": '{"at":"Rome"}',
        "gen_ai.tool.call.result": "25",
    }
    result = {"role": "tool", "tool_call_id": "t1", "content": "25"}
    with tracer.start_as_current_span("workflow"):
        with tracer.start_as_current_span("agent", attributes=agent):
            stage.model.chat(USER, asked, "r1")
        with tracer.start_as_current_span("tool", attributes=tool):
            pass
        with tracer.start_as_current_span("agent", attributes=agent):
            stage.model.chat([*USER, asked, result], {"role": "assistant", "content": SAID}, "r2")
    (turn,) = stage.rows.turns
    assert (turn.rounds, turn.tool_call_count, turn.response_text) == (2, 1, SAID)
    assert (turn.user_message, turn.stop_reason) == ("The weather in Rome?", "completed")
    (row,) = stage.rows.tools
    assert (row.turn_id, row.call_id) == (turn.turn_id, "t1")


def test_an_agents_span_that_ends_after_the_one_around_it(stage: Stage) -> None:
    """An async generator that is closed late: the turn is still one."""
    tracer = stage.provider.get_tracer("framework")
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}
    outer = tracer.start_span("invoke_agent desk", attributes=agent)
    with use_span(outer):
        inner = tracer.start_span("desk.on_messages", attributes=agent)
    with use_span(inner):
        stage.model.chat(USER, {"role": "assistant", "content": SAID}, "r1")
    outer.end()
    inner.end()
    (turn,) = stage.rows.turns
    assert (turn.agent_name, turn.rounds, turn.response_text) == ("desk", 1, SAID)


def test_results_alone_go_on_with_the_call_that_asked(stage: Stage) -> None:
    """The provider keeps the history, and the span does not say which."""
    asked = {"role": "assistant", "content": None, "tool_calls": [call_of("t1", "look", at="Rome")]}
    stage.model.chat(USER, asked, "r1")
    result = {"role": "tool", "tool_call_id": "t1", "content": "25"}
    stage.model.chat([result], {"role": "assistant", "content": SAID}, "r2")
    (turn,) = stage.rows.turns
    assert (turn.rounds, turn.tool_call_count) == (2, 1)


class Package:
    """A package that tells of a call by a span of its own."""

    def __init__(self, stage: Stage, scope: str) -> None:
        self.tracer = stage.provider.get_tracer(scope)

    def begin(self, around: Span | None = None, **attributes: Any) -> Span:
        """Begin a span, in another one or in a trace of its own."""
        context = set_span_in_context(around) if around is not None else Context()
        return self.tracer.start_span(
            "chat",
            context,
            kind=SpanKind.CLIENT,
            attributes={
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "gpt-4o",
                **attributes,
            },
        )


def written(messages: list[dict[str, Any]]) -> str:
    """Messages of chat completions as the GenAI conventions write them."""
    found: list[dict[str, Any]] = []
    for message in messages:
        parts: list[dict[str, Any]] = []
        if message["role"] == "tool":
            result = {"id": message["tool_call_id"], "response": message["content"]}
            parts.append({"type": "tool_call_response", **result})
        elif message.get("content"):
            parts.append({"type": "text", "content": message["content"]})
        for call in message.get("tool_calls", []):
            asked = {"name": call["function"]["name"], "id": call["id"]}
            arguments = json.loads(call["function"]["arguments"])
            parts.append({"type": "tool_call", **asked, "arguments": arguments})
        found.append({"role": message["role"], "parts": parts})
    return json.dumps(found)


@pytest.mark.parametrize("both_know_the_answer", [True, False])
@pytest.mark.parametrize("where", ["inside", "beside", "around"])
def test_one_that_ends_first_does_not_know_what_was_asked(
    stage: Stage, where: str, both_know_the_answer: bool
) -> None:
    """The SDK's own span has the answer and no question; another around, beside or inside it has
    the question."""
    sdk, package = Package(stage, "sdk"), Package(stage, "package")
    stage.rows.waiting = []
    asked = {"role": "assistant", "content": None, "tool_calls": [call_of("t1", "look", at="Rome")]}
    history: list[dict[str, Any]] = list(USER)
    answers: list[dict[str, Any]] = [
        asked,
        {"role": "assistant", "content": SAID},
        {"role": "assistant", "content": "Goodbye."},
    ]
    news = [
        [{"role": "tool", "tool_call_id": "t1", "content": "25 degrees"}],
        [{"role": "user", "content": "That is all."}],
        [],
    ]
    for number, answer in enumerate(answers):
        told: dict[str, Any] = {
            "gen_ai.output.messages": written([answer]),
            "gen_ai.response.id": f"r{number}",
            "gen_ai.usage.input_tokens": 10,
        }
        question = {"gen_ai.input.messages": written(history)}
        if where == "around":  # a framework closes its span, and then the SDK's stream ends
            first = sdk.begin(None, **told)
            second = package.begin(first, **question)
        else:
            second = package.begin(None, **question)
            first = sdk.begin(second if where == "inside" else None, **told)
        first.end()
        if not both_know_the_answer:
            del told["gen_ai.output.messages"]
        second.set_attributes(told)
        second.end()
        stage.rows.together()
        history += [answer, *news[number]]

    rows = stage.rows
    assert [call.response_id for call in rows.calls] == ["r0", "r1", "r2"]
    assert len({call.session_id for call in rows.calls} | {t.session_id for t in rows.turns}) == 1
    assert [(t.user_message, t.rounds, t.tool_call_count) for t in rows.turns] == [
        (USER[0]["content"], 2, 1),
        ("That is all.", 1, 0),
    ]
    assert [(tool.call_id, tool.result) for tool in rows.tools] == [("t1", "25 degrees")]
    assert [call.round for call in rows.calls] == [1, 2, 1]
    assert [t.input_tokens for t in rows.turns] == [20, 10]
    assert [t.stop_reason for t in rows.turns] == ["completed", "completed"]


def test_a_tool_that_ends_before_the_call_that_asked_for_it(stage: Stage) -> None:
    """A framework leaves a stream once it has a tool call: the call ends when that is collected."""
    package = Package(stage, "framework")
    stage.rows.waiting = []
    doing = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "desk"}
    with package.tracer.start_as_current_span("agent", attributes=doing) as agent:
        call = package.begin(agent, **{"gen_ai.input.messages": written(USER)})
        tool = package.tracer.start_span(
            "look",
            attributes={
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "look",
                "gen_ai.tool.call.id": "t1",
                "error.type": "KeyError",
            },
        )
        tool.set_status(Status(StatusCode.ERROR, "no"))
        tool.end()
        asked = {"role": "assistant", "tool_calls": [call_of("t1", "look", at="Rome")]}
        call.set_attribute("gen_ai.output.messages", written([asked]))
        call.end()
    stage.rows.together()
    (row,) = stage.rows.tools
    (turn,) = stage.rows.turns
    assert (row.session_id, row.turn_id) == (turn.session_id, turn.turn_id)
    assert (turn.tool_call_count, turn.tool_error_count) == (1, 1)
    assert turn.stop_reason == "tool_failure"


def test_a_span_around_several_calls_is_none(stage: Stage) -> None:
    """A package writes what its model calls say on the agent's span around them."""
    package = Package(stage, "framework")
    overlaid = package.begin(None, **{"gen_ai.output.messages": written([{"role": "assistant"}])})
    with use_span(overlaid, end_on_exit=True):
        stage.model.chat(USER, {"role": "assistant", "content": SAID}, "r1")
        stage.model.chat(USER, {"role": "assistant", "content": "Rain."}, "r2")
        overlaid.set_attribute("gen_ai.usage.input_tokens", 999)
        overlaid.set_attribute("gen_ai.response.finish_reasons", ["overlaid"])
    found = [
        (call.response_id, call.input_tokens, call.finish_reasons) for call in stage.rows.calls
    ]
    assert found == [("r1", 10, ["stop"]), ("r2", 10, ["stop"])]


@pytest.mark.parametrize("decorated", [False, True], ids=["undecorated", "decorated"])
@pytest.mark.parametrize("says", ["all", "little", "otherwise"])
@pytest.mark.parametrize("place", ["around", "beside"])
def test_the_row_is_the_same_whoever_ends_first(
    stage: Stage, place: str, says: str, decorated: bool
) -> None:
    """A streamed call, and another package's span of it that ends before it or after."""
    told = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "openai/gpt-4o"}
    if says != "little":
        output = [{"role": "assistant", "parts": [{"type": "text", "content": SAID}]}]
        given = [{"role": "user", "parts": [{"type": "text", "content": USER[0]["content"]}]}]
        told["gen_ai.output.messages"] = json.dumps(output)
        told["gen_ai.input.messages"] = json.dumps(given)
    counts = {"gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 5}
    if says == "otherwise":
        counts = {"gen_ai.usage.input_tokens": 11, "gen_ai.usage.output_tokens": 6}
    stage.provider.add_span_processor(RecordProcessor(InMemorySpanExporter()))  # tells whose it is
    tracer = stage.provider.get_tracer("framework")
    for first in ("ours", "theirs"):
        with turnspan.agent("desk") if decorated else nullcontext():
            theirs = tracer.start_span("ChatModel", kind=SpanKind.CLIENT)
            around = use_span(theirs) if place == "around" else nullcontext()
            with around:
                stream = stage.model.stream(USER, {"role": "assistant", "content": SAID}, first)
            theirs.set_attributes({**told, **counts, "gen_ai.response.id": first})
            if first == "theirs":
                theirs.end()
            said = "".join(c.choices[0].delta.content or "" for c in stream if c.choices)
            assert said == SAID
            if first == "ours":
                theirs.end()

    ours, others = stage.rows.calls
    one, other = stage.rows.turns
    for name in SAME:
        assert getattr(others, name) == getattr(ours, name), name
    assert (ours.stream, ours.input_tokens, ours.scope_name) == (True, 10, "turnspan.openai")
    assert others.time_to_first_chunk is not None
    for row, turn in ((ours, one), (others, other)):
        assert (row.turn_id, row.session_id) == (turn.turn_id, turn.session_id)
        assert (turn.llm_call_count, turn.input_tokens) == (1, 10)
        assert turn.cost_usd == row.cost_usd is not None
        assert turn.response_text == SAID


SAME = (
    *("stream", "stream_outcome", "tries", "scope_name", "provider", "operation"),
    *("request_model", "response_model", "finish_reasons", "response_text", "request_parameters"),
    *("input_tokens", "output_tokens", "cost_usd", "price_version", "error_type", "round"),
    *("input_messages", "output_messages"),
)


def streamed(
    stage: Stage, history: list[Any], reply: dict[str, Any], name: str, *, early: bool, **told: Any
) -> None:
    """A streamed call that goes on with a history, and another package's span of it, which ends
    before it (``early``) or after."""
    theirs = stage.provider.get_tracer("framework").start_span("ChatModel", kind=SpanKind.CLIENT)
    stream = stage.model.stream(history, reply, name)
    identity = {"gen_ai.operation.name": "chat", "gen_ai.response.id": name}
    theirs.set_attributes({**identity, **told})
    if early:
        theirs.end()
    assert [*stream]
    if not early:
        theirs.end()
    history.append(reply)


@pytest.mark.parametrize("first", ["theirs", "ours", "by turns"])
def test_a_conversation_that_another_tells_without_words(stage: Stage, first: str) -> None:
    """Its spans name no message: by them alone every call would begin a session of its own."""
    stage.rows.waiting = []
    history: list[Any] = [USER[0]]
    number = 0

    def call(reply: dict[str, Any]) -> None:
        nonlocal number
        number += 1
        early = first == "theirs" or (first == "by turns" and number % 2 == 1)
        streamed(stage, history, reply, f"r{number}", early=early)
        stage.rows.together()

    for city in ("Rome", "Pisa", "Bari"):
        asked = {"role": "assistant", "content": None}
        call({**asked, "tool_calls": [call_of(f"c{number}", "look", at=city)]})
        history.append({"role": "tool", "tool_call_id": f"c{number - 1}", "content": "warm"})
        call({"role": "assistant", "content": SAID})
        history.append({"role": "user", "content": "And next?"})
    assert [turn.tool_call_count for turn in stage.rows.turns] == [1, 1, 1]
    assert [turn.llm_call_count for turn in stage.rows.turns] == [2, 2, 2]
    rows: list[Any] = [*stage.rows.turns, *stage.rows.calls, *stage.rows.tools]
    assert len({row.session_id for row in rows}) == 1
    assert [tool.result for tool in stage.rows.tools] == ["warm"] * 3


@pytest.mark.parametrize("seed", few(range(40), range(8)))
@pytest.mark.usefixtures("long_waits")
def test_batches_may_end_between_two_that_tell_of_a_call(stage: Stage, seed: int) -> None:
    """Two users who say the same, and a package whose spans give their words incompletely."""
    random = Random(seed)
    stage.rows.waiting = []
    talks: list[list[Any]] = [[USER[0]], [USER[0]]]
    number = 0

    def call(history: list[Any], reply: dict[str, Any]) -> None:
        nonlocal number
        number += 1
        words = [
            {"role": each["role"], "parts": [{"type": "text", "content": each["content"]}]}
            for each in history
            if each["content"]
        ]
        told = {"gen_ai.input.messages": json.dumps(words)}
        early = random.random() < 0.5
        streamed(stage, history, reply, f"r{number}", early=early, **told)

    for step in range(3):
        for history in talks:
            asked = {"role": "assistant", "content": "Let me look."}
            call(history, {**asked, "tool_calls": [call_of(f"c{number + 1}", "look", at="Rome")]})
            history.append({"role": "tool", "tool_call_id": f"c{number}", "content": "warm"})
            call(history, {"role": "assistant", "content": SAID if step else f"You are {number}."})
            history.append({"role": "user", "content": "And next?"})

    spans, stage.rows.waiting = stage.rows.waiting, []
    while spans:
        count = random.randint(1, 4)
        stage.rows.take(spans[:count], again=True)
        del spans[:count]
    stage.rows.take([])

    sessions = [call.session_id for call in stage.rows.calls]
    ada, bob = sessions[0], sessions[2]
    assert sessions == [ada, ada, bob, bob] * 3
    assert ada != bob
    assert [turn.tool_call_count for turn in stage.rows.turns] == [1] * 6
    assert {call.scope_name for call in stage.rows.calls} == {"turnspan.openai"}


@pytest.mark.parametrize("seed", few(range(40), range(8)))
@pytest.mark.usefixtures("long_waits")
def test_batches_may_end_between_words_and_a_span_without(stage: Stage, seed: int) -> None:
    """An SDK's own span tells of a call without its words; another package's around it has them,
    and nobody of ours is there."""
    random = Random(seed)
    inner, outer = (stage.provider.get_tracer(name) for name in ("sdk", "package"))
    stage.rows.waiting = []
    history: list[tuple[str, str]] = [("user", "Where?")]
    for number in range(8):
        told = {"gen_ai.operation.name": "chat", "gen_ai.response.id": f"r{number}"}
        with outer.start_as_current_span("chat", attributes=told) as span:
            inner.start_span("create", attributes=told).end()
            history.append(("assistant", f"Rome {number}."))
            said = [
                {"role": role, "parts": [{"type": "text", "content": content}]}
                for role, content in history
            ]
            span.set_attribute("gen_ai.input.messages", json.dumps(said[:-1]))
            span.set_attribute("gen_ai.output.messages", json.dumps(said[-1:]))
        history.append(("user", "And then?"))

    spans, stage.rows.waiting = stage.rows.waiting, []
    while spans:
        count = random.randint(1, 3)
        stage.rows.take(spans[:count], again=True)
        del spans[:count]
    stage.rows.take([])

    assert len(stage.rows.calls) == len(stage.rows.turns) == 8
    assert len({call.session_id for call in stage.rows.calls}) == 1
    assert [turn.user_message for turn in stage.rows.turns] == ["Where?", *["And then?"] * 7]


@pytest.mark.usefixtures("long_waits")
@pytest.mark.parametrize("named", [True, False], ids=["by ids", "by words"])
@pytest.mark.parametrize("apart", [False, True], ids=["around ours", "beside ours"])
@pytest.mark.parametrize("seed", few(range(50), range(8)))
def test_agents_of_two_users_whose_tools_are_alike(
    stage: Stage, seed: int, apart: bool, named: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package tells of agents, calls that we see as well (by the response's id, or by what was
    answered), and tools without the id of the call that asked for them, or with one that counts in
    each conversation (some models' do); batches end anywhere, and some that wait overtake others.
    """
    random, counting = Random(seed), seed % 3 == 2
    tracer, runtime = (stage.provider.get_tracer(name) for name in ("framework", "runtime"))
    stage.rows.waiting = []
    talks: list[list[Any]] = [[], []]
    number = 0

    def call(history: list[Any], reply: dict[str, Any]) -> None:
        nonlocal number
        number += 1
        told = {"gen_ai.operation.name": "chat"}
        if named:
            told["gen_ai.response.id"] = f"r{number}"
        else:
            told["gen_ai.output.messages"] = written([reply])
        with (
            tracer.start_as_current_span("chat", attributes=told),
            use_span(INVALID_SPAN) if apart else nullcontext(),
        ):
            assert [*stage.model.stream(history, reply, f"r{number}")]
        history.append(reply)

    for step in range(3):
        for user, history in enumerate(talks):
            history.append({"role": "user", "content": "Check order 7" if step else f"I am {user}"})
            # What is beside our spans cannot be the agent around them.
            operation = "invoke_workflow" if apart else "invoke_agent"
            doing = {"gen_ai.operation.name": operation, "gen_ai.agent.name": "desk"}
            with tracer.start_as_current_span("agent", attributes=doing, context=Context()):
                call_id = f"c{step}" if counting else f"c{number + 1}"
                asked = call_of(call_id, "look", order=7)
                call(history, {"role": "assistant", "content": "I look.", "tool_calls": [asked]})
                run = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
                run["gen_ai.tool.call.arguments"] = '{"order": 7}'
                if counting:
                    run["gen_ai.tool.call.id"] = call_id
                with tracer.start_as_current_span("tool", attributes=run):
                    if seed % 2:  # its runtime, which tells of nothing else
                        runtime.start_span("run", attributes=run).end()
                history.append({"role": "tool", "tool_call_id": call_id, "content": "late"})
                said = f"Hello {user}." if step == 0 else "It is late."
                call(history, {"role": "assistant", "content": said})

    spans, stage.rows.waiting = stage.rows.waiting, []
    while spans:
        count = random.randint(1, 6)
        if random.random() < 0.5:  # those that ended before this one have waited long enough
            ended = random.choice(spans[:count]).end_time or 0
            monkeypatch.setattr(foreign, "WAITS_NS", time.time_ns() - ended)
        stage.rows.take(spans[:count], again=True)
        del spans[:count]
    stage.rows.take([])

    session_of = {turn.turn_id: turn.session_id for turn in stage.rows.turns}
    assert len(session_of) == 6
    assert [turn.session_id for turn in stage.rows.turns] == [*session_of.values()][:2] * 3
    assert len(set(session_of.values())) == 2
    assert [turn.tool_call_count for turn in stage.rows.turns] == [1] * 6
    ids = [each // 2 for each in range(6)] if counting else range(1, 12, 2)
    assert [tool.call_id for tool in stage.rows.tools] == [f"c{each}" for each in ids]
    for row in (*stage.rows.calls, *stage.rows.tools):
        assert row.session_id == session_of[row.turn_id]
    for tool, turn in zip(stage.rows.tools, stage.rows.turns, strict=True):
        assert (tool.turn_id, tool.round) == (turn.turn_id, 1)
