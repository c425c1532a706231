"""A request as Helicone exports it: by its export tool, its REST API or its page
(https://docs.helicone.ai/tools/export, ``POST /v1/request/query-clickhouse``).

The bodies are those of the provider's API, or of OpenAI's where the request went through Helicone's
own gateway, and of a tool or another event that the application logged itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any, Final
from urllib.parse import urlsplit

from opentelemetry.sdk.trace import ReadableSpan

from turnspan import semconv
from turnspan.content.model import as_dict, as_list, dumps_text
from turnspan.providers.google_genai.content import GenerateContent
from turnspan.providers.hosts import provider_of
from turnspan.tracing.content_store import Content, ToolContent
from turnspan.tracing.endpoint import Endpoint
from turnspan_clickhouse.foreign_dialects.base import provider as provider_name
from turnspan_records.importing import ids
from turnspan_records.importing.exports.exported_rows import Row, mapping, number, text
from turnspan_records.importing.spans import resource_of, scope_of, span_of
from turnspan_records.importing.transcripts.anthropic import ANTHROPIC
from turnspan_records.importing.transcripts.calls import SpanOrigin, TranscriptCall
from turnspan_records.importing.transcripts.exchanges import Exchange, exchange_of
from turnspan_records.importing.transcripts.fields import hex_number, nanoseconds, opened
from turnspan_records.importing.transcripts.openai import OPENAI

KIND: Final = "helicone"
TOOL: Final = "tool"
"""The ``_type`` of a request that is a run of a tool; other events have other ones."""
_RESOURCE: Final = resource_of(KIND)
_SCOPE: Final = scope_of(KIND)
_GEMINI: Final = GenerateContent()
_SESSION: Final = "helicone-session-id"
_NOT_KEPT: Final = "helicone_message"
"""Stands in the place of a body that is to be fetched by its ``signed_body_url``."""
_NAMES: Final = {"costUSD": "cost", "cost_usd": "cost", "latency": "delay_ms"}
"""Columns that other exports call otherwise."""
_STATUSES: Final = {-3: "cancelled", -4: "threat"}
"""Helicone's own, which are none of HTTP's. -2 is that of a request under way."""
_FAILED: Final = 400
_COUNTS: Final = {
    "prompt_tokens": semconv.USAGE_INPUT_TOKENS,
    "completion_tokens": semconv.USAGE_OUTPUT_TOKENS,
    "prompt_cache_read_tokens": semconv.USAGE_CACHE_READ_INPUT_TOKENS,
    "prompt_cache_write_tokens": semconv.USAGE_CACHE_WRITE_INPUT_TOKENS,
}
_KEPT: Final = ("request_path", "country_code", "model_override", "request_referrer")
_NO_ID: Final = "00000000-0000-0000-0000-000000000000"
_PROVIDERS: Final = {"azure": "azure.ai.openai", "google": "gcp.gemini", "x": "x_ai"}
"""Helicone's names that ``foreign_dialects`` reads otherwise or not at all."""


@lru_cache(256)
def origin_of(provider: str) -> SpanOrigin:
    """What all calls of a provider have in common."""
    return SpanOrigin(provider, True, _RESOURCE, _SCOPE)


def exported(value: Any) -> Iterator[Row]:
    """The requests of a line: one, a list, or a page of the API."""
    line = as_dict(value)
    if line is None or as_list(line.get("data")) is not None:
        for each in as_list(value if line is None else line["data"]) or []:
            yield from exported(each)
        return
    row = {
        _NAMES.get(name, name): _undoubled(each)
        for name, each in line.items()
        if each is not None and each != ""
    }
    known = row.keys() & {"request_id", "response_id", "request_body"}
    if known and row.keys() & {"request_created_at", "response_created_at"}:
        yield row


def _undoubled(value: Any) -> Any:
    """JSON as it was: the CSV of the export tool doubles its quotation marks twice."""
    if isinstance(value, str) and value.startswith('{""') and opened(value) is value:
        return value.replace('""', '"')
    return value


def _body(row: Row, name: str) -> Any:
    """A body, as its JSON says it; None where the export has none."""
    said = mapping(row, "signed_body_content").get(name.removesuffix("_body"))
    value = opened(said or row.get(name))
    fields = as_dict(value)
    return None if fields is not None and fields.keys() == {_NOT_KEPT} else value


class HeliconeRequest:
    """One request, its ids, times in ns, and what was sent and answered."""

    def __init__(self, row: Row) -> None:
        self.row = row
        self.identity = text(row, "request_id") or text(row, "response_id")
        self.start = nanoseconds(row.get("request_created_at")) or 0
        self.trace_id = hex_number(self.identity.replace("-", ""), 32) or ids.trace_id(
            KIND, self.identity
        )
        self.span_id = ids.span_id(KIND, self.identity)
        self.sent, self.came = _body(row, "request_body"), _body(row, "response_body")
        properties = mapping(row, "request_properties") or mapping(row, "properties")
        self.properties = {name.lower(): value for name, value in properties.items()}
        self.session = text(self.properties, _SESSION)
        kind = (as_dict(self.sent) or {}).get("_type")
        self.event = kind if isinstance(kind, str) else ""
        """What an event of the application's own is; empty for a call of a model."""

    @property
    def end(self) -> int:
        """When it was answered."""
        took = number(self.row.get("delay_ms"))
        if took is not None and took > 0:
            return self.start + round(took * 1e6)
        return max(self.start, nanoseconds(self.row.get("response_created_at")) or 0)

    @property
    def damaged(self) -> str:
        """The body that is said to be JSON and is none; empty: neither is."""
        for name, value in (("request body", self.sent), ("response body", self.came)):
            if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
                return name
        return ""

    @cached_property
    def call(self) -> TranscriptCall:
        """The call of a model that it is."""
        exchange = self._exchange()
        endpoint = self._endpoint(exchange)
        streamed = as_list((exchange.response or {}).get("streamed_data"))
        if streamed is not None and len(exchange.response or {}) == 1:
            folded = endpoint.accumulator()
            for chunk in streamed:
                folded.fold(chunk)
            exchange.response = folded.response()
        return TranscriptCall(
            endpoint,
            exchange.request or {},
            exchange.response,
            self.trace_id,
            self.span_id,
            self.start,
            self.end,
            self.session,
            exchange.error,
            exchange.message,
            self._host,
            self._beside(),
        )

    def _exchange(self) -> Exchange:
        sent, status = as_dict(self.sent) or {}, number(self.row.get("response_status")) or 0
        came = self.came if as_dict(self.came) is not None else None
        if came is None and isinstance(self.came, str) and not self.damaged:
            came = {"error": {"message": self.came}}
        found = None
        if came is not None:
            found = exchange_of({"response": {"status_code": int(status), "body": came}})
        found = found or Exchange()
        if not found.error and (status >= _FAILED or int(status) in _STATUSES):
            found.error = _STATUSES.get(int(status), str(int(status)))
        found.request = sent
        found.holders = [{"url": text(self.row, "request_path") or text(self.row, "target_url")}]
        return found

    def _endpoint(self, exchange: Exchange) -> Endpoint:
        """The API that the bodies are of: a gateway's are OpenAI's, whoever answers."""
        request, response = exchange.request or {}, exchange.response or {}
        if "candidates" in response or "contents" in request:
            return _GEMINI
        openai = text(self.row, "ai_gateway_body_mapping").upper() == "OPENAI"
        if response.get("type") == "message" or (
            self._named == "anthropic" and not openai and "choices" not in response
        ):
            return ANTHROPIC.endpoint(exchange)
        return OPENAI.endpoint(exchange)

    @property
    def _named(self) -> str:
        name = text(self.row, "provider").lower()
        return "" if name in ("custom", "helicone") else _PROVIDERS.get(name, provider_name(name))

    @property
    def _host(self) -> str:
        """The provider's server; empty where only Helicone's is known."""
        for name in ("target_url", "request_path"):
            try:
                host = urlsplit(text(self.row, name)).hostname or ""
            except ValueError:
                continue
            if host and not host.endswith((".helicone.ai", ".hconeai.com")):
                return host
        return ""

    @property
    def provider(self) -> str:
        """The provider as the GenAI conventions call it, else by the server."""
        return self._named or provider_of(self._host, "openai")

    def _beside(self) -> Row:
        """What the export says beside the bodies."""
        row = self.row
        first = number(row.get("time_to_first_token"))
        counts = {name: number(row.get(column)) for column, name in _COUNTS.items()}
        cached = text(row, "cache_reference_id")
        beside: Row = {
            semconv.USER_ID: text(row, "request_user_id") or text(row, "helicone_user") or None,
            semconv.REQUEST_MODEL: text(row, "request_model") or text(row, "model") or None,
            semconv.RESPONSE_MODEL: text(row, "response_model") or None,
            semconv.PROMPT_NAME: text(row, "prompt_id") or None,
            semconv.PROMPT_VERSION: text(row, "prompt_version") or None,
            semconv.RESPONSE_TIME_TO_FIRST_CHUNK: first / 1e3 if first else None,
            "helicone.request.id": self.identity,
            "helicone.cache_reference_id": cached if cached != _NO_ID else None,
            **{f"helicone.{name}": text(row, name) or None for name in _KEPT},
            **{
                f"helicone.property.{name}": value if isinstance(value, str) else dumps_text(value)
                for name, value in self.properties.items()
                if value is not None
            },
            **{name: int(count) for name, count in counts.items() if count},
        }
        return {name: value for name, value in beside.items() if value is not None}

    def span_and_content(self) -> tuple[ReadableSpan, Content | None]:
        """Its span, and what was said; an event that is no tool says it in attributes."""
        if not self.event:
            return self.call.span_and_content(origin_of(self.provider))
        sent = as_dict(self.sent) or {}
        name = text(sent, "toolName") or text(sent, "name") or self.event
        status = number(self.row.get("response_status")) or 0
        attributes = {**self._beside(), semconv.CONVERSATION_ID: self.session or None}
        content: Content | None = None
        if self.event == TOOL:
            attributes[semconv.OPERATION_NAME] = semconv.OP_EXECUTE_TOOL
            attributes[semconv.TOOL_NAME] = name
            content = ToolContent(sent.get("input"), self.came)
        else:
            attributes["helicone.request"] = dumps_text(sent)
            attributes["helicone.response"] = None if self.came is None else dumps_text(self.came)
        span = span_of(
            f"{semconv.OP_EXECUTE_TOOL} {name}" if self.event == TOOL else name,
            trace_id=self.trace_id,
            span_id=self.span_id,
            start_time=self.start,
            end_time=self.end,
            attributes=attributes,
            resource=_RESOURCE,
            scope=_SCOPE,
            error=str(int(status)) if status >= _FAILED else None,
        )
        return span, content

    @property
    def what(self) -> str:
        """What an import's report calls it."""
        if self.event:
            return "a tool" if self.event == TOOL else "an event"
        if self.sent is None and self.came is None:
            return "a call without bodies: export them with --include-body"
        return "a call that failed" if self.call.error else "a call"
