"""``responses.retrieve`` and ``cancel``: a response made before, perhaps in the background.

The first of them that finds a response ended which this process made in the background completes
the call that made it: its answer goes to the turn that is under way, its tokens to that call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from turnspan import semconv
from turnspan.providers.openai.events import ResponsesAccumulator
from turnspan.providers.openai.responses import (
    DIALECT,
    PENDING,
    Responses,
    describe_identity,
    read_reply,
    read_usage,
)
from turnspan.tracing.endpoint import Endpoint, ReplyFacts, fields_of, write_usage

_PATH: Final = "/responses/"
_OPERATIONS: Final = {
    ("get", ""): semconv.OP_FETCH_RESPONSE,
    ("post", "cancel"): semconv.OP_CANCEL_RESPONSE,
}


class FetchResponse(Endpoint):
    """``GET /responses/{id}`` or its ``/cancel``: no round of a turn, no tokens of its own, no
    input."""

    dialect = DIALECT

    def __init__(self, responses: Responses, operation: str = semconv.OP_FETCH_RESPONSE) -> None:
        self.operation = operation
        self._responses = responses

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes. Which response it is has no place in the span's name."""
        attributes.pop(semconv.REQUEST_MODEL, None)  # of a client for one deployment
        attributes[semconv.OPERATION_NAME] = self.operation
        attributes[semconv.OPENAI_API_TYPE] = "responses"
        attributes[semconv.RESPONSE_ID] = body["response_id"]
        after = body.get("starting_after")
        if type(after) is int:
            attributes[semconv.REQUEST_STREAM_CURSOR] = str(after)

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing was sent that a model saw."""
        return {}

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of a response; its tokens as those of the call it completes."""
        fields = fields_of(response)
        describe_identity(response, attributes, cut=cut)
        status, usage = fields.get("status"), fields.get("usage")
        if type(status) is str:
            attributes[semconv.RESPONSE_STATUS] = status
        if usage is not None and self._completes(fields):
            counts: dict[str, Any] = {}
            write_usage(read_usage(usage), counts)
            for name, count in counts.items():
                attributes[semconv.COMPLETED_USAGE[name]] = count

    def _completes(self, fields: Mapping[str, Any]) -> bool:
        status = fields.get("status")
        ended = type(status) is str and status not in PENDING
        return ended and fields.get("id") in self._responses.pending

    def reply(self, response: Any) -> ReplyFacts | None:
        """What it means for the turn: something, the first time after it ended in background."""
        fields = fields_of(response)
        if not self._completes(fields):
            return None
        reply = read_reply(fields)
        reply.made_by = self._responses.pending.pop(fields["id"], None)
        return reply

    def accumulator(self) -> ResponsesAccumulator:
        """A fresh accumulator."""
        return ResponsesAccumulator()


def asked_of(options: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """The operation of a request about one response, and what it asks; ``None`` for any other."""
    url, method = options.get("url"), str(options.get("method")).lower()
    if type(url) is not str or not url.startswith(_PATH):
        return None
    identity, _, rest = url.removeprefix(_PATH).partition("?")[0].partition("/")
    operation = _OPERATIONS.get((method, rest))
    if not identity or operation is None:
        return None
    parameters = options.get("params")
    asked: dict[str, Any] = dict(parameters) if isinstance(parameters, Mapping) else {}  # pyright: ignore[reportUnknownArgumentType]
    return operation, {**asked, "response_id": unquote(identity)}
