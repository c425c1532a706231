"""One and the same exchange through the real SDKs, and the rows that its spans land as."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from foreign.stub import ANSWER
from turnspan.content.blocks import WRITING
from turnspan.content.ledger import ledger
from turnspan_clickhouse.batch import Batch
from turnspan_clickhouse.normalise import Normaliser
from turnspan_clickhouse.records import Definition, LlmCall, Message, Record, ToolCall, TurnSummary

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
QUESTION = "What is the weather in Rome?"


class Rows(SpanExporter):
    """Normalises what it is given, a batch a span, and keeps each record's newest state."""

    def __init__(self) -> None:
        self._normaliser = Normaliser(ledger)
        self._clock = 0
        self._rows: dict[tuple[Any, ...], Record] = {}

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take the spans."""
        for span in spans:
            self._clock += 1
            batch = Batch("test", self._clock)
            self._normaliser.span(span, batch)
            self._normaliser.finish(batch)
            for kind, rows in batch.rows.items():
                for row in rows:
                    self._rows[kind, _identity(row)] = row
        return SpanExportResult.SUCCESS

    def of(self, kind: type[Any]) -> list[Any]:
        """The records of a kind, in the order they began."""
        found = [row for row in self._rows.values() if isinstance(row, kind)]
        return sorted(found, key=lambda row: getattr(row, "start_time", 0))

    @property
    def calls(self) -> list[LlmCall]:
        """The model calls."""
        return self.of(LlmCall)

    @property
    def tools(self) -> list[ToolCall]:
        """The tool calls."""
        return self.of(ToolCall)

    @property
    def turns(self) -> list[TurnSummary]:
        """The turns."""
        return self.of(TurnSummary)

    def said(self, hashes: list[bytes]) -> list[Any]:
        """Messages by their hashes: role and parts, but how exactly the request wrote them."""
        known = {m.hash: m for m in self.of(Message)}
        return [(known[h].role, _parts(json.loads(known[h].parts))) for h in hashes]

    def defined(self, digest: bytes) -> Any:
        """A definition by its hash; empty for none."""
        known = {d.hash: d.body for d in self.of(Definition)}
        return known.get(digest, "")


def _identity(row: Any) -> tuple[Any, ...]:
    """As the tables order by (their engines keep the newest of one identity)."""
    if isinstance(row, TurnSummary):
        return (row.session_id, row.start_time, row.turn_id)
    if isinstance(row, (LlmCall, ToolCall)):
        return (row.session_id, row.start_time, row.span_id)
    return (getattr(row, "hash", None) or getattr(row, "span_id", None),)


def _parts(parts: list[dict[str, Any]]) -> list[Any]:
    said = [{k: v for k, v in part.items() if k not in WRITING} for part in parts]
    return sorted(said, key=lambda part: str(part["type"]))


def provider(rows: Rows) -> TracerProvider:
    """A provider that lands what it records in these rows."""
    made = TracerProvider(resource=Resource({"service.name": "shop"}))
    made.add_span_processor(SimpleSpanProcessor(rows))
    return made


def run(module: str, kind: str, ask: Callable[[str], str], url: str) -> Rows:
    """The rows of the exchange, recorded by one instrumentor, within a request's span."""
    rows = Rows()
    made = provider(rows)
    instrumentor = getattr(import_module(module), kind)()
    ledger.attach()
    instrumentor.instrument(tracer_provider=made, skip_dep_check=True)
    try:
        with made.get_tracer("web").start_as_current_span("POST /ask"):
            assert ask(url) == ANSWER
    finally:
        instrumentor.uninstrument()
        made.shutdown()
        ledger.detach()
    return rows


def ask_openai(url: str) -> str:
    """An agent's loop over chat completions: a tool call, its result, the answer."""
    import openai

    client = openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0)
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": QUESTION},
    ]
    tool: Any = {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather.",
            "parameters": PARAMETERS,
        },
    }
    while True:
        reply = client.chat.completions.create(
            model="gpt-4o", messages=messages, tools=[tool], max_tokens=100, temperature=0.5
        )
        message = reply.choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": "sunny"}
            for call in message.tool_calls
        ]


def ask_anthropic(url: str) -> str:
    """The same over Anthropic's messages."""
    import anthropic

    client = anthropic.Anthropic(api_key="k", base_url=url, max_retries=0)
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    tool: Any = {
        "name": "get_weather",
        "description": "The weather.",
        "input_schema": PARAMETERS,
    }
    while True:
        reply = client.messages.create(
            model="claude-opus-4-5",
            max_tokens=100,
            system="Be brief.",
            messages=messages,
            tools=[tool],
        )
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "sunny"}
            for block in reply.content
            if block.type == "tool_use"
        ]
        if not results:
            return "".join(block.text for block in reply.content if block.type == "text")
        blocks = [block.model_dump(exclude_none=True) for block in reply.content]
        messages += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
