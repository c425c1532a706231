"""Responses that a provider makes in the background, and what fetches them later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.runtime.mypyc import mypyc_attr
from turnspan.tracing.endpoint import Accumulator, Endpoint, ReplyFacts, fields_of, write_usage
from turnspan.turn.turn import Turn

PENDING: Final = frozenset({"queued", "in_progress"})
"""What a response's status is while the model works on it in the background."""

_MAX_PENDING: Final = 10_000


@mypyc_attr(allow_interpreted_subclasses=True)
class BackgroundEndpoint(Endpoint):
    """An API whose responses may go on after the request for them was answered."""

    api_type = ""
    """Its name among OpenAI's (``openai.api.type``)."""

    def __init__(self) -> None:
        self.pending: dict[str, Turn | None] = {}
        """Responses made in the background whose end has not been seen, and who made them."""

    def describe_identity(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write which response it is and how it ended."""
        raise NotImplementedError

    def keep_pending(self, fields: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Note a response that goes on."""
        status, identity = fields.get("status"), fields.get("id")
        if status in PENDING:
            attributes[semconv.RESPONSE_STATUS] = status
            if isinstance(identity, str):
                self.pending[identity] = None
                while len(self.pending) > _MAX_PENDING:
                    self.pending.pop(next(iter(self.pending)), None)


class FetchResponse(Endpoint):
    """The request for a response made before, perhaps in the background, or for its end: no round
    of a turn, no tokens of its own, no input. What it asks is ``response_id``, ``starting_after``.

    The first of them that finds a response ended which this process made in the background
    completes the call that made it: its answer goes to the turn that is under way, its tokens to
    that call.
    """

    def __init__(
        self, made: BackgroundEndpoint, operation: str = semconv.OP_FETCH_RESPONSE
    ) -> None:
        self.operation = operation
        self.dialect = made.dialect
        self._made = made

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes. Which response it is has no place in the span's name."""
        attributes.pop(semconv.REQUEST_MODEL, None)  # of a client for one deployment
        attributes[semconv.OPERATION_NAME] = self.operation
        if self._made.api_type:
            attributes[semconv.OPENAI_API_TYPE] = self._made.api_type
        attributes[semconv.RESPONSE_ID] = body["response_id"]
        after = body.get("starting_after")
        if type(after) is int or type(after) is str:
            attributes[semconv.REQUEST_STREAM_CURSOR] = str(after)

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Nothing was sent that a model saw."""
        return {}

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write the attributes of a response; its tokens as those of the call it completes."""
        fields = fields_of(response)
        self._made.describe_identity(response, attributes, cut=cut)
        status = fields.get("status")
        if type(status) is str:
            attributes[semconv.RESPONSE_STATUS] = status
        reply = self._made.reply(response) if self._completes(fields) else None
        if reply is not None and reply.usage is not None:
            counts: dict[str, Any] = {}
            write_usage(reply.usage, counts)
            for name, count in counts.items():
                attributes[semconv.COMPLETED_USAGE[name]] = count

    def _completes(self, fields: Mapping[str, Any]) -> bool:
        status = fields.get("status")
        ended = type(status) is str and status not in PENDING
        return ended and fields.get("id") in self._made.pending

    def reply(self, response: Any) -> ReplyFacts | None:
        """What it means for the turn: something, the first time after it ended in background."""
        fields = fields_of(response)
        if not self._completes(fields):
            return None
        reply = self._made.reply(response)
        if reply is not None:
            reply.made_by = self._made.pending.pop(fields["id"], None)
        return reply

    def accumulator(self) -> Accumulator:
        """A fresh accumulator."""
        return self._made.accumulator()

    def error_code(self, error: BaseException) -> Any:
        """The provider's own code of an error, if it has one."""
        return self._made.error_code(error)
