"""Streams and raw responses of Google's Interactions API: one row each, however they end."""

from __future__ import annotations

import asyncio
import gc
import json
from typing import Any

import pytest

from providers.conftest import Spans, drained
from support import interaction_bodies as bodies
from support.gemini_facts import exchanges
from support.interaction_bodies import (
    MODEL,
    SPEECH,
    STEPS,
    events,
    function_call,
    interaction,
    model_output,
    thought_step,
)
from support.normalised import Landed
from support.representatives import few
from turnspan.testing import ModelServer

pytestmark = pytest.mark.needs("google.genai._gaos.interactions")


def made(spans: Spans) -> list[dict[str, Any]]:
    """The attributes of the calls, in the order in which they ended."""
    return [dict(span.attributes or {}) for span in spans.all()]


class TestStreams:
    """One row each, however they end."""

    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_read_to_the_end(
        self,
        asynchronous: bool,
        rows: Landed,
        server: ModelServer,
        google: Any,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """The events make up the interaction that would have come unstreamed, in one piece each or
        in many; the caller gets them all."""
        whole = interaction(*STEPS)
        text, arguments = STEPS[9]["content"], json.dumps(STEPS[10]["arguments"])
        pieces: dict[int, list[dict[str, Any]]] = {
            9: [
                {"type": "text", "text": "Let me"},
                {"type": "text", "text": " look."},
                {"type": "text_annotation_delta", "annotations": text[0]["annotations"]},
                text[1],
                SPEECH | {"data": SPEECH["data"][:4]},
                {"type": "audio", "data": SPEECH["data"][4:]},
            ],
            10: [
                {"type": "arguments_delta", "arguments": arguments[:5]},
                {"type": "arguments_delta", "arguments": arguments[5:]},
            ],
        }
        sent = events(whole, *[pieces.get(n) for n in range(len(STEPS))])
        server.answer(whole)
        server.stream(sent)
        asked: dict[str, Any] = {"model": MODEL, "input": "hi"}

        google.interactions.create(**asked)
        if asynchronous:

            async def run() -> list[Any]:
                return await drained(await google.aio.interactions.create(**asked, stream=True))

            got = loop.run_until_complete(run())
        else:
            got = list(google.interactions.create(**asked, stream=True))

        assert [event.event_type for event in got] == [name for name, _ in sent[:-1]]
        one, two = rows.calls
        assert rows.said(two.output_messages) == rows.said(one.output_messages)
        assert two.output_messages == one.output_messages
        for name in ("finish_reasons", "tool_calls", "response_text", "input_tokens", "cost_usd"):
            assert getattr(two, name) == getattr(one, name), name
        assert (two.stream, two.stream_outcome) == (True, "complete")
        assert two.time_to_first_chunk is not None
        assert 0 < two.time_to_first_chunk < 5

    @pytest.mark.parametrize("way", few(["close", "drop", "with"], ["drop"]))
    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_left(
        self,
        asynchronous: bool,
        way: str,
        spans: Spans,
        server: ModelServer,
        google: Any,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """A stream that is closed or dropped is abandoned, with what had arrived."""
        server.stream(
            events(interaction(thought_step("Hm."), model_output("It ", "may."))), hold_after=6
        )

        async def leave() -> None:
            stream = await google.aio.interactions.create(model=MODEL, input="a", stream=True)
            for _ in range(4):
                await anext(stream)
            if way == "close":
                await stream.close()
            elif way == "with":
                async with stream:
                    pass

        if asynchronous:
            loop.run_until_complete(leave())
        else:
            stream = google.interactions.create(model=MODEL, input="a", stream=True)
            for _ in range(4):
                next(stream)
            if way == "close":
                stream.close()
            elif way == "with":
                with stream:
                    pass
            del stream
        server.release.set()
        gc.collect()
        loop.run_until_complete(asyncio.sleep(0.01))
        gc.collect()

        (span,) = spans.all()
        attributes = dict(span.attributes or {})
        assert attributes["turnspan.stream.outcome"] == "abandoned"
        assert attributes["gen_ai.response.finish_reasons"] == ("error",)
        (step,) = spans.content(span).response["steps"]
        assert step["summary"] == [{"type": "text", "text": "Hm."}]

    def test_broken(self, rows: Landed, server: ModelServer, google: Any) -> None:
        """The connection breaks: half a tool's arguments stay a text, counts so far are kept."""
        sent = events(interaction(function_call(at="Rome")))
        sent[3][1]["delta"]["arguments"] = '{"at": "Ro'
        sent[3][1]["metadata"] = {"usage": bodies.USAGE}
        server.stream(sent, stop_after=4)
        options: dict[str, Any] = {"model": MODEL, "input": "hi", "stream": True}

        with pytest.raises(Exception):  # noqa: B017
            list(google.interactions.create(**options, automatic_continuation=False))

        (call,) = rows.calls
        assert call.stream_outcome == "error"
        assert json.loads(call.tool_calls)[0]["arguments"] == '{"at": "Ro'
        assert call.input_tokens == 130

    def test_an_error_on_the_way(self, rows: Landed, server: ModelServer, google: Any) -> None:
        """An event that says so ends the call as failed."""
        error = {"event_type": "error", "error": {"code": "overloaded", "message": "too much"}}
        server.stream([*events(interaction(model_output("It")))[:4], ("error", error)])

        list(google.interactions.create(model=MODEL, input="hi", stream=True))

        (call,) = rows.calls
        assert (call.error_type, call.error_message) == ("overloaded", "too much")
        assert (call.stream_outcome, call.response_text) == ("error", "It")

    def test_cancelled(
        self, spans: Spans, server: ModelServer, google: Any, loop: asyncio.AbstractEventLoop
    ) -> None:
        """A task that is cancelled, before the answer and amid it."""
        server.stream(events(interaction(model_output("It"))), hold_after=0)
        server.stream(events(interaction(model_output("It"))), hold_after=3)

        async def read() -> None:
            async for _ in await google.aio.interactions.create(
                model=MODEL, input="a", stream=True
            ):
                pass

        async def run() -> None:
            for _ in range(2):
                task = asyncio.ensure_future(read())
                await asyncio.sleep(0.3)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task

        loop.run_until_complete(run())
        server.release.set()
        assert [a["turnspan.stream.outcome"] for a in made(spans)] == ["cancelled", "cancelled"]

    def test_two_at_once(
        self, rows: Landed, server: ModelServer, google: Any, loop: asyncio.AbstractEventLoop
    ) -> None:
        """They do not mix."""
        for name in ("a", "b"):
            server.stream(events(interaction(model_output(name, name), id=name)))

        async def run() -> None:
            create = google.aio.interactions.create
            streams = [await create(model=MODEL, input=n, stream=True) for n in ("a", "b")]
            await asyncio.gather(*(drained(stream) for stream in streams))

        loop.run_until_complete(run())
        assert {(c.response_id, c.response_text) for c in rows.calls} == {("a", "aa"), ("b", "bb")}

    def test_hops(self, rows: Landed, server: ModelServer, google: Any) -> None:
        """The SDK goes on by itself where the API stopped for length: each request is a call, all
        are one turn of one session."""
        more = {"status": "requires_continuation", "continuation_token": "t1"}
        server.stream(events(interaction(model_output("It "), id="v1_a", **more)))
        server.stream(events(interaction(model_output("may."), id="v1_b")))
        server.answer(interaction(model_output("It "), id="v1_c", **more))
        server.answer(interaction(model_output("may."), id="v1_d"))

        list(google.interactions.create(model=MODEL, input="hi", stream=True))
        whole = google.interactions.create(model=MODEL, input="ho")

        assert whole.output_text == "It may."
        assert [call.response_text for call in rows.calls] == ["It ", "may."] * 2
        assert [call.finish_reasons[0] for call in rows.calls] == [
            "requires_continuation",
            "stop",
        ] * 2
        one, two, three, four = (call.session_id for call in rows.calls)
        assert (one, three) == (two, four)
        assert [turn.rounds for turn in rows.turns] == [2, 2]


class TestRawResponses:
    """The SDK's raw responses, whoever reads them."""

    def test_raw(self, rows: Landed, server: ModelServer, google: Any) -> None:
        """Read at once, parsed or not; a stream when it is parsed."""
        raw = google.interactions.with_raw_response
        for name in ("a", "b"):
            server.answer(interaction(model_output(name), id=name))
        server.stream(events(interaction(model_output("c"), id="c")))

        assert raw.create(model=MODEL, input="hi").parse().output_text == "a"
        raw.create(model=MODEL, input="hi")
        list(raw.create(model=MODEL, input="hi", stream=True).parse())

        assert [call.response_text for call in rows.calls] == ["a", "b", "c"]
        assert rows.calls[2].stream_outcome == "complete"

    @pytest.mark.parametrize("way", ["parse", "json", "bytes", "nothing"])
    @pytest.mark.parametrize("asynchronous", [False, True])
    def test_streaming(
        self,
        asynchronous: bool,
        way: str,
        rows: Landed,
        server: ModelServer,
        google: Any,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """Read inside a block, in whatever way."""
        server.answer(interaction(model_output("a")))
        asked: dict[str, Any] = {"model": MODEL, "input": "hi"}

        async def read() -> None:
            async with google.aio.interactions.with_streaming_response.create(**asked) as raw:
                if way == "parse":
                    await raw.parse()
                elif way == "json":
                    await raw.json()
                elif way == "bytes":
                    await drained(raw.iter_bytes())

        if asynchronous:
            loop.run_until_complete(read())
        else:
            with google.interactions.with_streaming_response.create(**asked) as raw:
                if way == "parse":
                    raw.parse()
                elif way == "json":
                    raw.json()
                elif way == "bytes":
                    list(raw.iter_bytes())

        (call,) = rows.calls
        assert call.response_text == ("a" if way in ("parse", "json") else "")

    def test_streaming_events(self, rows: Landed, server: ModelServer, google: Any) -> None:
        """A stream inside a block."""
        server.stream(events(interaction(model_output("It"))))

        create = google.interactions.with_streaming_response.create
        with create(model=MODEL, input="hi", stream=True) as raw:
            list(raw.parse())

        (call,) = rows.calls
        assert (call.response_text, call.stream_outcome) == ("It", "complete")


@pytest.mark.large_data
@pytest.mark.parametrize("asynchronous", [False, True])
def test_recorded_traffic(
    asynchronous: bool,
    rows: Landed,
    server: ModelServer,
    google: Any,
    loop: asyncio.AbstractEventLoop,
) -> None:
    """What the records say of recorded interactions is what their bodies say."""
    recorded = [one for one in exchanges() if one.url.endswith("/interactions")]
    assert len(recorded) >= 4

    for exchange in recorded:
        if exchange.streamed:
            server.stream([*exchange.answers, "[DONE]"])
        else:
            server.answer(exchange.answers[0])
        if asynchronous:

            async def play(asked: dict[str, Any] = exchange.request) -> None:
                answer = await google.aio.interactions.create(**asked)
                if asked.get("stream"):
                    await drained(answer)

            loop.run_until_complete(play())
        elif exchange.streamed:
            list(google.interactions.create(**exchange.request))
        else:
            google.interactions.create(**exchange.request)
        call = rows.calls[-1]
        last = exchange.answers[-1]
        whole = last.get("interaction", last)
        deltas = [each["delta"] for each in exchange.answers if "delta" in each]
        said = "".join(d["text"] for d in deltas if d["type"] == "text")
        thoughts = [d["content"]["text"] for d in deltas if d["type"] == "thought_summary"]
        usage = whole.get("usage", {})
        counts = [usage.get(f"total_{kind}_tokens", 0) for kind in ("input", "output", "thought")]
        assert call.request_model == (exchange.request.get("model") or exchange.request["agent"])
        assert (call.response_id, call.response_model) == (whole["id"], whole.get("model", ""))
        assert (call.response_text, call.response_thoughts) == (said, "\n".join(thoughts))
        ended = {"completed": ["stop"], "incomplete": ["length"], "in_progress": []}
        assert call.finish_reasons == ended[whole["status"]]
        if usage:
            assert (call.input_tokens, call.output_tokens) == (counts[0], counts[1] + counts[2])
            assert call.reasoning_tokens == counts[2]
            assert call.cost_usd is not None
        assert call.stream is bool(exchange.request.get("stream"))
        kinds = [part["type"] for _, parts in rows.said(call.input_messages) for part in parts]
        asked = exchange.request["input"]
        assert len(kinds) == (1 if isinstance(asked, str) else len(asked))
