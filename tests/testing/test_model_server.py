"""``turnspan.testing.ModelServer``: the real SDKs take its replies for their provider's."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import anthropic
import openai
import pytest

from support.google_sdk import genai
from turnspan.testing import (
    ModelError,
    ModelRequest,
    ModelServer,
    Reply,
    ToolRequest,
    Usage,
    record,
)

ASKED = [ToolRequest("weather", {"city": "Oslo"})]
USED = Usage(20, 9, cache_read_tokens=4, reasoning_tokens=3)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that says what it is told to."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def gpt(server: ModelServer) -> Iterator[Any]:
    """OpenAI's client."""
    with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
        yield client


@pytest.fixture
def claude(server: ModelServer) -> Iterator[Any]:
    """Anthropic's client."""
    with anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0) as client:
        yield client


def user(text: str) -> list[Any]:
    """A conversation of one message."""
    return [{"role": "user", "content": text}]


def ask(api: str, client: Any, stream: bool) -> None:
    """One question through an API."""
    if api == "chat":
        options = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
        reply = client.chat.completions.create(model="m-1", messages=user("Oslo?"), **options)
    elif api == "responses":
        reply = client.responses.create(model="m-1", input="Oslo?", stream=stream)
    else:
        reply = client.messages.create(
            model="m-1", max_tokens=9, messages=user("Oslo?"), stream=stream
        )
    if stream:
        assert list(reply)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_a_reply_is_what_its_sdk_says(
    api: str, stream: bool, server: ModelServer, gpt: Any, claude: Any
) -> None:
    """Text, tools, usage, reasons and model, through each API, as the recorder sees them."""
    server.reply("Let me look.", tool_requests=ASKED, usage=USED)
    server.reply("It rai", finish="length", model="m-2")
    with record() as recorded:
        for _ in range(2):
            ask(api, claude if api == "messages" else gpt, stream)
    first, second = recorded.calls()
    assert (first.text, first.stream, first.model, first.response_model) == (
        "Let me look.",
        stream,
        "m-1",
        "m-1",
    )
    assert [(asked.name, asked.arguments) for asked in first.tool_requests] == [
        ("weather", {"city": "Oslo"})
    ]
    assert first.tool_requests[0].id
    assert (first.input_tokens, first.output_tokens, first.cache_read_tokens) == (20, 9, 4)
    assert first.reasoning_tokens == (None if api == "messages" else 3)
    assert (second.text, second.response_model) == ("It rai", "m-2")
    assert {"length", "max_tokens", "max_output_tokens"} & set(second.finish_reasons)
    assert [request.api for request in server.requests] == [api, api]
    assert [request.stream for request in server.requests] == [stream, stream]
    assert server.requests[0].model == "m-1"
    assert "Oslo?" in str(server.requests[0].messages)
    assert server.waiting == 0


def test_it_speaks_geminis_api_and_embeddings_as_well(server: ModelServer, gpt: Any) -> None:
    """For agents that use them beside."""
    options: Any = {"base_url": server.url}
    google = genai.Client(api_key="k", http_options=options)
    server.reply("Let me look.", tool_requests=ASKED, usage=USED)
    server.reply("It rains.")
    server.reply()
    with record() as recorded:
        google.models.generate_content(model="gemini-2.5-flash", contents="Oslo?")
        list(google.models.generate_content_stream(model="gemini-2.5-flash", contents="Oslo?"))
        made = gpt.embeddings.create(model="e-1", input=["a", "b"])
    assert [len(each.embedding) for each in made.data] == [8, 8]
    whole, streamed, embedded = recorded.calls()
    assert whole.tool_requests[0].arguments == {"city": "Oslo"}
    assert (whole.input_tokens, whole.output_tokens) == (20, 9)
    assert (streamed.text, streamed.stream) == ("It rains.", True)
    assert (embedded.operation, embedded.model) == ("embeddings", "e-1")
    assert [r.model for r in server.requests] == ["gemini-2.5-flash", "gemini-2.5-flash", "e-1"]


def test_an_agent_can_be_tested_with_its_real_sdk(server: ModelServer, gpt: Any) -> None:
    """The whole way: a scripted model, the agent's loop, and what it did as records."""
    server.reply(tool_requests=ASKED)
    server.reply("It rains in Oslo.")
    with record() as recorded:
        messages = user("Is it raining in Oslo?")
        while True:
            reply = gpt.chat.completions.create(model="gpt-4o", messages=messages)
            message = reply.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                messages.append({"role": "tool", "tool_call_id": call.id, "content": "rain"})
    turn = recorded.turn()
    assert (turn.user_message, turn.text) == ("Is it raining in Oslo?", "It rains in Oslo.")
    assert (turn.rounds, turn.tools, turn.stop_reason) == (2, 1, "completed")
    tool = recorded.tool(name="weather")
    assert (tool.arguments, tool.result) == ({"city": "Oslo"}, "rain")
    second = recorded.call(round=2)
    assert [(m.role, m.text) for m in recorded.messages(second)][-2:] == [
        ("tool", "rain"),
        ("assistant", "It rains in Oslo."),
    ]


def test_a_failure_is_the_sdks_own_error(server: ModelServer, gpt: Any, claude: Any) -> None:
    """In each provider's form; the SDK's own retries are played as well."""
    server.error(429, "slow down", kind="rate_limit_exceeded")
    server.error(529, "busy", kind="overloaded_error")
    with record() as recorded:
        with pytest.raises(openai.RateLimitError, match="slow down"):
            ask("chat", gpt, stream=False)
        with pytest.raises(anthropic.APIStatusError, match="busy"):
            ask("messages", claude, stream=False)
        server.error(429, retry_after_ms="1")
        server.reply("At last.")
        again = gpt.with_options(max_retries=1)
        ask("chat", again, stream=False)
    assert [call.error_type for call in recorded.calls()][2] == ""
    assert "slow down" in recorded.calls()[0].error_message
    assert recorded.calls()[2].text == "At last."
    assert len(server.requests) == 4


def test_without_a_reply_it_says_so_at_once(server: ModelServer, gpt: Any, claude: Any) -> None:
    """No SDK tries it again."""
    patient = gpt.with_options(max_retries=5)
    with pytest.raises(openai.InternalServerError, match="no reply is queued for request 1"):
        ask("chat", patient, stream=False)
    with pytest.raises(anthropic.InternalServerError, match="no reply is queued for request 2"):
        ask("messages", claude.with_options(max_retries=5), stream=False)


def test_replies_can_be_made_from_the_request() -> None:
    """And take their time."""

    def say(request: ModelRequest) -> Reply | ModelError | str:
        if request.model == "refused":
            return ModelError(403, "not for you", kind="permission_error")
        return f"{request.model}!" if request.model != "slow" else Reply("zzz", delay=0.2)

    with ModelServer(say) as server:
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0)
        texts: list[Any] = []
        for model in ("a", "b", "slow"):
            began = time.monotonic()
            reply = client.chat.completions.create(model=model, messages=user("Hi"))
            texts.append(reply.choices[0].message.content)
        assert time.monotonic() - began >= 0.2
        with pytest.raises(openai.PermissionDeniedError, match="not for you"):
            client.chat.completions.create(model="refused", messages=user("Hi"))
    assert texts == ["a!", "b!", "zzz"]


def test_a_stream_may_break_off(server: ModelServer, gpt: Any) -> None:
    """As a provider's does: what came is recorded, and how it ended."""
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choice = {"index": 0, "delta": {"content": "It ra"}, "finish_reason": None}
    server.stream([{**chunk, "choices": [choice]}, "[DONE]"], stop_after=1)
    with (
        record() as recorded,
        pytest.raises(openai.APIConnectionError),
    ):
        ask("chat", gpt, stream=True)
    assert (recorded.call().text, recorded.call().stream_outcome) == ("It ra", "error")
