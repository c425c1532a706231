"""Google's Interactions API through ``client.interactions``: records, and what the caller gets."""

from __future__ import annotations

import asyncio
import json
import warnings
from importlib import import_module
from typing import Any

import pytest
from opentelemetry.trace import StatusCode

import turnspan
from providers.conftest import Spans
from support import interaction_bodies as bodies
from support.google_sdk import credentials, genai
from support.interaction_bodies import (
    IMAGE,
    MODEL,
    STEPS,
    events,
    function_result,
    interaction,
    model_output,
)
from support.normalised import Landed
from turnspan.dialects.convert import convert_sealed, join_request, rebuild_message, split_request
from turnspan.dialects.gemini_interactions import NAME
from turnspan.providers.google_genai.interactions import Interactions
from turnspan.testing import ModelServer

pytestmark = pytest.mark.needs("google.genai._gaos.interactions")


def made(spans: Spans) -> list[dict[str, Any]]:
    """The attributes of the calls, in the order in which they ended."""
    return [dict(span.attributes or {}) for span in spans.all()]


def test_a_call_in_full(spans: Spans, server: ModelServer, google: Any) -> None:
    """Request, interaction, usage, server: by the conventions' names, content beside the span."""
    answer = interaction(model_output("Yes."))
    answer["usage"] = bodies.USAGE | {
        "grounding_tool_count": [
            {"type": "google_search", "count": 2},
            {"type": "google_maps", "count": 1},
            {"type": "retrieval", "count": 3},
        ]
    }
    server.answer(answer | {"service_tier": "flex"})

    reply = google.interactions.create(
        model=f"models/{MODEL}",
        input="hi",
        system_instruction="be good",
        generation_config={
            "temperature": 0.5,
            "top_p": 0.9,
            "max_output_tokens": 30,
            "stop_sequences": ["x"],
            "seed": 7,
            "thinking_level": "low",
        },
        response_format={"type": "text", "mime_type": "application/json", "schema": {}},
        previous_interaction_id="v1_0",
        tools=[bodies.FUNCTION],
    )

    assert reply.output_text == "Yes."
    (span,) = spans.all()
    assert span.name == f"generate_content {MODEL}"
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "generate_content",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": MODEL,
        "gen_ai.request.previous_response.id": "v1_0",
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.request.max_tokens": 30,
        "gen_ai.request.stop_sequences": ("x",),
        "gen_ai.request.seed": 7,
        "gen_ai.request.reasoning.level": "low",
        "gen_ai.output.type": "json",
        "server.address": "127.0.0.1",
        "server.port": int(server.url.rpartition(":")[2]),
        "gen_ai.response.id": "v1_a",
        "gen_ai.response.model": MODEL,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 130,
        "gen_ai.usage.output_tokens": 30,
        "gen_ai.usage.cache_read.input_tokens": 40,
        "gen_ai.usage.reasoning.output_tokens": 10,
        "gen_ai.usage.text.input_tokens": 90,
        "gen_ai.usage.image.input_tokens": 40,
        "gen_ai.usage.text.output_tokens": 20,
        "gen_ai.usage.text.cache_read.input_tokens": 40,
        "turnspan.usage.tool.input_tokens": 30,
        "turnspan.usage.web_searches": 2,
        "turnspan.usage.map_searches": 1,
        "turnspan.response.service_tier": "flex",
    }
    kept = spans.content(span)
    assert kept.dialect == NAME
    assert kept.request == server.requests[0].body
    assert kept.response == answer | {"service_tier": "flex"}


@pytest.mark.parametrize(
    ("asked", "output"),
    [
        ({"response_format": {"type": "image"}}, "image"),
        ({"response_format": [{"type": "text"}, {"type": "audio"}]}, "speech"),
        ({"response_modalities": ["image"]}, "image"),
        ({"response_format": {"type": "object"}}, "json"),
        ({"response_mime_type": "application/json"}, "json"),
        ({}, ""),
        ({"generation_config": None, "response_modalities": "x", "response_format": 3}, ""),
    ],
)
def test_what_kind_of_output(asked: dict[str, Any], output: str) -> None:
    """Of all the ways to ask for one, newer and older."""
    attributes: dict[str, Any] = {}

    Interactions().describe({"model": MODEL, "input": "hi", **asked}, attributes)

    assert attributes.get("gen_ai.output.type", "") == output


def test_vertex(spans: Spans, server: ModelServer) -> None:
    """Vertex is another provider."""
    token = credentials.Credentials("k")
    client = genai.Client(
        vertexai=True,
        credentials=token,
        project="p",
        location="us-central1",
        http_options={"base_url": server.url},
    )
    server.answer(interaction(model_output("Yes.")))

    client.interactions.create(model=MODEL, input="hi")

    assert made(spans)[0]["gen_ai.provider.name"] == "gcp.vertex_ai"


def test_the_messages_of_every_step(rows: Landed, server: ModelServer, google: Any) -> None:
    """Steps are messages, those of the API's own tools too; files stand by their hashes."""
    server.answer(interaction(*STEPS))

    google.interactions.create(
        model=MODEL,
        input=[{"type": "text", "text": "hi"}, IMAGE],
        tools=[bodies.FUNCTION, {"type": "google_search"}],
    )

    (call,) = rows.calls
    (asked,) = rows.said(call.input_messages)
    assert asked[0] == "user"
    assert [part["type"] for part in asked[1]] == ["blob", "text"]
    kinds = [
        (role, part["type"]) for role, parts in rows.said(call.output_messages) for part in parts
    ]
    server_tool = [("assistant", "server_tool_call"), ("assistant", "server_tool_call_response")]
    assert kinds == [
        ("assistant", "reasoning"),
        *server_tool * 4,
        *[("assistant", kind) for kind in ("blob", "blob", "text", "tool_call", "tool_call")],
    ]
    names = [
        part["name"]
        for _, parts in rows.said(call.output_messages)
        for part in parts
        if part["type"] == "server_tool_call"
    ]
    assert names == ["google_search", "code_execution", "url_context", "tides"]
    assert call.response_text == "Let me look."
    assert call.response_thoughts == "Hm.\nSo."
    assert json.loads(call.tool_calls) == [
        {"id": "c1", "name": "look", "arguments": {"at": "Rome", "also": {"b": 1, "a": 2}}},
        {"id": "c2", "name": "look", "arguments": {}},
    ]
    assert list(json.loads(call.tool_calls)[0]["arguments"]["also"]) == ["b", "a"]
    assert bodies.PIXEL not in repr(rows.of(type(call))) + repr(rows.said(call.output_messages))
    definitions = json.loads(rows.defined(call.tool_definitions))
    assert [tool["type"] for tool in definitions] == ["function", "google_search"]
    assert call.cost_usd is not None


INPUTS: list[Any] = [
    "hi",
    {"type": "text", "text": "hi"},
    [{"type": "text", "text": "hi"}, IMAGE],
    [{"type": "user_input", "content": [{"type": "text", "text": "hi"}]}],
    [*STEPS, function_result({"x": [1]}), function_result("o", call_id="c2", is_error=True)],
    [function_result([{"type": "text", "text": "o"}, IMAGE])],
    [{"role": "user", "content": "hi"}, {"role": "model", "content": [{"type": "text"}]}],
    [{"type": "user_input"}, {"type": "new_kind", "text": 3}, "x", None],
    [{"type": "image", "uri": "gs://a", "mime_type": "image/png"}, {"type": "audio"}, 7],
]


@pytest.mark.parametrize("given", INPUTS)
def test_a_request_is_put_together_again(given: Any) -> None:
    """Whatever form its input has: as it was, by its messages' parts or their source."""
    request = {"model": MODEL, "input": given, "system_instruction": "s", "tools": [{"type": "x"}]}
    parts = split_request(NAME, request)
    messages: list[Any] = []
    for raw in parts.messages_raw:
        message, source = convert_sealed(NAME, raw, keep_bytes=True)
        role, said = message["role"], message["parts"]
        messages.append(json.loads(source) if source else rebuild_message(NAME, role, "", said))
    parts.messages_raw = messages

    assert join_request(NAME, parts) == request


@pytest.mark.parametrize("request_", [{"model": "m"}, {"model": "m", "input": []}])
def test_a_request_without_input(request_: dict[str, Any]) -> None:
    """As that of a continuation, which names its interaction only."""
    parts = split_request(NAME, request_)

    assert parts.messages_raw == []
    assert join_request(NAME, parts)["model"] == "m"


def test_steps_that_are_sent_back_are_the_same_messages(
    rows: Landed, server: ModelServer, google: Any
) -> None:
    """Without a store, a history is resent: what the model made is found in it by its hashes."""
    server.answer(interaction(*STEPS))
    server.answer(interaction(model_output("Done."), id="v1_b"))
    user: dict[str, Any] = {"type": "user_input", "content": [{"type": "text", "text": "hi"}]}
    create = google.interactions.create

    first = create(model=MODEL, input=[user], store=False)
    back = [function_result("sun"), function_result("rain", call_id="c2")]
    create(model=MODEL, input=[user, *first.steps, *back], store=False)

    one, two = rows.calls
    assert two.input_messages[: 1 + len(STEPS)] == [*one.input_messages, *one.output_messages]
    assert one.session_id == two.session_id
    (turn,) = rows.turns
    assert (turn.rounds, turn.tool_call_count, turn.stop_reason) == (2, 2, "completed")


STATUSES: list[tuple[str, tuple[str, ...], str]] = [
    ("completed", ("stop",), "completed"),
    ("incomplete", ("length",), "max_tokens"),
    ("budget_exceeded", ("length",), "max_tokens"),
    ("requires_action", ("tool_call",), "completed"),
    ("cancelled", ("cancelled",), "user_aborted"),
    ("requires_continuation", ("requires_continuation",), "completed"),
]


@pytest.mark.parametrize(("status", "reasons", "stop"), STATUSES)
def test_how_an_interaction_ended(
    status: str,
    reasons: tuple[str, ...],
    stop: str,
    rows: Landed,
    server: ModelServer,
    google: Any,
) -> None:
    """Its status is the finish reason, and that is what a turn's stop reason comes from."""
    server.answer(interaction(model_output("It"), status=status))

    google.interactions.create(model=MODEL, input="hi")

    (call,) = rows.calls
    assert tuple(call.finish_reasons) == reasons
    assert [turn.stop_reason for turn in rows.turns] == [stop]


@pytest.mark.parametrize(
    "told",
    [
        {"errors": [{"code": "internal", "message": "it broke"}]},
        {"error": {"code": "internal", "message": "it broke"}},
    ],
)
@pytest.mark.parametrize("streamed", [False, True])
def test_a_failure_that_came_as_a_success(
    streamed: bool, told: dict[str, Any], rows: Landed, server: ModelServer, google: Any
) -> None:
    """It failed, whatever HTTP says."""
    failed = interaction(model_output("It"), status="failed", **told)
    if streamed:
        server.stream(events(failed))
        list(google.interactions.create(model=MODEL, input="hi", stream=True))
    else:
        server.answer(failed)
        google.interactions.create(model=MODEL, input="hi")

    (call,) = rows.calls
    assert (call.error_type, call.error_message) == ("internal", "it broke")
    assert call.finish_reasons == ["error"]
    assert [turn.stop_reason for turn in rows.turns] == ["error"]


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (
            400,
            bodies.refusal("invalid_request", "AIzaSyA-0123456789abcdefghijklmnopqrstu"),
            "invalid_request",
        ),
        (404, {"error": {"code": 404, "status": "NOT_FOUND", "message": "no"}}, "NOT_FOUND"),
        (418, {"odd": True}, "APIStatusError"),
    ],
)
@pytest.mark.parametrize("mode", ["plain", "streamed", "raw", "async", "async streamed"])
def test_an_error_of_the_api(
    mode: str,
    status: int,
    body: dict[str, Any],
    kind: str,
    spans: Spans,
    server: ModelServer,
    google: Any,
    loop: asyncio.AbstractEventLoop,
) -> None:
    """The caller's error is the SDK's own; the API's code is the error's type."""
    server.answer(body, status)
    asked: dict[str, Any] = {"model": MODEL, "input": "hi", "stream": "streamed" in mode}

    with pytest.raises(Exception) as caught:
        if mode.startswith("async"):
            loop.run_until_complete(google.aio.interactions.create(**asked))
        elif mode == "raw":
            google.interactions.with_raw_response.create(**asked)
        else:
            google.interactions.create(**asked)

    assert getattr(caught.value, "status_code", None) == status
    (span,) = spans.all()
    assert (span.attributes or {})["error.type"] == kind
    assert span.status.status_code is StatusCode.ERROR
    assert "AIzaSyA" not in (span.status.description or "")
    assert spans.content(span).response is None


def test_no_server(spans: Spans) -> None:
    """A connection that fails is a failed call; a request that the SDK refuses is none."""
    options = {"base_url": "http://127.0.0.1:9", "retry_options": {"attempts": 1}}
    google: Any = genai.Client(api_key="k", http_options=options)

    with pytest.raises(Exception):  # noqa: B017
        google.interactions.create(model=MODEL, input="hi")
    with pytest.raises(ValueError):
        google.interactions.create(model=MODEL, agent="a", input="hi")

    (attributes,) = made(spans)
    assert attributes["error.type"] == "APIConnectionError"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_trying_again_is_one_call(
    asynchronous: bool, spans: Spans, server: ModelServer, loop: asyncio.AbstractEventLoop
) -> None:
    """With the number of tries."""
    server.answer(bodies.refusal("unavailable"), 503)
    server.answer(interaction(model_output("Yes.")))
    retry = {"attempts": 3, "initial_delay": 0.01, "max_delay": 0.02}
    options = {"base_url": server.url, "retry_options": retry}
    google: Any = genai.Client(api_key="k", http_options=options)

    if asynchronous:
        loop.run_until_complete(google.aio.interactions.create(model=MODEL, input="hi"))
    else:
        google.interactions.create(model=MODEL, input="hi")

    (attributes,) = made(spans)
    assert attributes["turnspan.request.tries"] == 2


def test_what_is_no_interaction(spans: Spans, server: ModelServer, google: Any) -> None:
    """To make an agent, or to list them, is no model call, whatever came before."""
    server.answer({})
    server.answer({"id": "a"})
    with pytest.raises(ValueError):
        google.interactions.create(model=MODEL, input=[{"type": "user_input", "content": 3}])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the SDK: agents are experimental
        google.agents.create(id="a", base_agent="antigravity-preview-05-2026")
        google.agents.list()

    assert len(server.requests) == 2
    assert spans.all() == []


def test_off(server: ModelServer, google: Any) -> None:
    """Uninstrumented, the SDK is as it was: the same classes, nothing recorded."""
    module = import_module("google.genai._gaos.interactions")
    base = import_module("google.genai._gaos.basesdk")
    before: list[Any] = [vars(module.Interactions)["create"], vars(base.BaseSDK)["do_request"]]

    turnspan.instrument()
    assert vars(module.Interactions)["create"] is not before[0]
    turnspan.uninstrument()

    assert [vars(module.Interactions)["create"], vars(base.BaseSDK)["do_request"]] == before
