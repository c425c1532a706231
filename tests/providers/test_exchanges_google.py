"""Recorded traffic of Gemini's API through the methods that an application calls: every field of
the records is what the bodies say, read here without the product's code."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from providers.conftest import Spans
from support import gemini_facts as facts
from support.cassette_table import record
from support.gemini_facts import Exchange
from support.gemini_replay import by_types, token
from support.google_sdk import errors, genai, types
from support.sealing import rebuild_record
from support.shared import enough
from turnspan import config
from turnspan.content.model import as_dict, as_list
from turnspan.testing import ModelServer
from turnspan.tracing.state import default
from turnspan_clickhouse.normalise.normaliser import Normaliser
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import Definition, LlmCall, MessageRow

pytestmark = [pytest.mark.large_data, pytest.mark.slow]


@pytest.fixture(autouse=True)
def _unmasked(settings: None) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Records are compared to the letter, secrets included."""
    config.activate(config.resolve({"mask_secrets": False}))
    yield


class Player:
    """Plays exchanges by the SDK, each as it was recorded, or its answer streamed."""

    def __init__(self, server: ModelServer, loop: asyncio.AbstractEventLoop | None) -> None:
        self.server = server
        self.loop = loop
        options: Any = {"base_url": server.url}
        self._clients = {
            False: genai.Client(api_key="k", http_options=options),
            True: genai.Client(
                vertexai=True,
                credentials=token(),
                project="p",
                location="us-central1",
                http_options=options,
            ),
        }

    def play(
        self, exchange: Exchange, *, streamed: bool, exact: bool = False
    ) -> tuple[Any, list[Any]]:
        """What was sent, and the answers that came. ``exact``: the request to the letter."""
        answers = exchange.answers
        if streamed and not exchange.streamed:
            answers = in_pieces(answers[0])
        if streamed and exchange.status < 400:
            self.server.stream(answers)
        else:
            self.server.answer(answers[0], exchange.status)
        client, sent = self._clients[exchange.vertex], len(self.server.requests)
        arguments = None if exact else by_types(exchange)
        if arguments is not None:
            models: Any = client.aio.models if self.loop else client.models
            self._tried(exchange, lambda: self._ask(models, exchange, arguments, streamed))
        if len(self.server.requests) == sent:  # these versions have no words for it
            self._tried(exchange, lambda: self._send(client._api_client, exchange, streamed))
        assert len(self.server.requests) == sent + 1, exchange.name
        return self.server.requests[sent].body, answers

    def _tried(self, exchange: Exchange, ask: Callable[[], None]) -> None:
        try:
            ask()
        except errors.APIError:
            assert exchange.status >= 400, exchange.name
        except (ValueError, TypeError, AttributeError):
            pass  # before anything was sent; or of the SDK's reading, in the middle of a stream
        else:
            return
        gc.collect()
        if self.loop:
            self.loop.run_until_complete(asyncio.sleep(0))

    def _ask(self, models: Any, exchange: Exchange, given: dict[str, Any], streamed: bool) -> None:
        if "mbed" in exchange.asks or exchange.asks == "predict":
            self._done(models.embed_content(**given))
        elif streamed:
            self._drained(models.generate_content_stream(**given))
        else:
            self._done(models.generate_content(**given))

    def _send(self, client: Any, exchange: Exchange, streamed: bool) -> None:
        path = f"models/{exchange.model}:{exchange.asks}"
        if streamed:
            path = f"models/{exchange.model}:streamGenerateContent?alt=sse"
            method = client.async_request_streamed if self.loop else client.request_streamed
            self._drained(method("post", path, {**exchange.request}, None))
        else:
            method = client.async_request if self.loop else client.request
            self._done(method("post", path, {**exchange.request}, None))

    def _done(self, result: Any) -> None:
        if self.loop:
            self.loop.run_until_complete(result)

    def _drained(self, stream: Any) -> None:
        async def drain() -> None:
            async for _ in await stream:
                pass

        if self.loop:
            self.loop.run_until_complete(drain())
        else:
            for _ in stream:
                pass


def in_pieces(answer: Any) -> list[Any]:
    """An answer as a stream: a chunk a part, texts in two, all else with the last."""
    chunks: list[Any] = []
    head = {k: answer[k] for k in ("responseId", "modelVersion") if k in answer}
    for candidate in facts.listed(answer, "candidates"):
        for part in facts.parts_of(candidate.get("content")):
            pieces: list[Any] = [part]
            if len(part.get("text", "")) > 1 and not part.keys() - {"text", "thought"}:
                half = len(part["text"]) // 2
                pieces = [{**part, "text": part["text"][:half]}]
                pieces.append({**part, "text": part["text"][half:]})
            for piece in pieces:
                content = {**candidate["content"], "parts": [piece]}
                at = {"index": candidate["index"]} if "index" in candidate else {}
                chunks.append({**head, "candidates": [{**at, "content": content}]})
    last = {
        **answer,
        "candidates": [
            {k: v for k, v in candidate.items() if k != "content"}
            for candidate in facts.listed(answer, "candidates")
        ],
    }
    return [*chunks, last if answer.get("candidates") else answer]


# -- what is recorded ------------------


class Recorded:
    """The rows of the only model call."""

    def __init__(self, spans: Spans) -> None:
        (span,) = spans.all()
        spans.exporter.clear()
        batch = Batch("test", 1)
        Normaliser(default.content, "test").span(span, batch)
        (row,) = batch.rows[LlmCall]
        assert isinstance(row, LlmCall)
        self.row = row
        self.provider = row.provider
        self.attributes: dict[str, str] = (
            row.attributes if isinstance(row.attributes, dict) else row.attributes.texts()
        )
        self._messages = {
            m.hash: m for m in batch.rows.get(MessageRow, []) if isinstance(m, MessageRow)
        }
        self._bodies = {
            d.hash: d for d in batch.rows.get(Definition, []) if isinstance(d, Definition)
        }

    def rebuilt(self, hashes: list[bytes]) -> list[Any]:
        """Messages as the API writes them."""
        found = [self._messages[each] for each in hashes]
        return [rebuild_record(m.dialect, m.role, m.name, m.parts, m.source) for m in found]

    def said(self, hashes: list[bytes]) -> list[list[tuple[Any, ...]]]:
        """Their parts in the GenAI schema."""
        return [facts.kept(json.loads(self._messages[each].parts)) for each in hashes]

    def defined(self, digest: bytes) -> Any:
        """The provider's own form of a definition."""
        found = self._bodies.get(digest)
        return None if found is None else json.loads(found.source or found.body)

    @property
    def details(self) -> Any:
        """What the answer says beside its messages."""
        return json.loads(self.attributes.get("turnspan.response.details", "{}"))


def differences(exchange: Exchange, sent: Any, answers: list[Any], spans: Spans) -> Iterator[str]:
    """Where the record is not what was sent and answered."""
    try:
        found = Recorded(spans)
    except ValueError as error:
        yield f"not one call: {error}"
        return
    row = found.row

    def differ(name: str, expected: Any, seen: Any) -> Iterator[str]:
        if expected != seen:
            yield f"{name}: {str(expected)[:600]} expected, {str(seen)[:600]} recorded"

    yield from differ("model", exchange.model, row.request_model)
    yield from differ(
        "provider", "gcp.vertex_ai" if exchange.vertex else "gcp.gemini", row.provider
    )
    yield from differ_request(sent, found, differ)
    if exchange.status >= 400:
        problem = answers[0]["error"]
        yield from differ("error", problem["status"], row.error_type)
        yield from differ("message", True, problem["message"] in row.error_message)
        return
    yield from differ("error", "", row.error_type)
    if row.operation == "embeddings":
        yield from differ_vectors(answers[0], found, differ)
        return
    yield from differ_answer(answers, found, differ)


def differ_request(sent: Any, found: Recorded, differ: Any) -> Iterator[str]:
    """Contents, system instruction, tools and all else."""
    row, taken = found.row, {"contents", "tools"}
    if row.operation == "embeddings":
        many = sent.get("requests") or sent.get("instances") or [sent]
        texts = [
            [("text", c, None)] if isinstance(c, str) else facts.said(facts.parts_of(c))
            for c in (each["content"] for each in many)
        ]
        yield from differ("embedded", texts, found.said(row.input_messages))
        return
    contents = facts.contents_of(sent)
    expected = [facts.said(facts.parts_of(c)) for c in contents]
    yield from differ("contents", expected, found.said(row.input_messages))
    whole = facts.without_bytes(contents)
    yield from differ("contents rebuilt", whole, found.rebuilt(row.input_messages))
    yield from differ("tools", sent.get("tools") or None, found.defined(row.tool_definitions))
    if sent.get("systemInstruction"):
        taken.add("systemInstruction")
        system = found.defined(row.system_prompt)
        yield from differ("system", sent["systemInstruction"], system)
    parameters = {k: v for k, v in sent.items() if k not in taken}
    yield from differ("parameters", parameters, json.loads(row.request_parameters or "{}"))


def differ_answer(answers: list[Any], found: Recorded, differ: Any) -> Iterator[str]:
    """Messages, identity, tokens, and all else."""
    row, counts = found.row, facts.usage_of(answers)
    read = facts.joined if len(answers) > 1 else facts.said
    contents = [
        read([part for piece in pieces for part in facts.parts_of(piece.get("content"))])
        for _, pieces in sorted(facts.candidates_of(answers).items())
        if any(piece.get("content") for piece in pieces)
    ]
    recorded = found.said(row.output_messages)
    if len(answers) > 1:
        recorded = [[p for p in parts if p[:2] != ("text", "") or p[2]] for parts in recorded]
    yield from differ("answer", contents, recorded)
    first = contents[0] if contents else []
    text = "".join(part[1] for part in first if part[0] == "text")
    thoughts = "\n".join(part[1] for part in first if part[0] == "reasoning")
    calls = [
        {"id": part[1] or "", "name": part[2], "arguments": part[3]}
        for part in first
        if part[0] == "tool_call"
    ]
    yield from differ("text", text, row.response_text)
    yield from differ("thoughts", thoughts, row.response_thoughts)
    yield from differ("calls", calls, json.loads(row.tool_calls or "[]"))
    yield from differ("reasons", facts.reasons_of(answers), row.finish_reasons)
    for name, key in (("response_id", "responseId"), ("response_model", "modelVersion")):
        newest = [a[key] for a in answers if a.get(key)][-1:]
        yield from differ(name, newest, [v for v in [getattr(row, name)] if v])
    for name, count in facts.tokens_of(counts).items():
        yield from differ(name, count, getattr(row, name))
    modalities = {
        name: value
        for name, value in found.attributes.items()
        if name.split(".")[2:3]
        and name.split(".")[2] in ("text", "image", "audio", "video", "tool")
    }
    yield from differ("modalities", facts.modalities_of(counts), modalities)
    searches = int(found.attributes.get("turnspan.usage.web_searches", 0))
    yield from differ("searches", facts.searches_of(answers), searches)
    cost = facts.cost_of(answers, row.request_model)
    yield from differ("cost", cost, row.cost_usd)
    missing = facts.beside(answers) - facts.leaves_of(found.details)
    yield from differ("beside", {}, dict(missing))


def differ_vectors(answer: Any, found: Recorded, differ: Any) -> Iterator[str]:
    """Tokens, dimensions, and all but the numbers."""
    whole = json.loads(json.dumps(answer), object_hook=lambda o: _without_numbers(o))
    counted = [
        each["embeddings"]["statistics"]["token_count"]
        for each in facts.listed(answer, "predictions")
    ]
    tokens = facts.fielded(answer, "usageMetadata").get("promptTokenCount")
    expected = sum(counted) if counted else tokens
    yield from differ("tokens", expected, found.row.input_tokens)
    size = str(len(_numbers(answer)))
    yield from differ("size", size, found.attributes.get("gen_ai.embeddings.dimension.count"))
    missing = facts.leaves_of(whole) - facts.leaves_of(found.details)
    yield from differ("beside", {}, dict(missing))


def _without_numbers(value: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in value.items() if k != "values"}


def _numbers(value: Any) -> list[Any]:
    fields, items = as_dict(value), as_list(value)
    if fields is not None and "values" in fields:
        return list(fields["values"])
    within = fields.values() if fields is not None else items or ()
    return next((found for found in map(_numbers, within) if found), list[Any]())


# -- the tests ------------------


@pytest.mark.parametrize(
    ("way", "mode", "share"),
    [
        ("sync", "as recorded", 3),
        ("async", "streamed", 3),
        *(
            pytest.param(way, mode, 1, marks=pytest.mark.release)
            for way in ("sync", "async")
            for mode in ("as recorded", "streamed", "to the letter")
        ),
    ],
)
def test_recorded_exchanges(
    way: str,
    mode: str,
    share: int,
    spans: Spans,
    server: ModelServer,
    loop: asyncio.AbstractEventLoop,
) -> None:
    """One row each, field by field: of whole answers and of streams, of whole ones streamed, and of
    requests that the SDK would write otherwise. `make test` plays every third exchange."""
    streamed, exact = mode == "streamed", mode == "to the letter"
    player = Player(server, loop if way == "async" else None)
    calls = [e for e in facts.exchanges() if e.asks in facts.CALLS]
    if streamed:
        calls = [e for e in calls if e.asks == "generateContent" and e.status < 400]
    assert len(calls) >= enough(330, 0)
    wrong: list[str] = []
    for exchange in calls[::share]:
        spans.exporter.clear()
        if exchange.status == 401 and not hasattr(types, "HttpRetryOptions"):
            reason = "the oldest versions send again what is not authorized"
            record("google exchanges", f"{exchange.asks} whole ({way})", False, reason)
            continue
        sent, answers = player.play(exchange, streamed=streamed or exchange.streamed, exact=exact)
        assert not exact or sent == exchange.request, exchange.name
        found = [f"{exchange.name}: {each}" for each in differences(exchange, sent, answers, spans)]
        wrong += found
        kind = "streamed" if streamed or exchange.streamed else "whole"
        record("google exchanges", f"{exchange.asks} {kind} ({way})", not found)
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong[:400])


def test_what_is_no_call_leaves_no_record(spans: Spans, server: ModelServer) -> None:
    """Counting tokens leaves none; caches and batches, which are made later and elsewhere, leave
    generic records."""
    options: Any = {"base_url": server.url}
    played: list[str] = []
    for exchange in facts.exchanges():
        if exchange.asks in facts.CALLS or exchange.asks == "interactions":
            continue
        client = genai.Client(vertexai=exchange.vertex, api_key="k", http_options=options)
        server.answer(exchange.answers[0], exchange.status)
        path = exchange.url.partition(".googleapis.com/")[2].partition("/")[2]
        client._api_client.request("post", path, {**exchange.request}, None)
        played.append(exchange.asks)

    assert len(played) == enough(7, 0)
    operations = {str((span.attributes or {})["gen_ai.operation.name"]) for span in spans.all()}
    assert operations <= {"batch", "other"}
    assert len(spans.all()) == sum("ount" not in name for name in played)
