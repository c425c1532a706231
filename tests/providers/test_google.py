"""Gemini through the google-genai SDK: what is recorded of a call, and what the caller gets."""

from __future__ import annotations

import asyncio
import gc
import json
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode

import turnspan
from providers.conftest import Spans
from support.gemini_bodies import USAGE, call, content, pieces, refusal, text
from support.google_sdk import errors as google_errors
from support.google_sdk import genai, types
from support.normalised import Landed
from turnspan.testing import ModelServer, record
from turnspan.tracing.content_store import ToolContent
from turnspan.tracing.state import default
from turnspan_clickhouse.rows.tables import LlmCall

MODEL = "gemini-2.5-flash"


@pytest.fixture
def google(server: ModelServer) -> Any:
    """The client of Google's own API."""
    return genai.Client(api_key="k", http_options=types.HttpOptions(base_url=server.url))


def made(spans: Spans) -> list[dict[str, Any]]:
    """The attributes of the model calls, in the order in which they ended."""
    return [dict(s.attributes or {}) for s in spans.all() if s.name.startswith("generate_content")]


def test_a_call_in_full(spans: Spans, server: ModelServer, google: Any) -> None:
    """Request, response, usage, server: by the conventions' names, content beside the span."""
    server.answer(text("Yes."))

    reply = google.models.generate_content(
        model=MODEL,
        contents="hi",
        config=types.GenerateContentConfig(
            system_instruction="be good",
            temperature=0.5,
            top_p=0.9,
            top_k=4,
            max_output_tokens=30,
            stop_sequences=["x"],
            seed=7,
            presence_penalty=0.1,
            frequency_penalty=0.2,
            response_mime_type="application/json",
            thinking_config=types.ThinkingConfig(include_thoughts=True),
        ),
    )

    assert reply.text == "Yes."
    assert type(reply) is types.GenerateContentResponse
    (span,) = spans.all()
    assert span.name == f"generate_content {MODEL}"
    assert span.kind is SpanKind.CLIENT
    assert span.instrumentation_scope is not None
    assert span.instrumentation_scope.name == "turnspan.google_genai"
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "generate_content",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": MODEL,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_p": 0.9,
        "gen_ai.request.top_k": 4,
        "gen_ai.request.max_tokens": 30,
        "gen_ai.request.stop_sequences": ("x",),
        "gen_ai.request.seed": 7,
        "gen_ai.request.presence_penalty": 0.1,
        "gen_ai.request.frequency_penalty": 0.2,
        "gen_ai.output.type": "json",
        "server.address": "127.0.0.1",
        "server.port": int(server.url.rpartition(":")[2]),
        "gen_ai.response.id": "r1",
        "gen_ai.response.model": "gemini-2.5-flash-001",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 43,
        "gen_ai.usage.output_tokens": 14,
        "gen_ai.usage.cache_read.input_tokens": 16,
        "gen_ai.usage.reasoning.output_tokens": 5,
        "turnspan.usage.tool.input_tokens": 3,
    }
    kept = spans.content(span)
    assert kept.dialect == "gemini"
    assert kept.request == server.requests[0].body
    assert kept.response == text("Yes.")


def test_what_is_given_as_dictionaries(spans: Spans, server: ModelServer, google: Any) -> None:
    """Contents and config may be plain; what counts is what goes on the wire."""
    server.answer(text("Yes."))

    google.models.generate_content(
        model=f"models/{MODEL}",
        contents=[{"role": "user", "parts": [{"text": "hi"}]}],
        config={"temperature": 0.5, "tools": [{"google_search": {}}]},
    )

    (attributes,) = made(spans)
    assert attributes["gen_ai.request.model"] == MODEL
    assert attributes["gen_ai.request.temperature"] == 0.5
    (span,) = spans.all()
    assert spans.content(span).request == server.requests[0].body


def test_what_the_application_changes_later_is_not_in_the_record(
    spans: Spans, server: ModelServer, google: Any
) -> None:
    """The request is a copy."""
    server.answer(text("Yes."))
    history = [types.Content(role="user", parts=[types.Part(text="hi")])]

    google.models.generate_content(model=MODEL, contents=history)
    history[0].parts = [types.Part(text="changed")]

    (span,) = spans.all()
    assert spans.content(span).request["contents"][0]["parts"] == [{"text": "hi"}]


@pytest.mark.parametrize(
    ("body", "reasons"),
    [
        (text("", finish="SAFETY"), ("content_filter",)),
        (text("cut", finish="MAX_TOKENS"), ("length",)),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, ("content_filter",)),
        ({"candidates": [{"finishReason": "SAFETY", "index": 0}]}, ("content_filter",)),
    ],
)
def test_finish_reasons(
    body: dict[str, Any],
    reasons: tuple[str, ...],
    spans: Spans,
    server: ModelServer,
    google: Any,
) -> None:
    """In the conventions' words; a blocked prompt, which has no candidate, is filtered."""
    server.answer(body)

    google.models.generate_content(model=MODEL, contents="hi")

    (attributes,) = made(spans)
    assert attributes["gen_ai.response.finish_reasons"] == reasons


def test_an_error_of_the_api(spans: Spans, server: ModelServer, google: Any) -> None:
    """The caller's error is the SDK's own; its status is the error's type."""
    server.answer(
        refusal(400, "INVALID_ARGUMENT", "bad key AIzaSyA-0123456789abcdefghijklmnopqrstu"), 400
    )

    with pytest.raises(google_errors.ClientError) as caught:
        google.models.generate_content(model=MODEL, contents="hi")

    assert caught.value.code == 400
    (span,) = spans.all()
    assert (span.attributes or {})["error.type"] == "INVALID_ARGUMENT"
    assert span.status.status_code is StatusCode.ERROR
    assert "AIzaSyA" not in (span.status.description or "")
    assert spans.content(span).response is None


@pytest.mark.needs("google.genai.types:HttpRetryOptions")
def test_trying_again_is_one_call(spans: Spans, server: ModelServer) -> None:
    """With the number of tries."""
    server.answer(refusal(503, "UNAVAILABLE"), 503)
    server.answer(text("Yes."))
    retry = types.HttpRetryOptions(attempts=3, initial_delay=0.01, http_status_codes=[503])
    options = types.HttpOptions(base_url=server.url, retry_options=retry)

    client = genai.Client(api_key="k", http_options=options)
    client.models.generate_content(model=MODEL, contents="hi")

    (attributes,) = made(spans)
    assert attributes["turnspan.request.tries"] == 2


def test_asynchronous(
    spans: Spans, server: ModelServer, google: Any, loop: asyncio.AbstractEventLoop
) -> None:
    """Calls and streams of ``aio``; two at once do not mix."""
    server.answer(text("Yes."))
    server.stream(pieces("It ", "may."))

    async def run() -> tuple[Any, list[Any]]:
        reply = await google.aio.models.generate_content(model=MODEL, contents="hi")
        stream = await google.aio.models.generate_content_stream(model=MODEL, contents="ho")
        return reply.text, [chunk.text async for chunk in stream]

    assert loop.run_until_complete(run()) == ("Yes.", ["It ", "may."])

    plain, streamed = made(spans)
    assert "turnspan.stream.outcome" not in plain
    assert streamed["turnspan.stream.outcome"] == "complete"
    assert streamed["gen_ai.request.stream"] is True
    assert streamed["gen_ai.usage.input_tokens"] == 43


class TestStreams:
    """One span each, however they end."""

    def test_read_to_the_end(self, spans: Spans, server: ModelServer, google: Any) -> None:
        """The chunks make up the answer that would have come unstreamed."""
        server.stream(
            [
                content({"text": "hm", "thought": True}, finish=""),
                content({"text": " so", "thought": True}, finish=""),
                content({"text": "Let me "}, finish=""),
                content({"text": "look."}, finish=""),
                content(call("weather", {"city": "Rome"}), finish="STOP"),
            ]
        )

        stream = google.models.generate_content_stream(model=MODEL, contents="hi")
        assert spans.all() == []
        assert len(list(stream)) == 5

        (span,) = spans.all()
        attributes = dict(span.attributes or {})
        assert attributes["gen_ai.response.finish_reasons"] == ("stop",)
        assert attributes["turnspan.stream.outcome"] == "complete"
        assert 0 < attributes["gen_ai.response.time_to_first_chunk"] < 5  # type: ignore[operator]
        response = spans.content(span).response
        assert response["candidates"][0]["content"] == {
            "role": "model",
            "parts": [
                {"text": "hm so", "thought": True},
                {"text": "Let me look."},
                call("weather", {"city": "Rome"}),
            ],
        }
        assert response["usageMetadata"] == USAGE

    def test_left(self, spans: Spans, server: ModelServer, google: Any) -> None:
        """A stream that is dropped or closed is abandoned, with what had arrived."""
        for close in (True, False):
            server.stream(pieces("It ", "may", " be."))
            stream = google.models.generate_content_stream(model=MODEL, contents="a")
            next(stream)
            if close:
                stream.close()
            del stream
            gc.collect()

        assert len(spans.all()) == 2
        for span in spans.all():
            attributes = dict(span.attributes or {})
            assert attributes["turnspan.stream.outcome"] == "abandoned"
            assert attributes["gen_ai.response.finish_reasons"] == ("error",)
            kept = spans.content(span).response["candidates"][0]["content"]
            assert kept["parts"] == [{"text": "It "}]

    def test_never_begun(self, spans: Spans, server: ModelServer, google: Any) -> None:
        """Nothing was sent, so there is no call."""
        google.models.generate_content_stream(model=MODEL, contents="hi")

        assert spans.all() == []
        assert server.requests == []

    def test_refused(self, spans: Spans, server: ModelServer, google: Any) -> None:
        """An error before the first chunk."""
        server.answer(refusal(429, "RESOURCE_EXHAUSTED"), 429)

        with pytest.raises(google_errors.ClientError):
            list(google.models.generate_content_stream(model=MODEL, contents="hi"))

        (attributes,) = made(spans)
        assert attributes["error.type"] == "RESOURCE_EXHAUSTED"
        assert attributes["turnspan.stream.outcome"] == "error"

    def test_broken(self, spans: Spans, server: ModelServer, google: Any) -> None:
        """The connection breaks: the caller's error, and what had arrived."""
        server.stream(pieces("It ", "may", " be."), stop_after=2)
        stream = google.models.generate_content_stream(model=MODEL, contents="hi")
        seen: list[Any] = []

        with pytest.raises(Exception) as caught:  # of the HTTP library, whichever it is
            seen.extend(chunk.text for chunk in stream)

        assert type(caught.value).__name__ not in ("AssertionError", "AttributeError")
        (span,) = spans.all()
        attributes = dict(span.attributes or {})
        assert attributes["turnspan.stream.outcome"] == "error"
        assert attributes["error.type"] == type(caught.value).__name__
        kept = spans.content(span).response["candidates"][0]["content"]
        assert kept["parts"] == [{"text": "It may"}]

    @pytest.mark.needs("google.genai.types:HttpRetryOptions")  # older ones block while they read
    def test_cancelled(
        self,
        spans: Spans,
        server: ModelServer,
        google: Any,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """A task that is cancelled while it reads."""
        server.stream(pieces("It ", "may", " be."), hold_after=1)

        async def read() -> None:
            stream = await google.aio.models.generate_content_stream(model=MODEL, contents="hi")
            async for _ in stream:
                pass

        async def run() -> None:
            task = asyncio.create_task(read())
            while not server.requests:
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            server.release.set()

        loop.run_until_complete(run())
        gc.collect()
        (attributes,) = made(spans)
        assert attributes["turnspan.stream.outcome"] in ("cancelled", "abandoned")


def weather(city: str) -> str:
    """What the weather is."""
    return f"sunny in {city}"


def lookup(order: int) -> str:
    """Where an order is."""
    raise KeyError(order)


for function, taken in ((weather, {"city": str}), (lookup, {"order": int})):
    function.__annotations__.update(taken, **{"return": str})  # older SDKs read no texts


class TestFunctions:
    """Functions that the SDK calls by itself."""

    def asked(self, server: ModelServer, call_id: str = "") -> None:
        """The model asks for two functions at once, then answers."""
        server.answer(
            content(
                call("weather", {"city": "Rome"}, call_id and "c1"),
                call("lookup", {"order": 7}, call_id and "c2"),
            )
        )
        server.answer(text("Sunny; lost."))

    @pytest.mark.parametrize("call_id", ["", "ids"])
    def test_in_a_turn(self, call_id: str, spans: Spans, server: ModelServer, google: Any) -> None:
        """Each request is a call, each function a tool, with the model's id where it has one."""
        self.asked(server, call_id)

        @turnspan.agent
        def answer() -> Any:
            return google.models.generate_content(
                model=MODEL, contents="hi", config={"tools": [weather, turnspan.tool(lookup)]}
            ).text

        assert answer() == "Sunny; lost."

        assert [a["turnspan.round"] for a in made(spans)] == [1, 2]
        tools = [span for span in spans.all() if span.name.startswith("execute_tool")]
        assert [span.name for span in tools] == ["execute_tool weather", "execute_tool lookup"]
        first, second = (dict(span.attributes or {}) for span in tools)
        assert first.get("gen_ai.tool.call.id") == ("c1" if call_id else None)
        assert second.get("gen_ai.tool.call.id") == ("c2" if call_id else None)
        assert first["gen_ai.tool.description"] == "What the weather is."
        assert second["error.type"] == "KeyError"
        context = tools[0].context
        assert context is not None
        kept = default.content.take(context.trace_id, context.span_id)
        assert isinstance(kept, ToolContent)
        assert (kept.arguments, kept.result) == ({"city": "Rome"}, "sunny in Rome")
        (turn,) = (s for s in spans.all() if s.name.startswith("invoke_agent"))
        assert (turn.attributes or {})["turnspan.turn.tool_calls"] == 2

    @pytest.mark.parametrize("call_id", ["", "ids"])
    @pytest.mark.parametrize("decorated", [False, True])
    def test_what_the_model_was_told_of_a_failure(
        self, call_id: str, decorated: bool, server: ModelServer, google: Any
    ) -> None:
        """The next request has it, by the function's name alone: it is the tool's result."""
        self.asked(server, call_id)
        tools = [weather, turnspan.tool(lookup) if decorated else lookup]

        with record() as recorded, turnspan.agent("desk"):
            google.models.generate_content(model=MODEL, contents="hi", config={"tools": tools})

        told = {tool.name: (tool.failed, tool.result) for tool in recorded.tools()}
        assert told.keys() == {"weather", "lookup"}
        assert told["weather"] == (False, "sunny in Rome")
        failed, result = told["lookup"]
        assert failed and "7" in json.dumps(result)

    def test_asynchronous_in_a_turn(
        self,
        spans: Spans,
        server: ModelServer,
        google: Any,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """Functions of both kinds, run in the event loop or in a thread beside it."""
        self.asked(server, "ids")

        @turnspan.agent
        async def answer() -> Any:
            reply = await google.aio.models.generate_content(
                model=MODEL, contents="hi", config={"tools": [weather, lookup]}
            )
            return reply.text

        assert loop.run_until_complete(answer()) == "Sunny; lost."

        names = [s.name for s in spans.all() if s.name.startswith("execute_tool")]
        assert names == ["execute_tool weather", "execute_tool lookup"]

    def test_outside_a_turn(self, spans: Spans, server: ModelServer, google: Any) -> None:
        """They are read from the messages: there is no span to be told from them."""
        self.asked(server, "ids")

        google.models.generate_content(
            model=MODEL, contents="hi", config={"tools": [weather, lookup]}
        )

        assert len(made(spans)) == len(spans.all()) == 2


def test_a_chat(spans: Spans, server: ModelServer, google: Any) -> None:
    """Each message sent is a call, the history with it."""
    server.answer(text("Hello."))
    server.stream(pieces("Good", "bye."))
    chat = google.chats.create(model=MODEL)

    chat.send_message("hi")
    assert [chunk.text for chunk in chat.send_message_stream("bye")] == ["Good", "bye."]

    assert len(made(spans)) == 2
    request = spans.content(spans.all()[1]).request
    assert [each["role"] for each in request["contents"]] == ["user", "model", "user"]


def test_vertex(spans: Spans, server: ModelServer) -> None:
    """The same SDK against Vertex: another provider, the model's name without its path."""
    server.answer(text("Yes."))
    client = genai.Client(
        vertexai=True, api_key="k", http_options=types.HttpOptions(base_url=server.url)
    )

    client.models.generate_content(model=MODEL, contents="hi")

    (attributes,) = made(spans)
    assert attributes["gen_ai.provider.name"] == "gcp.vertex_ai"
    assert attributes["gen_ai.request.model"] == MODEL


def test_embeddings(spans: Spans, server: ModelServer, google: Any) -> None:
    """What is embedded is kept, the vectors are not; counting tokens is no call."""
    server.answer({"embeddings": [{"values": [0.1, 0, 1]}, {"values": [0.2, 1, 0]}]})
    server.answer({"totalTokens": 3})

    google.models.embed_content(
        model="text-embedding-004", contents=["a", "b"], config={"output_dimensionality": 3}
    )
    google.models.count_tokens(model=MODEL, contents="hi")

    (span,) = spans.all()
    attributes = dict(span.attributes or {})
    assert attributes["gen_ai.operation.name"] == "embeddings"
    assert attributes["gen_ai.embeddings.dimension.count"] == 3
    kept = spans.content(span)
    assert kept.request == server.requests[0].body
    assert kept.response is None


def test_off_again(server: ModelServer, google: Any, spans: Spans) -> None:
    """Uninstrumented, the SDK is its own again."""
    turnspan.uninstrument()
    server.answer(text("Yes."))

    assert google.models.generate_content(model=MODEL, contents="hi").text == "Yes."
    assert spans.all() == []


@pytest.mark.skipif(
    "extra_body" not in types.HttpOptions.model_fields, reason="this SDK takes no extra body"
)
@pytest.mark.parametrize("whose", ["client", "call"])
def test_an_extra_body_is_recorded_as_it_is_sent(
    whose: str, spans: Spans, server: ModelServer
) -> None:
    """After the SDK's merge, whoever gave it."""
    server.answer(text("Yes."))
    extra = {"generation_config": {"seed": 9}, "labels": {"a": "b"}}
    of_client = {"base_url": server.url} | ({"extra_body": extra} if whose == "client" else {})
    client = genai.Client(api_key="k", http_options=types.HttpOptions(**of_client))
    config: Any = {"temperature": 0.5}
    if whose == "call":
        config["http_options"] = types.HttpOptions(extra_body=extra)
    client.models.generate_content(model=MODEL, contents="hi", config=config)
    (span,) = spans.all()
    context: Any = span.context
    kept: Any = default.content.take(context.trace_id, context.span_id)
    assert kept.request["generationConfig"] == {"temperature": 0.5, "seed": 9}
    assert kept.request["labels"] == {"a": "b"}
    assert made(spans)[0]["gen_ai.request.seed"] == 9


def texts(attributes: Any) -> dict[str, str]:
    """A row's attributes."""
    found: dict[str, str] = attributes.texts()
    return found


def grounding(**said: Any) -> dict[str, Any]:
    """An empty piece of an answer with grounding."""
    return content({"text": "x"}, finish="") | {
        "candidates": [{"index": 0, "content": {"parts": [{"text": "x"}]}, **said}]
    }


WEB = [{"web": {"uri": f"https://a/{n}", "title": str(n)}} for n in range(3)]
TOKEN = {"token": "x", "logProbability": -0.5}


@pytest.mark.parametrize(
    ("pieces", "kept"),
    [
        pytest.param(
            [{"groundingChunks": WEB[:1]}, {"groundingChunks": WEB[1:], "webSearchQueries": ["q"]}],
            {"groundingChunks": WEB, "webSearchQueries": ["q"]},
            id="goes on",
        ),
        pytest.param(
            [
                {"groundingChunks": WEB[:1]},
                {},
                {"groundingChunks": WEB[:2]},
                {"groundingChunks": WEB},
            ],
            {"groundingChunks": WEB},
            id="says again all that it said",
        ),
        pytest.param(
            [{"groundingChunks": WEB}, {"groundingChunks": None}], {"groundingChunks": WEB}
        ),
    ],
)
def test_pieces_of_a_stream_beside_its_text(
    pieces: list[Any], kept: Any, server: ModelServer, google: Any, rows: Landed
) -> None:
    """Are put together as the whole answer has them; log probabilities are those of every token."""
    server.stream(
        [
            *(grounding(groundingMetadata=each, avgLogprobs=-n) for n, each in enumerate(pieces)),
            *(grounding(logprobsResult={"chosenCandidates": [TOKEN]}) for _ in range(2)),
            grounding(
                finishReason="STOP",
                safetyRatings=[{"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"}],
            ),
        ]
    )

    for _ in google.models.generate_content_stream(model=MODEL, contents="hi"):
        pass

    (row,) = rows.calls
    (candidate,) = json.loads(texts(row.attributes)["turnspan.response.details"])["candidates"]
    assert candidate == {
        "groundingMetadata": kept,
        "avgLogprobs": 1 - len(pieces),
        "logprobsResult": {"chosenCandidates": [TOKEN, TOKEN]},
        "safetyRatings": [{"category": "HARM_CATEGORY_HARASSMENT", "probability": "LOW"}],
    }


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "key [REDACTED:google_api_key]" + "." * 200),
        ({"capture_content": False}, None),
        ({"content_limit_bytes": 100}, "key"),
    ],
)
def test_what_an_answer_says_beside_is_content(
    options: dict[str, Any],
    expected: str | None,
    server: ModelServer,
    google: Any,
) -> None:
    """Masked, cut and left out as the messages are; a cut is said."""
    secret = "key AIzaSyA-0123456789abcdefghijklmnopqrstu" + "." * 200
    server.answer(text("Yes.", promptFeedback={"blockReasonMessage": secret}))

    with record(**options) as recorded:
        google.models.generate_content(model=MODEL, contents="hi")

    (row,) = recorded.rows(LlmCall)
    attributes = texts(row.attributes)
    details = attributes.get("turnspan.response.details")
    if expected is None:
        assert details is None
        return
    assert details is not None
    assert "AIza" not in details
    if "content_limit_bytes" in options:
        assert len(details) <= 100
        assert int(attributes["turnspan.truncated.turnspan.response.details"]) > 200
    else:
        assert json.loads(details)["promptFeedback"]["blockReasonMessage"] == expected
