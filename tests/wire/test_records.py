"""What is recorded of requests that only an HTTP client sees, and beside whom."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import json
import struct
import threading
from collections.abc import Iterator
from typing import Any

import anthropic
import httpx
import openai
import pytest
import requests
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from support.model_replies import chat, message
from support.recorded_server import RecordedAnswer, RecordedServer
from turnspan import config
from turnspan.testing import Recorded, record
from turnspan.wire.gaps import watch
from turnspan_clickhouse.rows.tables import LlmCall, MessageRow, TurnSummary

HELLO: list[Any] = [{"role": "user", "content": "hi"}]
ASKED: dict[str, Any] = {"model": "m", "messages": HELLO}


@pytest.fixture
def server() -> Iterator[RecordedServer]:
    """A server of models."""
    with RecordedServer() as server:
        answer(server, chat())
        yield server


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    """Everything instrumented, recording in memory."""
    with record() as recorded:
        yield recorded


def answer(server: RecordedServer, body: Any, status: int = 200) -> None:
    """What the server answers from now on."""
    server.answer = RecordedAnswer(status, "application/json", json.dumps(body).encode())


def lines(server: RecordedServer, kind: str, *events: Any, piece: int = 11) -> None:
    """The server answers with a stream."""
    if kind == "text/event-stream":
        body = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)
    else:
        body = b"".join(b"%b\n" % json.dumps(event).encode() for event in events)
    server.answer = RecordedAnswer(200, kind, body, piece)


def call(recorded: Recorded) -> LlmCall:
    """The only call."""
    (row,) = recorded.rows(LlmCall)
    return row


def post(server: RecordedServer, path: str, body: Any) -> Any:
    """Send it."""
    return httpx.post(f"{server.url}{path}", json=body).read()


def post_to(server: RecordedServer, url: str, body: Any) -> Any:
    """Send it to a host that is not there, and let the server answer in its place."""

    def answered(request: httpx.Request) -> httpx.Response:
        said = server.answer
        return httpx.Response(
            said.status, headers={"content-type": said.content_type}, content=said.body
        )

    with httpx.Client(transport=httpx.MockTransport(answered)) as client:
        return client.post(url, json=body).read()


def texts(recorded: Recorded, row: LlmCall) -> list[Any]:
    """What was sent and answered, part by part."""
    known = {m.hash: m for m in recorded.rows(MessageRow)}
    hashes = [*row.input_messages, *row.output_messages]
    found: list[Any] = []
    for digest in hashes:
        parts: list[dict[str, Any]] = json.loads(known[digest].parts)
        found += [(known[digest].role, part["type"], part.get("content")) for part in parts]
    return found


# -- APIs whose words are their own ---------------------------------------------------------------


def test_ollama(server: RecordedServer, recorded: Recorded) -> None:
    """Its own API: parameters in ``options``, images, tools, thoughts, counts."""
    body = {
        "model": "llama",
        "stream": False,
        "options": {"temperature": 0.5, "num_predict": 9, "num_ctx": 2048},
        "messages": [{"role": "user", "content": "what?", "images": ["aGk="]}],
    }
    function = {"name": "look", "arguments": {"at": "a"}}
    answer(
        server,
        {
            "model": "llama",
            "message": {
                "role": "assistant",
                "content": "hm",
                "thinking": "I look",
                "tool_calls": [{"function": function}],
            },
            "done": True,
            "done_reason": "stop",
            "prompt_eval_count": 4,
            "eval_count": 2,
        },
    )
    post(server, "/api/chat", body)

    row = call(recorded)
    assert (row.operation, row.provider, row.request_model) == ("chat", "ollama", "llama")
    assert (row.input_tokens, row.output_tokens) == (4, 2)
    assert list(row.finish_reasons) == ["stop"]
    assert row.response_thoughts == "I look"
    assert json.loads(row.tool_calls)[0]["arguments"] == {"at": "a"}
    assert json.loads(row.request_parameters)["max_tokens"] == 9
    assert ("user", "text", "what?") in texts(recorded, row)
    assert not row.stream


def test_ollama_streams_where_nothing_is_said(server: RecordedServer, recorded: Recorded) -> None:
    """Lines of JSON; the request need not ask for them."""
    pieces = [{"model": "l", "message": {"role": "assistant", "content": c}} for c in ("He", "y")]
    end = {"message": {"content": ""}, "done": True, "done_reason": "length", "eval_count": 7}
    lines(server, "application/x-ndjson", *pieces, end)
    with httpx.stream("POST", f"{server.url}/api/chat", json=ASKED) as response:
        list(response.iter_lines())

    row = call(recorded)
    assert (row.response_text, row.output_tokens, row.stream_outcome) == ("Hey", 7, "complete")
    assert list(row.finish_reasons) == ["length"]
    assert row.stream
    assert row.time_to_first_chunk is not None


def test_ollama_completions_and_embeddings(server: RecordedServer, recorded: Recorded) -> None:
    """Their operations."""
    answer(server, {"model": "l", "response": "blue", "done": True, "eval_count": 1})
    post(server, "/api/generate", {"model": "l", "prompt": "The sky is", "stream": False})
    answer(server, {"model": "l", "embeddings": [[0.1, 0.2, 0.3]], "prompt_eval_count": 5})
    post(server, "/api/embed", {"model": "l", "input": ["a"]})

    one, two = recorded.rows(LlmCall)
    assert (one.operation, one.response_text) == ("text_completion", "blue")
    assert (two.operation, two.input_tokens) == ("embeddings", 5)


def test_cohere(server: RecordedServer, recorded: Recorded) -> None:
    """Both versions of its chat."""
    usage = {"billed_units": {"input_tokens": 1}, "tokens": {"input_tokens": 3, "output_tokens": 2}}
    said = {"role": "assistant", "content": [{"type": "text", "text": "hey"}]}
    answer(server, {"id": "x", "finish_reason": "COMPLETE", "message": said, "usage": usage})
    post_to(server, "https://api.cohere.com/v2/chat", ASKED)
    answer(
        server,
        {
            "text": "yo",
            "generation_id": "g",
            "finish_reason": "MAX_TOKENS",
            "meta": usage,
            "tool_calls": [{"name": "look", "parameters": {"at": "a"}}],
        },
    )
    history = [{"role": "CHATBOT", "message": "well?"}]
    asked = {"model": "m", "message": "hi", "chat_history": history}
    post_to(server, "https://api.cohere.com/v1/chat", asked)

    two, one = recorded.rows(LlmCall)
    assert (two.provider, two.response_text, list(two.finish_reasons)) == (
        "cohere",
        "hey",
        ["stop"],
    )
    assert (two.input_tokens, two.output_tokens, two.response_id) == (3, 2, "x")
    assert (one.response_text, list(one.finish_reasons)) == ("yo", ["length"])
    assert json.loads(one.tool_calls)[0]["name"] == "look"
    assert texts(recorded, one)[:2] == [("assistant", "text", "well?"), ("user", "text", "hi")]


def test_cohere_streams(server: RecordedServer, recorded: Recorded) -> None:
    """Text, thoughts and a tool call, each in pieces."""

    def delta(kind: str, message: Any, index: int = 0) -> dict[str, Any]:
        return {"type": kind, "index": index, "delta": {"message": message}}

    function = {"name": "look", "arguments": ""}
    start = {"tool_calls": {"id": "t", "type": "function", "function": function}}
    usage = {"tokens": {"input_tokens": 3.0, "output_tokens": 2.0}}
    lines(
        server,
        "text/event-stream",
        {"type": "message-start", "id": "x", "delta": {"message": {"role": "assistant"}}},
        delta("content-delta", {"content": {"thinking": "hm"}}),
        delta("content-delta", {"content": {"text": "he"}}),
        delta("content-delta", {"content": {"text": "y"}}),
        delta("tool-call-start", start),
        delta("tool-call-delta", {"tool_calls": {"function": {"arguments": '{"at":'}}}),
        delta("tool-call-delta", {"tool_calls": {"function": {"arguments": '"a"}'}}}),
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": usage}},
    )
    post_to(server, "https://api.cohere.com/v2/chat", {**ASKED, "stream": True})

    row = call(recorded)
    assert (row.response_text, row.response_thoughts) == ("hey", "hm")
    assert json.loads(row.tool_calls) == [{"id": "t", "name": "look", "arguments": {"at": "a"}}]
    assert (row.input_tokens, list(row.finish_reasons)) == (3, ["tool_calls"])


def frame(kind: str, payload: Any) -> bytes:
    """A message of AWS's event stream."""

    def header(name: str, value: str) -> bytes:
        size = struct.pack(">H", len(value))
        return bytes([len(name)]) + name.encode() + b"\x07" + size + value.encode()

    body = json.dumps(payload).encode()
    headers = header(":event-type", kind) + header(":message-type", "event")
    head = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    head += struct.pack(">I", binascii.crc32(head))
    return head + headers + body + struct.pack(">I", binascii.crc32(head + headers + body))


ASKED_TOOL: dict[str, Any] = {"toolUseId": "t", "name": "f", "input": {}}
TOOL_ANSWER = {"toolUseId": "t", "content": [{"text": "1"}]}
CONVERSE: dict[str, Any] = {
    "system": [{"text": "be brief"}],
    "messages": [
        {"role": "user", "content": [{"text": "hi"}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {}}}],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t", "content": [{"text": "1"}]}}],
        },
    ],
    "inferenceConfig": {"maxTokens": 50, "temperature": 0.1},
    "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}]},
}
COUNTS = {"inputTokens": 3, "outputTokens": 2, "cacheReadInputTokens": 10}


@pytest.mark.parametrize(
    ("path", "model"),
    [("/models/chat/completions", "m"), ("/openai/deployments/d/chat/completions", "d")],
)
def test_a_model_in_the_path(
    server: RecordedServer, recorded: Recorded, path: str, model: str
) -> None:
    """Azure's deployments are in it; of the models that it serves itself, only the API is."""
    post(server, path, ASKED)
    assert call(recorded).request_model == model


def test_bedrock_converse(server: RecordedServer, recorded: Recorded) -> None:
    """The model is in the path; messages, tools and counts have words of their own."""
    said = {"role": "assistant", "content": [{"text": "hey"}]}
    answer(server, {"output": {"message": said}, "stopReason": "end_turn", "usage": COUNTS})
    post(server, "/model/eu.anthropic.claude-3%3A0/converse", CONVERSE)

    row = call(recorded)
    assert (row.provider, row.request_model) == ("aws.bedrock", "eu.anthropic.claude-3:0")
    assert (row.input_tokens, row.cache_read_tokens, row.output_tokens) == (13, 10, 2)
    assert row.response_text == "hey"
    assert [kind for _, kind, _ in texts(recorded, row)] == [
        *("text", "tool_call", "tool_call_response", "text")
    ]
    assert row.system_prompt != b"\0" * 16
    assert row.tool_definitions != b"\0" * 16


def test_bedrock_streams(server: RecordedServer, recorded: Recorded) -> None:
    """ConverseStream; and InvokeModel's, which packs the model's own events."""
    tool = {"start": {"toolUse": {"toolUseId": "t", "name": "f"}}, "contentBlockIndex": 1}
    asked = {"delta": {"toolUse": {"input": '{"a":1}'}}, "contentBlockIndex": 1}
    events = [
        ("messageStart", {"role": "assistant"}),
        ("contentBlockDelta", {"delta": {"text": "hey"}, "contentBlockIndex": 0}),
        ("contentBlockStart", tool),
        ("contentBlockDelta", asked),
        ("messageStop", {"stopReason": "tool_use"}),
        ("metadata", {"usage": COUNTS}),
    ]
    kind = "application/vnd.amazon.eventstream"
    server.answer = RecordedAnswer(200, kind, b"".join(frame(*each) for each in events), piece=10)
    requests.post(f"{server.url}/model/amazon.nova/converse-stream", json=CONVERSE, timeout=9)

    own: list[Any] = [
        {"type": "message_start", "message": {"id": "i", "model": "c", "content": [], "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "yo"}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"output_tokens": 1},
        },
    ]
    packed = [{"bytes": base64.b64encode(json.dumps(e).encode()).decode()} for e in own]
    server.answer = RecordedAnswer(200, kind, b"".join(frame("chunk", p) for p in packed), piece=7)
    path = "/model/anthropic.claude-3/invoke-with-response-stream"
    requests.post(f"{server.url}{path}", json={"messages": HELLO, "max_tokens": 5}, timeout=9)

    one, two = recorded.rows(LlmCall)
    assert (one.response_text, list(one.finish_reasons)) == ("hey", ["tool_use"])
    assert json.loads(one.tool_calls) == [{"id": "t", "name": "f", "arguments": {"a": 1}}]
    assert (one.input_tokens, one.stream_outcome) == (13, "complete")
    assert (two.response_text, two.output_tokens, two.response_id) == ("yo", 1, "i")


# -- other operations -----------------------------------------------------------------------------


def test_every_other_operation_has_a_record(server: RecordedServer, recorded: Recorded) -> None:
    """Through OpenAI's SDK, whose instrumentor knows chat only: request and answer, files as their
    hashes, what usage there is. They are no rounds of a turn."""
    client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0)

    @turnspan.agent
    def agent() -> str:
        usage = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
        answer(server, {"created": 1, "data": [{"b64_json": "aGk="}], "usage": usage})
        client.images.generate(model="gpt-image-1", prompt="a boat")
        server.answer = RecordedAnswer(200, "audio/mpeg", b"MP3" * 99, piece=50)
        client.audio.speech.create(model="tts-1", voice="alloy", input="hello").read()
        answer(server, {"text": "hello"})
        client.audio.transcriptions.create(model="whisper-1", file=("a.mp3", b"MP3"))
        answer(server, {"id": "mod", "model": "omni", "results": []})
        client.moderations.create(model="omni", input="x")
        answer(server, {"id": "file-1", "object": "file", "purpose": "batch", "bytes": 3})
        client.files.create(file=b"{}\n", purpose="batch")
        return "done"

    agent()
    rows = {row.operation: row for row in recorded.rows(LlmCall)}
    assert list(rows) == ["image_generation", "speech", "transcription", "moderation"]
    image = rows["image_generation"]
    assert (image.provider, image.request_model) == ("openai", "gpt-image-1")
    assert (image.input_tokens, image.output_tokens, image.round) == (5, 7, 0)
    assert json.loads(image.request_parameters)["prompt"] == "a boat"
    details = details_of(image)
    assert "aGk=" not in json.dumps(details)
    assert details_of(rows["speech"]) == {
        "media_type": "audio/mpeg",
        "size": 297,
        "sha256": hashlib.sha256(b"MP3" * 99).hexdigest(),
    }
    sent = json.loads(rows["transcription"].request_parameters)
    assert sent["file"]["sha256"] == hashlib.sha256(b"MP3").hexdigest()
    assert rows["transcription"].request_model == "whisper-1"
    (turn,) = recorded.rows(TurnSummary)
    assert (turn.rounds, turn.stop_reason) == (0, "completed")


def details_of(row: LlmCall) -> Any:
    """The answer of a generic record."""
    pairs: Any = row.attributes
    texts_of: dict[str, str] = pairs.texts() if hasattr(pairs, "texts") else dict(pairs)
    return json.loads(texts_of["turnspan.response.details"])


def test_a_new_api_of_a_provider_counts(recorded: Recorded) -> None:
    """A path that nobody has classed, at a host that is known."""
    with pytest.raises(httpx.HTTPError):
        httpx.post("http://api.openai.com:1/v1/brand_new", json={"model": "m"}, timeout=0.2)
    row = call(recorded)
    assert (row.operation, row.provider, row.request_model) == ("other", "openai", "m")
    assert row.error_type.startswith("Connect")


# -- beside others, and in pieces -----------------------------------------------------------------


def test_never_twice_beside_an_sdk(server: RecordedServer, recorded: Recorded) -> None:
    """What an instrumentor records, streamed or raw, is no other record; nor is a call by hand, nor
    one inside another package's span of it."""
    gpt = openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0)
    gpt.chat.completions.create(model="m", messages=HELLO)
    gpt.chat.completions.with_raw_response.create(model="m", messages=HELLO).parse()
    answer(server, message())
    claude = anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0)
    claude.messages.create(model="m", messages=HELLO, max_tokens=5)
    with turnspan.inference(provider="x", model="m") as by_hand:
        post(server, "/v1/chat/completions", ASKED)
        by_hand.response(text="hm")
    assert len(recorded.rows(LlmCall)) == 4

    tracer = TracerProvider().get_tracer("openinference.instrumentation.x")
    with tracer.start_as_current_span("llm", attributes={"openinference.span.kind": "LLM"}):
        post(server, "/v1/chat/completions", ASKED)
    assert len(recorded.rows(LlmCall)) == 4


def test_joined_into_a_session(server: RecordedServer, recorded: Recorded) -> None:
    """A conversation by plain HTTP is one session, its turns derived."""
    post(server, "/v1/chat/completions", ASKED)
    said = json.loads(server.answer.body)["choices"][0]["message"]
    history = [*HELLO, {"role": said["role"], "content": said["content"]}]
    later = {"role": "user", "content": "and?"}
    post(server, "/v1/chat/completions", {**ASKED, "messages": [*history, later]})

    one, two = recorded.rows(LlmCall)
    assert one.session_id == two.session_id != ""
    assert [turn.user_message for turn in recorded.rows(TurnSummary)] == ["hi", "and?"]


def test_inside_a_turn(server: RecordedServer, recorded: Recorded) -> None:
    """It is a round of the turn around it, in threads and tasks that run at once."""

    @turnspan.agent
    def ask(number: int) -> None:
        body = {**ASKED, "messages": [{"role": "user", "content": f"question {number}"}]}
        post(server, "/v1/chat/completions", body)
        post(server, "/v1/chat/completions", body)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(turn.rounds for turn in recorded.rows(TurnSummary)) == [2] * 5
    by_turn = {turn.turn_id for turn in recorded.rows(TurnSummary)}
    assert {row.turn_id for row in recorded.rows(LlmCall)} == by_turn


def test_a_stream_that_is_left(server: RecordedServer, recorded: Recorded) -> None:
    """By a break, by a cancelled task; and one that the server breaks off."""
    pieces = [{"id": "c", "choices": [{"index": 0, "delta": {"content": "x"}}]}] * 400
    lines(server, "text/event-stream", *pieces, piece=100)
    body: Any = {**ASKED, "stream": True}
    url = f"{server.url}/v1/chat/completions"
    with httpx.stream("POST", url, json=body) as response:
        next(response.iter_lines())
    with requests.post(url, json=body, stream=True, timeout=9) as other:
        next(other.iter_content(300))

    async def cancelled() -> None:
        async def read() -> None:
            async with httpx.AsyncClient() as client, client.stream("POST", url, json=body) as got:
                async for _ in got.aiter_lines():
                    begun.set()
                    await asyncio.sleep(60)

        begun = asyncio.Event()
        task = asyncio.create_task(read())
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    rows = recorded.rows(LlmCall)
    assert [row.stream_outcome for row in rows] == ["abandoned"] * 3
    assert all(row.response_text.startswith("x") for row in rows)


def test_an_error_inside_a_stream(server: RecordedServer, recorded: Recorded) -> None:
    """The provider says in the stream that it failed."""
    failure = {"error": {"code": "overloaded", "message": "try later"}}
    lines(server, "text/event-stream", {"choices": [{"delta": {"content": "He"}}]}, failure)
    with httpx.stream(
        "POST", f"{server.url}/v1/chat/completions", json={**ASKED, "stream": True}
    ) as r:
        r.read()
    row = call(recorded)
    assert (row.error_type, row.stream_outcome, row.response_text) == ("overloaded", "error", "He")
    assert "try later" in row.error_message


def test_what_cannot_be_read_is_recorded_without_it(
    server: RecordedServer, recorded: Recorded
) -> None:
    """An answer that is no JSON, one that is cut, one that is packed in an unknown way."""
    for kind, body in (
        ("text/html", b"<p>busy</p>"),
        ("application/json", b'{"choices": [{"mess'),
        ("text/event-stream", b"data: {no\n\ndata: [DONE]\n\n"),
        ("application/vnd.amazon.eventstream", b"\0\0\0\1\0\0\0\1" * 9),
    ):
        server.answer = RecordedAnswer(200, kind, body)
        assert post(server, "/v1/chat/completions", ASKED) == body
    assert [row.operation for row in recorded.rows(LlmCall)] == ["chat"] * 4


def test_content_may_be_left_out(server: RecordedServer) -> None:
    """Tokens and model are recorded, no word of what was said or made."""
    with record(capture_content=False) as recorded:
        post(server, "/v1/chat/completions", ASKED)
        url = "https://api.openai.com/v1/images/generations"
        post_to(server, url, {"model": "i", "prompt": "secret boat"})
        rows = recorded.rows(LlmCall)
        assert [row.operation for row in rows] == ["chat", "image_generation"]
        written = repr(rows) + repr(recorded.rows(MessageRow))
    assert "Hello" not in written
    assert "secret boat" not in written


def test_secrets_are_masked(server: RecordedServer, recorded: Recorded) -> None:
    """In what a generic record keeps, as everywhere."""
    key = "sk-proj-" + "a1B2" * 12
    with pytest.raises(httpx.HTTPError):
        url = "http://api.openai.com:1/v1/images/generations"
        httpx.post(url, json={"model": "i", "prompt": f"my key is {key}"}, timeout=0.2)
    assert key not in repr(call(recorded))


def test_it_can_be_switched_off(server: RecordedServer, recorded: Recorded) -> None:
    """By a setting; then requests are gaps with a remedy. What is excluded is neither."""
    before = config.active()
    config.activate(config.resolve({}, {"TURNSPAN_RECORD_HTTP": "false"}))
    watch.forget()  # what an earlier test left unrecorded
    watch.start()
    try:
        post(server, "/v1/chat/completions", ASKED)
        assert [(one.calls, one.remedy) for one in watch.seen()] == [
            (1, "set TURNSPAN_RECORD_HTTP=true")
        ]
    finally:
        watch.stop()
        watch.forget()
        config.activate(before)
    assert recorded.rows(LlmCall) == []


def test_no_span_is_left_current(server: RecordedServer, recorded: Recorded) -> None:
    """Whatever became of the request."""
    post(server, "/v1/chat/completions", ASKED)
    with pytest.raises(httpx.HTTPError):
        httpx.post("http://127.0.0.1:1/v1/chat/completions", json=ASKED)
    with pytest.raises(requests.RequestException):
        requests.post("http://127.0.0.1:1/v1/chat/completions", json=ASKED, timeout=1)
    assert not trace.get_current_span().is_recording()
