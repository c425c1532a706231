"""Any operation of a model that is no chat: its request, its answer and its usage."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from turnspan import semconv
from turnspan.dialects import model_request
from turnspan.providers.openai.usage import describe_usage
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.endpoint import Accumulator, Endpoint, fields_of
from turnspan.tracing.request_parameters import describe

Observer = Callable[[Mapping[str, Any], Mapping[str, Any]], object]
_USAGE: Final = ("usage", "usageMetadata", "usage_metadata", "meta")
_MODELS: Final = ("model", "model_id", "modelId", "agent", "engine")


class OperationEndpoint(Endpoint):
    """An operation without messages; no round of a turn. ``observer`` gets request and answer."""

    dialect = model_request.NAME

    def __init__(self, operation: str, observer: Observer | None = None) -> None:
        self.operation = operation
        self._observer = observer
        self._request: Mapping[str, Any] = {}

    def describe(self, body: Mapping[str, Any], attributes: dict[str, Any]) -> None:
        """Write the request's attributes."""
        attributes[semconv.OPERATION_NAME] = self.operation
        if self._observer is not None:
            self._request = body
        describe(body, attributes)
        names = [body[key] for key in _MODELS if isinstance(body.get(key), str)]
        if names:
            attributes.setdefault(semconv.REQUEST_MODEL, names[0])

    def freeze(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The request, which is ours already."""
        return dict(body)

    def describe_response(
        self, response: Any, attributes: dict[str, Any], *, cut: bool = False
    ) -> None:
        """Write which answer it is, its model and its usage, where it tells them."""
        fields = fields_of(response)
        for key, name in (("id", semconv.RESPONSE_ID), ("model", semconv.RESPONSE_MODEL)):
            if isinstance(fields.get(key), str):
                attributes[name] = fields[key]
        for key in _USAGE:
            counts = fields.get(key)
            if is_dict(counts):
                describe_usage(counts.get("tokens") or counts, attributes)
        if self._observer is not None:
            self._observer(self._request, fields)

    def accumulator(self) -> Accumulator:
        """A fresh accumulator."""
        return LastEvent()


class LastEvent(Accumulator):
    """Of a stream whose events bring the pieces of a file: the last one, which tells the usage."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, Any] | None = None

    def fold(self, chunk: Any) -> bool:
        """Take an event in."""
        if self.first is None:
            self.first = time.perf_counter()
        if is_dict(chunk):
            self._last = chunk
        return False

    def response(self) -> dict[str, Any] | None:
        """The last event."""
        return self._last
