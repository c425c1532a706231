"""What a chat completion made through the openai SDK leaves behind."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pydantic
import pytest
from openai.types.chat import ChatCompletion
from opentelemetry import trace
from opentelemetry.context import attach, detach
from opentelemetry.instrumentation.utils import suppress_instrumentation
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF
from opentelemetry.trace import SpanKind, StatusCode

import turnspan
from providers.conftest import Spans
from support.model_replies import WEATHER_CALL, chat
from support.normalised import Landed
from support.told_replies import response_told
from turnspan import config
from turnspan.content.text_message import as_dict_message
from turnspan.providers.openai.instrumentor import streams_usage
from turnspan.runtime.ids import SecureIdGenerator
from turnspan.testing import ModelServer
from turnspan.tracing.context import SESSION_KEY
from turnspan.turn.turn import Session

HELLO: list[Any] = [{"role": "user", "content": "hi"}]
TOOL: Any = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {}}},
}


@pytest.mark.needs("openai.resources.chat.completions:Completions.create(max_completion_tokens)")
def test_a_call_has_every_attribute(spans: Spans, server: ModelServer, gpt: openai.OpenAI) -> None:
    """One CLIENT span; what a sampler wants is there, and what the response said."""
    server.answer(chat())

    completion = gpt.chat.completions.create(
        model="gpt-4o-mini",
        messages=HELLO,
        temperature=0,
        top_p=0.5,
        max_completion_tokens=100,
        seed=7,
        stop=["END"],
        n=1,
        response_format={"type": "json_object"},
        reasoning_effort="low",
        service_tier="flex",
    )

    span = spans.call()
    assert type(completion) is ChatCompletion
    assert (span.name, span.kind) == ("chat gpt-4o-mini", SpanKind.CLIENT)
    assert span.status.status_code is StatusCode.UNSET
    assert span.instrumentation_scope is not None
    assert span.instrumentation_scope.name == "turnspan.openai"
    assert spans.attributes() == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "openai.api.type": "chat_completions",
        "server.address": "127.0.0.1",
        "server.port": int(server.url.rsplit(":", 1)[1]),
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.request.temperature": 0.0,
        "gen_ai.request.top_p": 0.5,
        "gen_ai.request.max_tokens": 100,
        "gen_ai.request.seed": 7,
        "gen_ai.request.stop_sequences": ("END",),
        "gen_ai.request.reasoning.level": "low",
        "gen_ai.output.type": "json",
        "openai.request.service_tier": "flex",
        "gen_ai.response.id": "chatcmpl-1",
        "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
        "gen_ai.response.finish_reasons": ("stop",),
        "openai.response.system_fingerprint": "fp_1",
        "gen_ai.usage.input_tokens": 11,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 4,
        "gen_ai.usage.reasoning.output_tokens": 2,
    }
    content = spans.content()
    assert content.dialect == "openai.chat"
    assert content.request == server.requests[0].body
    assert content.response == chat()


def test_an_asynchronous_call_is_recorded_alike(spans: Spans, server: ModelServer) -> None:
    """The same span and content from AsyncOpenAI."""
    server.answer(chat())

    async def call() -> Any:
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k") as client:
            return await client.chat.completions.create(model="gpt-4o-mini", messages=HELLO)

    completion = asyncio.run(call())

    assert type(completion) is ChatCompletion
    assert spans.attributes()["gen_ai.usage.output_tokens"] == 7
    assert spans.content().response == chat()


@pytest.mark.needs("openai.resources.chat.completions:Completions.parse")
def test_parsed_raw_and_streaming_responses(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """parse, with_raw_response and with_streaming_response give what they give untraced."""

    class City(pydantic.BaseModel):
        name: str

    for _ in range(4):
        server.answer(chat('{"name": "Oslo"}'))

    parsed = gpt.chat.completions.parse(model="m", messages=HELLO, response_format=City)
    raw = gpt.chat.completions.with_raw_response.create(model="m", messages=HELLO)
    with gpt.chat.completions.with_streaming_response.create(model="m", messages=HELLO) as one:
        text = one.text()
    with gpt.chat.completions.with_streaming_response.create(model="m", messages=HELLO) as two:
        model = two.parse()

    assert parsed.choices[0].message.parsed == City(name="Oslo")
    assert raw.parse().choices[0].message.content == '{"name": "Oslo"}'
    assert raw.headers["content-type"] == "application/json"
    assert "Oslo" in text
    assert model.choices[0].message.content == '{"name": "Oslo"}'
    assert len(spans.calls()) == 4
    for span in spans.calls():
        assert (span.attributes or {})["gen_ai.usage.input_tokens"] == 11
        assert spans.content(span).response["choices"][0]["message"]["content"] == (
            '{"name": "Oslo"}'
        )
    schema = server.requests[0].body["response_format"]["json_schema"]["schema"]
    assert schema["properties"] == {"name": {"title": "Name", "type": "string"}}


def test_what_the_caller_changes_afterwards_is_not_recorded(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """Lists, and the dictionaries inside them, are recorded as the call saw them."""
    server.answer(chat(None, "tool_calls", tool_calls=[WEATHER_CALL]))
    schema: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool: Any = {"type": "function", "function": {"name": "weather", "parameters": schema}}
    part = {"type": "text", "text": "hi"}
    messages: list[Any] = [{"role": "user", "content": [part]}]

    completion = gpt.chat.completions.create(model="m", messages=messages, tools=[tool])
    part["text"] = "changed"
    messages.append({"role": "user", "content": "more"})
    schema["properties"]["city"]["type"] = "changed"
    assert completion.choices[0].message.tool_calls is not None
    completion.choices[0].message.tool_calls.clear()

    content = spans.content()
    assert content.request == server.requests[0].body
    assert content.request["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    ]
    assert content.request["tools"][0]["function"]["parameters"]["properties"]["city"] == {
        "type": "string"
    }
    assert content.response["choices"][0]["message"]["tool_calls"] == [WEATHER_CALL]


def test_unchanged_history_and_tools_are_shared(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """What a conversation sends again is the same frozen object; what it changed is not."""
    for _ in range(3):
        server.answer(chat())
    messages: list[Any] = [{"role": "system", "content": "shared"}, *HELLO]
    tools: list[Any] = [TOOL]
    gpt.chat.completions.create(model="m", messages=messages, tools=tools)
    messages.append({"role": "assistant", "content": "Hello"})
    gpt.chat.completions.create(model="m", messages=messages, tools=tools)
    messages[1] = {"role": "user", "content": "hi"}
    messages[2] = {"role": "assistant", "content": "Bye"}
    gpt.chat.completions.create(model="m", messages=messages, tools=tools)

    one, two, three = (spans.content(span).request for span in spans.calls())
    assert one["tools"] is two["tools"] is three["tools"]
    assert [len(r["messages"]) for r in (one, two, three)] == [2, 3, 3]
    assert one["messages"][0] is two["messages"][0] is three["messages"][0]
    assert as_dict_message(two["messages"][2])["content"] == "Hello"
    assert as_dict_message(three["messages"][2])["content"] == "Bye"


def test_a_turn_counts_its_calls(spans: Spans, server: ModelServer, gpt: openai.OpenAI) -> None:
    """Rounds, tool requests, usage, models and the first request reach the turn."""
    server.answer(chat(None, "tool_calls", tool_calls=[WEATHER_CALL]))
    server.answer(chat("It rains."))

    @turnspan.agent("forecaster")
    def answer() -> str | None:
        gpt.chat.completions.create(model="m", messages=HELLO, tools=[TOOL])
        reply = gpt.chat.completions.create(model="m", messages=HELLO, tools=[TOOL])
        return reply.choices[0].message.content

    with turnspan.session("s-1"):
        answer()

    first, second = spans.calls()
    turn_span = spans.all()[-1]
    content = spans.content(second)
    turn = content.turn
    assert turn is not None
    assert turn_span.context is not None
    assert first.parent is not None
    assert first.parent.span_id == turn_span.context.span_id
    for number, span in enumerate((first, second), 1):
        assert (span.attributes or {})["turnspan.round"] == number
        assert (span.attributes or {})["gen_ai.conversation.id"] == "s-1"
        assert (span.attributes or {})["turnspan.turn.id"] == turn.id
        assert (span.attributes or {})["gen_ai.agent.name"] == "forecaster"
    assert (turn.rounds, turn.llm_calls, turn.silent_rounds) == (2, 2, 0)
    assert (turn.usage.input_tokens, turn.usage.reasoning_tokens) == (22, 4)
    assert turn.models == ["gpt-4o-mini-2024-07-18"]
    assert turn.first_request[0] == "openai.chat"
    assert turn.first_request[1]["messages"] == HELLO
    assert (turn_span.attributes or {})["turnspan.turn.stop_reason"] == "completed"


def test_a_session_without_a_turn(spans: Spans, server: ModelServer, gpt: openai.OpenAI) -> None:
    """A call outside any turn still belongs to its conversation."""
    from opentelemetry import context

    server.answer(chat())
    token = attach(context.set_value(SESSION_KEY, Session("s-2", "u-1")))
    try:
        gpt.chat.completions.create(model="m", messages=HELLO)
    finally:
        detach(token)

    assert spans.attributes()["gen_ai.conversation.id"] == "s-2"
    assert spans.attributes()["user.id"] == "u-1"


def test_an_error_of_the_api(spans: Spans, server: ModelServer, gpt: openai.OpenAI) -> None:
    """The caller gets the SDK's error; the span has its code, the request is kept."""
    error = {"message": "Slow down", "type": "requests", "code": "rate_limit_exceeded"}
    server.answer({"error": error}, status=429)

    with pytest.raises(openai.RateLimitError) as caught:
        gpt.chat.completions.create(model="m", messages=HELLO)

    span = spans.call()
    assert caught.value.code == "rate_limit_exceeded"
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description is not None
    assert span.status.description.startswith("RateLimitError: ")
    assert spans.attributes()["error.type"] == "rate_limit_exceeded"
    assert "turnspan.stream.outcome" not in spans.attributes()
    content = spans.content()
    assert (content.request["messages"], content.response) == (HELLO, None)


def test_secrets_in_an_error_are_masked(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """The status of a span tells no key that the provider's message repeats."""
    key = "sk-proj-" + "a1B2" * 12
    server.answer({"error": {"message": f"Incorrect API key: {key}"}}, status=401)

    with pytest.raises(openai.AuthenticationError, match=key):
        gpt.chat.completions.create(model="m", messages=HELLO)

    assert key not in str(spans.call().status.description)


def test_an_unreachable_server_and_retries(spans: Spans, server: ModelServer) -> None:
    """Retries inside the SDK are one call, with the number of tries."""
    server.answer({"error": {}}, status=500, retry_after_ms="1")
    server.answer(chat())
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=2) as client:
        client.chat.completions.create(model="m", messages=HELLO)
    server.stop()
    with (
        openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client,
        pytest.raises(openai.APIConnectionError),
    ):
        client.chat.completions.create(model="m", messages=HELLO)

    retried, unreachable = spans.calls()
    assert (retried.attributes or {})["turnspan.request.tries"] == 2
    assert (retried.attributes or {})["gen_ai.usage.input_tokens"] == 11
    assert (unreachable.attributes or {})["error.type"] == "APIConnectionError"
    assert "turnspan.request.tries" not in (unreachable.attributes or {})


@pytest.mark.needs("openai.resources.chat.completions:Completions.parse")
def test_a_reply_that_a_parser_refuses_is_still_recorded(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """parse raises on a reply cut short; what it cost and said is known all the same."""

    class City(pydantic.BaseModel):
        name: str

    server.answer(chat('{"na', "length"))
    with pytest.raises(openai.LengthFinishReasonError):
        gpt.chat.completions.parse(model="m", messages=HELLO, response_format=City)

    assert spans.attributes()["gen_ai.usage.output_tokens"] == 7
    assert spans.attributes()["error.type"] == "LengthFinishReasonError"
    assert spans.content().response["choices"][0]["message"]["content"] == '{"na'


def test_a_cancelled_call(spans: Spans, server: ModelServer) -> None:
    """Cancelling is not an error of the call."""
    server.stream([], hold_after=0)

    async def call() -> None:
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k") as client:
            task = asyncio.create_task(client.chat.completions.create(model="m", messages=HELLO))
            while not server.requests:
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(call())

    span = spans.call()
    assert span.status.status_code is StatusCode.UNSET
    assert spans.attributes()["turnspan.stream.outcome"] == "cancelled"
    assert spans.attributes()["gen_ai.response.finish_reasons"] == ("error",)


@pytest.mark.usefixtures("settings")
def test_content_can_be_switched_off(spans: Spans, server: ModelServer, gpt: openai.OpenAI) -> None:
    """Without content, tokens, latency and stop reasons are recorded all the same; what was said
    is kept until the worker has seen whose call it is, and marked as not to be written."""
    config.activate(config.resolve({"capture_content": False}))
    server.answer(chat())
    gpt.chat.completions.create(model="m", messages=HELLO)

    assert spans.attributes()["gen_ai.usage.input_tokens"] == 11
    assert not spans.content().captured


@pytest.mark.usefixtures("settings")
def test_content_on_spans_where_asked_for(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """The standard variable puts the messages on the span, in the GenAI schema."""
    config.activate(config.resolve({"content_on_spans": True}))
    server.answer(chat())
    gpt.chat.completions.create(model="m", messages=HELLO)

    attributes = spans.attributes()
    assert '"content":"hi"' in attributes["gen_ai.input.messages"].replace(": ", ":")
    assert "Hello" in attributes["gen_ai.output.messages"]


@pytest.mark.usefixtures("settings")
def test_what_is_not_recorded(spans: Spans, server: ModelServer, gpt: openai.OpenAI) -> None:
    """Nothing while OpenTelemetry's suppression is on or the SDK is disabled; nor count_tokens."""
    for _ in range(2):
        server.answer(chat())
    with suppress_instrumentation():
        gpt.chat.completions.create(model="m", messages=HELLO)
    config.activate(config.resolve({}, {"OTEL_SDK_DISABLED": "true"}))
    gpt.chat.completions.create(model="m", messages=HELLO)

    assert spans.all() == []


class _Ids(SecureIdGenerator):
    """Tells which spans a provider has begun, sampled or not."""

    def __init__(self) -> None:
        self.traces: list[int] = []
        self.spans: list[int] = []

    def generate_trace_id(self) -> int:
        self.traces.append(super().generate_trace_id())
        return self.traces[-1]

    def generate_span_id(self) -> int:
        self.spans.append(super().generate_span_id())
        return self.spans[-1]


def test_a_span_that_is_not_sampled_still_counts(server: ModelServer, gpt: openai.OpenAI) -> None:
    """The turn's counters do not depend on sampling, and no content is kept for nothing."""
    from turnspan.tracing.state import default

    ids = _Ids()
    provider = TracerProvider(sampler=ALWAYS_OFF, id_generator=ids)
    default.content.attach()
    turnspan.instrument(tracer_provider=provider)
    server.answer(chat())

    @turnspan.agent
    def answer() -> tuple[int, int | None, int]:
        gpt.chat.completions.create(model="m", messages=HELLO)
        turn = turnspan.current_turn()
        trace_id = trace.get_current_span().get_span_context().trace_id
        return turn.rounds, turn.usage.input_tokens, trace_id

    try:
        *told, turns_trace = answer()  # the agent's own span is of the process's provider
        assert told == [1, 11]
        (call,) = ids.spans
        assert not any(default.content.take(each, call) for each in (turns_trace, *ids.traces))
    finally:
        turnspan.uninstrument()
        default.content.detach()


def test_a_wrapper_that_records_the_call_itself(
    spans: Spans, server: ModelServer, gpt: openai.OpenAI
) -> None:
    """A call made inside a recorded call of the same kind is that call: counted once."""
    server.answer(chat())
    with turnspan.inference(provider="gateway", model="m", messages=HELLO):
        gpt.chat.completions.create(model="m", messages=HELLO)

    assert spans.attributes()["gen_ai.provider.name"] == "gateway"


@pytest.mark.parametrize(
    ("host", "asked"),
    [
        ("api.openai.com", True),
        ("mine.openai.azure.com", True),
        ("127.0.0.1", True),
        ("localhost", True),
        ("litellm", True),
        ("10.1.2.3", True),
        ("::1", True),
        ("8.8.8.8", False),
        ("api.mistral.ai", False),
        ("gateway.example.com", False),
    ],
)
def test_who_is_asked_for_usage(host: str, asked: bool) -> None:
    """Known servers and one's own; never a server that might refuse the whole request for it."""
    assert streams_usage(host) is asked


@pytest.mark.needs("openai.resources.responses")
def test_a_response_is_told_twice_how_to_behave(
    server: ModelServer, gpt: openai.OpenAI, rows: Landed
) -> None:
    """The row's system prompt is all of it: the instructions, and the input's first messages."""
    block: Any = {"type": "input_text", "text": "Be terse."}
    asked: Any = {"role": "user", "content": "hi"}
    told: list[Any] = [{"role": "developer", "content": [block]}, asked]
    both: list[dict[str, Any]] = [{}, {"instructions": "You are a cook."}]
    for more in both:
        server.answer(response_told().body)
        gpt.responses.create(model="gpt-5", input=told, **more)

    assert [rows.defined(call.system_prompt) for call in rows.calls] == [
        "Be terse.",
        "You are a cook.\n\nBe terse.",
    ]
