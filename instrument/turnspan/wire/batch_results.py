"""The results of a batch: each, once it is fetched, is the call that was made of a request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.runtime.guard import guard
from turnspan.runtime.type_guards import is_dict
from turnspan.wire.batches import batches
from turnspan.wire.formats import format_of
from turnspan.wire.operations import FREE, operation_of
from turnspan.wire.past_calls import PastCallError, failure, nanoseconds, record_call

_RESULT: Final = guard("wire.batch_result")
_PATHS: Final = {
    "response": "/v1/responses",
    "text_completion": "/v1/completions",
    "list": "/v1/embeddings",
}
"""The API that a response is of, by what it calls itself, where nothing else tells."""
_ENDS: Final = ("completed_at", "ended_at", "expired_at", "cancelled_at", "failed_at")


class BatchResults:
    """The results of one batch, or one of its files, as they are fetched."""

    _read = False

    def __init__(self, source: str, target: Mapping[str, Any]) -> None:
        self._source = source
        self._target = target
        self._batch = batches.batch_of(source)
        self._requests: dict[str, dict[str, Any]] | None = None

    def take(self, line: Any) -> bool:
        """A result; false: it is none, and the file another."""
        if not is_dict(line) or not isinstance(line.get("custom_id"), str):
            return False
        if not is_dict(line.get("result")) and not {"response", "error"} & line.keys():
            return False
        self._read = True
        if batches.claim(self._source, line["custom_id"]):
            with _RESULT:
                self._record(line, line["custom_id"])
        return True

    def ended(self, complete: bool) -> None:
        """No more come."""
        if complete and self._read:
            batches.complete(self._source)

    def _record(self, line: dict[str, Any], custom_id: str) -> None:
        if self._requests is None:
            self._requests = batches.requests_of(self._batch, self._source)
        asked = self._requests.get(custom_id) or {}
        result = line.get("result")
        response, error = _anthropic(result) if is_dict(result) else _openai(line)
        body: dict[str, Any] = asked.get("params") or asked.get("body") or {}
        path = self._path(asked, result, response)
        host = self._target[semconv.SERVER_ADDRESS]
        operation = operation_of("POST", path, host)
        if operation in (None, FREE):
            operation = semconv.OP_OTHER
        form = format_of(str(operation), "", path, body)
        target = {
            **self._target,
            semconv.BATCH_CUSTOM_ID: custom_id,
            semconv.RESPONSE_SERVICE_TIER: "batch",
        }
        identity = self._batch.get("id") or ("" if result is None else self._source)
        if identity:
            target[semconv.BATCH_ID] = identity
        ends = [when for when in map(self._batch.get, _ENDS) if when]
        times = nanoseconds(self._batch.get("created_at")), nanoseconds(ends[0] if ends else None)
        record_call(form.endpoint, target, body, response, error, times)

    def _path(self, asked: Mapping[str, Any], result: Any, response: Any) -> str:
        if result is not None:
            return "/v1/messages"
        named = asked.get("url") or self._batch.get("endpoint")
        if isinstance(named, str):
            return named
        kind = response.get("object") if is_dict(response) else None
        return _PATHS.get(str(kind), "/v1/chat/completions")


def _anthropic(result: dict[str, Any]) -> tuple[Any, PastCallError | None]:
    kind = result.get("type")
    if kind == "succeeded":
        return result.get("message"), None
    told = result.get("error") or {"type": str(kind)}
    return None, failure(told, f"the request was {kind}")


def _openai(line: dict[str, Any]) -> tuple[Any, PastCallError | None]:
    response = line.get("response")
    fields: dict[str, Any] = response if is_dict(response) else {}
    body, status = fields.get("body"), fields.get("status_code")
    if line.get("error"):
        return None, failure(line["error"], "the request was not made")
    if isinstance(status, int) and status >= 400:
        return None, failure(body, f"Error code: {status}")
    if is_dict(body):  # it says the tier of other requests
        body = {key: value for key, value in body.items() if key != "service_tier"}
    return body, None
