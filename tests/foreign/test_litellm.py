"""LiteLLM, recorded by Turnspan itself: one call is one row, whichever SDK or request it becomes.

Here, and not beside the other instrumentors, as LiteLLM does not go with the newest of their SDKs.
"""

from __future__ import annotations

import asyncio
import gc
import os
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, cast

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it is fetched

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import turnspan
from support import gemini_bodies
from support.model_replies import USAGE, WEATHER_CALL, chat, chat_stream, message, message_stream
from support.representatives import few
from turnspan import config
from turnspan.providers.litellm import calls, retries
from turnspan.providers.litellm import instrumentor as provider
from turnspan.providers.litellm import names as litellm_names
from turnspan.providers.openai import chat as openai_chat
from turnspan.runtime.guard import errors
from turnspan.testing import ModelServer
from turnspan.tracing.content_store import InferenceContent
from turnspan.tracing.state import default
from turnspan.wire.gaps import watch

litellm = cast("Any", import_module("litellm"))  # installed only where these tests run
imported_before = litellm.completion

HELLO: list[Any] = [{"role": "user", "content": "hi"}]


class Recorded:
    """The spans finished so far."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    def all(self) -> list[ReadableSpan]:
        """In the order in which they ended."""
        return list(self.exporter.get_finished_spans())

    def attributes(self) -> dict[str, Any]:
        """Those of the only one."""
        (span,) = self.all()
        return dict(span.attributes or {})

    def content(self) -> InferenceContent:
        """What was kept beside the only one."""
        (span,) = self.all()
        assert span.context is not None
        kept = default.content.take(span.context.trace_id, span.context.span_id)
        assert isinstance(kept, InferenceContent)
        return kept


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model provider."""
    server = ModelServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def spans() -> Iterator[Recorded]:
    """LiteLLM and the SDKs that it uses, instrumented."""
    spans = Recorded()
    default.content.attach()
    errors.reset()
    turnspan.instrument(tracer_provider=spans.provider, only=("litellm", "openai", "anthropic"))
    yield spans
    turnspan.uninstrument()
    default.content.detach()


def openai(server: ModelServer, **more: Any) -> dict[str, Any]:
    """Arguments of a call through OpenAI's SDK."""
    base = f"{server.url}/v1"
    return {"model": "openai/gpt-4o", "api_base": base, "api_key": "k", "max_retries": 0, **more}


def claude(server: ModelServer, **more: Any) -> dict[str, Any]:
    """Arguments of a call that LiteLLM sends by itself."""
    name = "anthropic/claude-sonnet-4-5"
    return {"model": name, "api_base": server.url, "api_key": "k", **more}


def gemini(server: ModelServer, **more: Any) -> dict[str, Any]:
    """The same of Gemini."""
    base = f"{server.url}/models/gemini-2.5-flash"
    return {"model": "gemini/gemini-2.5-flash", "api_base": base, "api_key": "k", **more}


def test_a_call_in_full(spans: Recorded, server: ModelServer) -> None:
    """The provider's names, the caller's parameters, and nothing of what is LiteLLM's own."""
    server.answer(chat())

    reply = litellm.completion(
        messages=HELLO, temperature=0.5, max_tokens=9, metadata={"a": 1}, **openai(server)
    )

    assert type(reply) is litellm.ModelResponse
    (span,) = spans.all()
    assert span.name == "chat gpt-4o"
    attributes = spans.attributes()
    assert attributes["gen_ai.provider.name"] == "openai"
    assert attributes["gen_ai.request.model"] == "gpt-4o"
    assert attributes["server.address"] == "127.0.0.1"
    assert attributes["gen_ai.request.temperature"] == 0.5
    assert attributes["gen_ai.usage.input_tokens"] == USAGE["prompt_tokens"]
    assert attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert "openai.api.type" not in attributes
    kept = spans.content()
    assert kept.request == {
        "model": "gpt-4o",
        "messages": HELLO,
        "temperature": 0.5,
        "max_tokens": 9,
    }
    assert kept.response["choices"][0]["message"]["content"] == reply.choices[0].message.content


@pytest.mark.parametrize(
    ("arguments", "answer", "name"),
    [
        (openai, chat(), "openai"),
        (claude, message(), "anthropic"),
        (gemini, gemini_bodies.text("Yes."), "gcp.gemini"),
    ],
    ids=["openai", "anthropic", "gemini"],
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_every_provider_is_one_row(
    arguments: Callable[..., dict[str, Any]],
    answer: Any,
    name: str,
    asynchronous: bool,
    spans: Recorded,
    server: ModelServer,
) -> None:
    """Whether another SDK makes the call or LiteLLM itself; also by a name imported before."""
    server.answer(answer)
    if asynchronous:
        asyncio.run(litellm.acompletion(messages=HELLO, **arguments(server)))
    else:
        imported_before(messages=HELLO, **arguments(server))

    attributes = spans.attributes()
    assert attributes["gen_ai.provider.name"] == name
    assert attributes["gen_ai.usage.input_tokens"] > 0
    assert len(server.requests) == 1
    assert watch.total() == 0


class TestStreams:
    """LiteLLM's own streams, one span each, however they end."""

    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_read_to_the_end(
        self, asynchronous: bool, spans: Recorded, server: ModelServer
    ) -> None:
        """Token usage is asked for, and the caller sees nothing of it."""
        server.stream(chat_stream("Hel", "lo"))

        if asynchronous:

            async def run() -> tuple[Any, list[Any]]:
                stream = await litellm.acompletion(messages=HELLO, stream=True, **openai(server))
                return stream, [chunk async for chunk in stream]

            stream, chunks = asyncio.run(run())
        else:
            stream = litellm.completion(messages=HELLO, stream=True, **openai(server))
            chunks = list(stream)

        assert type(stream) is litellm.CustomStreamWrapper
        assert stream.stream_options is None
        assert "".join(c.choices[0].delta.content or "" for c in chunks) == "Hello"
        assert all(getattr(c, "usage", None) is None for c in chunks)
        assert server.requests[0].body["stream_options"] == {"include_usage": True}
        attributes = spans.attributes()
        assert attributes["turnspan.stream.outcome"] == "complete"
        assert attributes["gen_ai.usage.input_tokens"] == USAGE["prompt_tokens"]
        assert attributes["gen_ai.response.time_to_first_chunk"] > 0
        kept = spans.content()
        assert "stream_options" not in kept.request
        assert kept.response["choices"][0]["message"]["content"] == "Hello"

    def test_usage_that_was_asked_for(self, spans: Recorded, server: ModelServer) -> None:
        """Then the caller gets it."""
        server.stream(chat_stream("Hel", "lo"))
        options = {"include_usage": True}

        chunks = list(
            litellm.completion(
                messages=HELLO, stream=True, stream_options=options, **openai(server)
            )
        )

        assert chunks[-1].usage.prompt_tokens == USAGE["prompt_tokens"]
        assert spans.attributes()["gen_ai.usage.input_tokens"] == USAGE["prompt_tokens"]

    def test_of_another_provider(self, spans: Recorded, server: ModelServer) -> None:
        """Sent by LiteLLM at the first step: nothing of it is unrecorded."""
        server.stream(message_stream("It ", "may."))

        text = "".join(
            chunk.choices[0].delta.content or ""
            for chunk in litellm.completion(messages=HELLO, stream=True, **claude(server))
        )

        assert text == "It may."
        attributes = spans.attributes()
        assert attributes["gen_ai.provider.name"] == "anthropic"
        assert attributes["gen_ai.usage.output_tokens"] > 0
        assert spans.content().response["choices"][0]["message"]["content"] == "It may."

    def test_tools(self, spans: Recorded, server: ModelServer) -> None:
        """The pieces of a tool's call make up the call."""
        call = {"index": 0, **WEATHER_CALL}
        server.stream(
            [
                {
                    "id": "c",
                    "object": "chat.completion.chunk",
                    "created": 1,
                    "model": "m",
                    "choices": [
                        {
                            "index": 0,
                            "delta": {"role": "assistant", "tool_calls": [call]},
                            "finish_reason": "tool_calls",
                        }
                    ],
                },
                "[DONE]",
            ]
        )

        list(litellm.completion(messages=HELLO, stream=True, **openai(server)))

        (choice,) = spans.content().response["choices"]
        assert choice["message"]["tool_calls"] == [WEATHER_CALL]
        assert choice["finish_reason"] == "tool_calls"

    def test_left(self, spans: Recorded, server: ModelServer) -> None:
        """A stream that is dropped is abandoned, with what had arrived."""
        server.stream(chat_stream("Hel", "lo"))
        stream = litellm.completion(messages=HELLO, stream=True, **openai(server))
        next(stream)
        next(stream)
        del stream
        deadline = time.monotonic() + 60
        while not spans.all() and time.monotonic() < deadline:
            time.sleep(0.05)  # LiteLLM's own threads hold it while they log
            gc.collect()

        attributes = spans.attributes()
        assert attributes["turnspan.stream.outcome"] == "abandoned"
        assert attributes["gen_ai.response.finish_reasons"] == ("error",)

    def test_closed(self, spans: Recorded, server: ModelServer) -> None:
        """An asynchronous one that is closed."""
        server.stream(chat_stream("Hel", "lo"))

        async def run() -> None:
            stream = await litellm.acompletion(messages=HELLO, stream=True, **openai(server))
            await stream.__anext__()
            await stream.aclose()

        asyncio.run(run())

        assert spans.attributes()["turnspan.stream.outcome"] == "abandoned"

    def test_broken(self, spans: Recorded, server: ModelServer) -> None:
        """The connection breaks: LiteLLM's error reaches the caller, and the record."""
        server.stream(chat_stream("Hel", "lo"), stop_after=2)
        stream = litellm.completion(messages=HELLO, stream=True, **openai(server))

        with pytest.raises(litellm.exceptions.MidStreamFallbackError):
            list(stream)

        assert spans.attributes()["turnspan.stream.outcome"] == "error"


class TestAgain:
    """Trying again is one call; another model or provider is another."""

    @pytest.mark.parametrize("arguments", [openai, claude], ids=["openai", "anthropic"])
    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_by_litellm(
        self,
        arguments: Callable[..., dict[str, Any]],
        asynchronous: bool,
        spans: Recorded,
        server: ModelServer,
    ) -> None:
        """With the number of tries."""
        server.answer({"error": {"message": "busy"}}, 500)
        server.answer(chat() if arguments is openai else message())
        asked = arguments(server, num_retries=2)
        if asynchronous:
            asyncio.run(litellm.acompletion(messages=HELLO, **asked))
        else:
            litellm.completion(messages=HELLO, **asked)

        attributes = spans.attributes()
        assert attributes["turnspan.request.tries"] == len(server.requests) == 2
        assert "error.type" not in attributes

    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_by_the_router(self, asynchronous: bool, spans: Recorded, server: ModelServer) -> None:
        """As long as it stays with one model."""
        server.answer({"error": {"message": "busy"}}, 500)
        server.answer(message())
        router = self.router(claude(server), num_retries=2)
        if asynchronous:
            asyncio.run(router.acompletion(model="x", messages=HELLO))
        else:
            router.completion(model="x", messages=HELLO)

        attributes = spans.attributes()
        assert attributes["turnspan.request.tries"] == 2
        assert "model_info" not in spans.content().request

    def test_in_vain(self, spans: Recorded, server: ModelServer) -> None:
        """The last error is the call's."""
        for _ in range(2):
            server.answer({"error": {"message": "busy"}}, 500)

        with pytest.raises(litellm.exceptions.InternalServerError):
            self.router(claude(server), num_retries=1).completion(model="x", messages=HELLO)

        attributes = spans.attributes()
        assert attributes["error.type"] == "InternalServerError"
        assert attributes["turnspan.request.tries"] == 2

    def test_falling_back(self, spans: Recorded, server: ModelServer) -> None:
        """Another model is another call; the first one failed."""
        server.answer({"error": {"message": "no"}}, 400)
        server.answer(chat())
        router = self.router(
            claude(server), openai(server), num_retries=0, fallbacks=[{"x": ["y"]}]
        )

        router.completion(model="x", messages=HELLO)

        failed, made = (dict(span.attributes or {}) for span in spans.all())
        assert failed["gen_ai.provider.name"] == "anthropic"
        assert "error.type" in failed
        assert made["gen_ai.provider.name"] == "openai"

    def router(self, *deployments: dict[str, Any], **more: Any) -> Any:
        """One whose models are called x, y, ..."""
        models = [
            {"model_name": name, "litellm_params": given}
            for name, given in zip("xyz", deployments, strict=False)
        ]
        return litellm.Router(model_list=models, retry_after=0, **more)


def test_an_error(spans: Recorded, server: ModelServer) -> None:
    """LiteLLM's error is the caller's; the provider's code is the type."""
    server.answer({"error": {"message": "no", "code": "nope", "type": "x"}}, 400)

    with pytest.raises(litellm.exceptions.BadRequestError):
        litellm.completion(messages=HELLO, **openai(server))

    assert spans.attributes()["error.type"] == "nope"


def test_text_and_embeddings(spans: Recorded, server: ModelServer) -> None:
    """A text completion that becomes a chat is one call; what is embedded is kept."""
    server.answer(message())
    server.answer(
        {
            "object": "list",
            "model": "e",
            "data": [{"object": "embedding", "index": 0, "embedding": [0.5]}],
            "usage": {"prompt_tokens": 3, "total_tokens": 3},
        }
    )

    litellm.text_completion(prompt="Once", **claude(server))
    litellm.embedding(input=["a"], **openai(server, model="openai/e"))

    text, embedding = (dict(span.attributes or {}) for span in spans.all())
    assert text["gen_ai.operation.name"] == "text_completion"
    assert embedding["gen_ai.operation.name"] == "embeddings"
    assert embedding["gen_ai.usage.input_tokens"] == 3
    assert embedding["gen_ai.embeddings.dimension.count"] == 1


def test_in_a_turn(spans: Recorded, server: ModelServer) -> None:
    """Rounds are counted, and a tool knows which call of the model it is."""
    server.answer(chat(None, "tool_calls", tool_calls=[WEATHER_CALL]))
    server.answer(chat())

    @turnspan.tool
    def weather(city: str) -> str:
        return f"sunny in {city}"

    @turnspan.agent
    def agent() -> Any:
        reply = litellm.completion(messages=HELLO, **openai(server))
        weather("Oslo")
        history = [*HELLO, reply.choices[0].message]
        return litellm.completion(messages=history, **openai(server)).choices[0].message.content

    agent()

    assert [dict(s.attributes or {})["turnspan.round"] for s in spans.all()] == [1, 2]


def test_off_again(spans: Recorded, server: ModelServer) -> None:
    """Every module has LiteLLM's own function back."""
    assert imported_before is not litellm.completion or hasattr(litellm.completion, "__wrapped__")
    turnspan.uninstrument()
    server.answer(chat())

    litellm.completion(messages=HELLO, **openai(server))

    assert spans.all() == []


def _seams() -> Iterator[tuple[str, Any, str]]:
    """Our functions on the way of a call, but the wrappers themselves."""
    for owner, names in (
        (
            provider.LiteLLMFunction,
            ("_begin", "_asking_for_usage", "_failed", "_answered"),
        ),
        (retries.Retries, ("begin", "again", "hold", "end", "_end")),
        (provider.Begun, ("__init__",)),
        (
            provider,
            ("_follow", "_over", "_say_where", "body_of", "served_by", "begin", "current_retries"),
        ),
        (litellm_names, ("_known", "where_of")),
        (calls, ("with_usage", "_written")),
        (calls.ChunkAccumulator, ("__init__", "fold", "response")),
        (
            openai_chat._Choice,  # pyright: ignore[reportPrivateUsage]
            ("__init__", "fold", "_fold_tool", "plain"),
        ),
        (calls.LiteLLMChat, ("describe", "freeze", "describe_response", "reply")),
    ):
        for name in names:
            yield f"{getattr(owner, '__name__', owner)}.{name}", owner, name


SEAMS = {spelled: (owner, name) for spelled, owner, name in _seams()}


def _scenes(server: ModelServer) -> list[Any]:
    """A call, streams read and left, tries, an error, and the Router, as the caller sees them."""
    seen: list[Any] = []
    server.answer(chat())
    seen.append(litellm.completion(messages=HELLO, **openai(server)).choices[0].message.content)
    server.stream(chat_stream("Hel", "lo"))
    stream = litellm.completion(messages=HELLO, stream=True, **openai(server))
    chunks = list(stream)
    seen.append([c.choices[0].delta.content for c in chunks])
    seen.append([getattr(c, "usage", None) for c in chunks])
    server.stream(chat_stream("Hel", "lo"))
    left = litellm.completion(messages=HELLO, stream=True, **openai(server))
    seen.append(next(left).choices[0].delta.content)
    del left
    gc.collect()  # not while some pool of connections is locked
    server.answer({"error": {"message": "busy"}}, 500)
    server.answer(message())
    again = litellm.completion(messages=HELLO, **claude(server, num_retries=2))
    seen.append(again.choices[0].message.content)
    server.answer({"error": {"message": "busy"}}, 500)
    server.answer(message())
    router = TestAgain().router(claude(server), num_retries=1)
    seen.append(router.completion(model="x", messages=HELLO).choices[0].message.content)
    server.answer({"error": {"message": "no", "code": "nope"}}, 400)
    with pytest.raises(litellm.exceptions.BadRequestError) as caught:
        litellm.completion(messages=HELLO, **openai(server))
    seen.append(str(caught.value))

    async def run() -> None:
        server.answer(chat())
        reply = await litellm.acompletion(messages=HELLO, **openai(server))
        seen.append(reply.choices[0].message.content)
        server.stream(chat_stream("Hel", "lo"))
        stream = await litellm.acompletion(messages=HELLO, stream=True, **openai(server))
        seen.append([c.choices[0].delta.content async for c in stream])

    asyncio.run(run())
    return seen


@pytest.fixture(scope="module")
def untraced() -> list[Any]:
    """What the caller sees without us."""
    server = ModelServer()
    server.start()
    seen = _scenes(server)
    server.stop()
    return seen


@pytest.mark.parametrize("seam", few(SEAMS, list(SEAMS)[::4]))
def test_a_fault_costs_telemetry_only(
    seam: str,
    untraced: list[Any],
    spans: Recorded,
    server: ModelServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The caller sees what it sees without us; the fault is counted."""
    owner, name = SEAMS[seam]
    reached: list[str] = []

    def boom(*args: Any, **kwargs: Any) -> Any:
        reached.append(seam)
        raise RuntimeError(seam)

    monkeypatch.setattr(owner, name, boom)

    @turnspan.agent
    def everything() -> list[Any]:
        return _scenes(server)

    assert everything() == untraced
    if reached:
        assert errors.counts()
    errors.reset()


def test_switched_off_in_between(spans: Recorded, server: ModelServer) -> None:
    """With recording disabled nothing is made of a call."""
    before = config.active()
    config.activate(config.resolve({}, {"OTEL_SDK_DISABLED": "true"}))
    try:
        server.answer(chat())
        litellm.completion(messages=HELLO, **openai(server))
    finally:
        config.activate(before)
    assert spans.all() == []
