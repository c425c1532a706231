"""Requests of a program that runs again, read as the recorder reads them: hashes are comparable."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import orjson

from turnspan import config, semconv
from turnspan.content.model import as_list
from turnspan.dialects.convert import split_request
from turnspan.redaction.redactor import Redactor
from turnspan.wire.exchange import request_body
from turnspan.wire.formats import ApiFormat, format_of, is_streamed, model_in
from turnspan.wire.operations import FREE, operation_of
from turnspan_clickhouse.normalise.llm_call import add_request
from turnspan_clickhouse.normalise.message_store import MessageScope, MessageStore
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import Definition, LlmCall, MessageRow
from turnspan_records.conversation import MessageRecord


@dataclass(frozen=True, slots=True)
class RequestPlace:
    """Where a program was when it asked: trace, turn, and thread or task; empty where unknown."""

    trace_id: str = ""
    turn_id: str = ""
    thread: str = ""

    @classmethod
    def read(cls, text: str) -> RequestPlace:
        """The place that the header ``x-turnspan-place`` names."""
        trace, _, rest = text.partition(":")
        turn, _, thread = rest.partition(":")
        return cls(*("" if one == "-" else one for one in (trace, turn, thread)))


@dataclass(frozen=True, slots=True)
class AskedRequest:
    """A request to a model. Hashes are in hex, as a recorded call's; ``target`` is path and query,
    ``body`` the JSON as sent, ``request_parameters`` all but messages, system prompt and tools, as
    JSON. ``of_framework``: all but the first four are of the framework's call that sends it."""

    form: ApiFormat
    target: str
    body: dict[str, Any]
    stream: bool
    operation: str
    request_model: str
    request_parameters: str
    input_hashes: list[str]
    system_hash: str
    tools_hash: str
    place: RequestPlace
    of_framework: bool


class RequestReader:
    """Reads requests by the code that records them, under the settings of this process.

    ``messages`` and ``definitions`` are those of all requests that were read. Thread-safe.
    """

    def __init__(self) -> None:
        settings = replace(config.resolve({}), content_limit_bytes=0)
        self.redactor = Redactor(settings)
        self.messages: dict[str, MessageRecord] = {}
        self.definitions: dict[str, tuple[str, str]] = {}
        self._framework_calls: dict[str, dict[str, Any]] = {}
        """Calls of frameworks whose requests have not come yet, by their ids."""
        self._store = MessageStore()
        self._lock = threading.Lock()

    def read(
        self, method: str, origin: str, target: str, headers: Mapping[str, str], data: bytes
    ) -> AskedRequest | None:
        """What a request asks a model for; ``None`` where it asks none.

        Args:
            method: the HTTP method.
            origin: scheme, host and port that it was for.
            target: path and query.
            headers: by their names in lowercase.
            data: the body.
        """
        path, host = urlsplit(target).path, urlsplit(origin).hostname or ""
        operation = operation_of(method, path, host)
        if operation == FREE:
            return None
        body = request_body(data, headers.get("content-type", ""))
        form = format_of(operation or semconv.OP_OTHER, "", path, body)
        endpoint = form.endpoint
        asked = endpoint.freeze(form.request(body))
        named = model_in(path)
        attributes: dict[str, Any] = {semconv.REQUEST_MODEL: named} if named else {}
        endpoint.describe(asked, attributes)
        own: dict[str, Any] = {
            "operation": endpoint.operation,
            "dialect": endpoint.dialect,
            "model": str(attributes.get(semconv.REQUEST_MODEL) or ""),
            "request": asked,
        }
        known = self._framework_calls.pop(headers.get("x-turnspan-framework-call", ""), {})
        own |= known
        row = self._hashed(own["dialect"], own["request"])
        return AskedRequest(
            form,
            target,
            body,
            is_streamed(form, path, body),
            own["operation"],
            own["model"],
            row.request_parameters,
            [one.hex() for one in row.input_messages],
            row.system_prompt.hex(),
            row.tool_definitions.hex(),
            RequestPlace.read(headers.get("x-turnspan-place", "")),
            of_framework=bool(known),
        )

    def expect(self, call: dict[str, Any]) -> None:
        """Read the next request that names this call of a framework as the call itself: it has
        ``id``, ``operation``, ``dialect``, ``model`` and ``request``."""
        self._framework_calls[call["id"]] = call

    def _hashed(self, dialect: str, asked: dict[str, Any]) -> LlmCall:
        """A row with the request's hashes; what is new of its content is remembered."""
        row, batch = LlmCall(), Batch("rerun", 0)
        batch.redactor = self.redactor
        with self._lock:
            scope = MessageScope(dialect, "", "rerun", batch)
            add_request(row, split_request(dialect, asked), 0, self._store, scope)
            for one in batch.rows.get(MessageRow, ()):
                assert isinstance(one, MessageRow)
                parts = as_list(orjson.loads(one.parts)) or []
                hash_ = one.hash.hex()
                self.messages[hash_] = MessageRecord(
                    hash_, one.role, one.name, parts, one.source, one.dialect
                )
            for other in batch.rows.get(Definition, ()):
                assert isinstance(other, Definition)
                self.definitions[other.hash.hex()] = (other.body, other.source)
        return row
