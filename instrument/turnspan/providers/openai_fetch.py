"""``responses.retrieve``: fetching a response made before, perhaps in the background."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from turnspan import semconv
from turnspan.patching.endpoint import Reply, fields_of
from turnspan.providers.openai_events import ResponsesAccumulator
from turnspan.providers.openai_responses import (
    DIALECT,
    PENDING,
    Responses,
    describe_identity,
    read_reply,
)

_PATH: Final = "/responses/"


class FetchResponse:
    """``GET /responses/{id}``: no round of a turn, no tokens of its own, no input."""

    operation: str = semconv.OP_FETCH_RESPONSE
    dialect: str = DIALECT

    def __init__(self, responses: Responses) -> None:
        self._responses = responses

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes. Which response it is has no place in the span's name."""
        attributes.pop(semconv.REQUEST_MODEL, None)  # of a client for one deployment
        attributes[semconv.OPERATION_NAME] = semconv.OP_FETCH_RESPONSE
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
        """Write the attributes of a response, without its tokens: they are its creation's."""
        fields = fields_of(response)
        describe_identity(response, attributes, cut=cut)
        status = fields.get("status")
        if type(status) is str:
            attributes[semconv.RESPONSE_STATUS] = status

    def reply(self, response: Any) -> Reply | None:
        """What it means for the turn: something, the first time after it ended in background."""
        fields = fields_of(response)
        identity = fields.get("id")
        if fields.get("status") in PENDING or identity not in self._responses.pending:
            return None
        self._responses.pending.pop(identity, None)
        return read_reply(fields)

    def accumulator(self) -> ResponsesAccumulator:
        """A fresh accumulator."""
        return ResponsesAccumulator()

    def error_code(self, error: BaseException) -> Any:
        """``error.code`` as the API gave it."""
        return getattr(error, "code", None)


def fetched(options: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a request for one response asks; ``None`` for any other request."""
    url = options.get("url")
    if type(url) is not str or not url.startswith(_PATH) or options["method"].lower() != "get":
        return None
    identity = url.removeprefix(_PATH).partition("?")[0]
    if not identity or "/" in identity:
        return None
    parameters = options.get("params")
    asked: dict[str, Any] = dict(parameters) if isinstance(parameters, Mapping) else {}  # pyright: ignore[reportUnknownArgumentType]
    return {**asked, "response_id": unquote(identity)}
