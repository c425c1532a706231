"""Which requests ask a model for something, by method, host and path, and who sends them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from opentelemetry import context as otel_context
from opentelemetry import trace

from turnspan import semconv
from turnspan.patching.models_on_the_wire import INSIDE, SENDERS, is_provider, sender
from turnspan.tracing.begin_call import current_call, is_suppressed
from turnspan.wire.operations import COSTING, FREE, asks_a_model_anywhere, operation_of

_MODEL_SPANS: Final = frozenset({"LLM", "EMBEDDING", "RERANKER"})


class ModelRequestSeen(NamedTuple):
    """A request that asks a model for something."""

    operation: str
    library: str
    """What sends it; empty: the application itself, by plain HTTP."""
    host: str


def seen(method: str, host: str, path: str) -> ModelRequestSeen | None:
    """What a request asks a model for; ``None`` where it asks none, or costs nothing.

    To a provider's host, and of an SDK, every one counts that is not known to be free; to any
    other host, those whose path only servers of models have.
    """
    if method not in COSTING:
        return None
    known = is_provider(host) or asks_a_model_anywhere(method, path)
    if not known and not _senders.any_imported():
        return None
    library = sender(inspect.currentframe())
    if not known and not library:
        return None
    operation = operation_of(method, path, f"{host} {library}")
    if operation == FREE:
        return None
    return ModelRequestSeen(operation or semconv.OP_OTHER, library, host)


class _Senders:
    """Whether the process has imported anything that sends requests to models."""

    def __init__(self) -> None:
        self._imported = False
        self._modules = 0
        """How many modules there were when none was found: an import makes them more."""

    def any_imported(self) -> bool:
        """Whether it has; what was imported stays."""
        modules = len(sys.modules)
        if not self._imported and modules != self._modules:
            self._modules = modules
            self._imported = not SENDERS.keys().isdisjoint(sys.modules.keys())
        return self._imported


_senders: Final = _Senders()


def is_covered() -> bool:
    """Whether a request that is sent now is recorded by whoever is around it, or is not to be: a
    call of ours, another package's span of a model call, or a block in which nothing is."""
    if INSIDE.get() or _is_traced() or current_call() is not None:
        return True
    return is_suppressed(otel_context.get_current())


def _is_traced() -> bool:
    """Whether the span current here is another package's, of a model call."""
    span: Any = trace.get_current_span()
    if not span.is_recording():
        return False
    attributes: Mapping[str, Any] = getattr(span, "attributes", None) or {}
    scope: str = getattr(getattr(span, "instrumentation_scope", None), "name", "")
    if scope.partition(".")[0] == semconv.SCOPE_PREFIX:
        return False  # a turn or a tool of ours, in which the call is made
    return (
        attributes.get(semconv.OPERATION_NAME) in semconv.INFERENCE_OPERATIONS
        or attributes.get("openinference.span.kind") in _MODEL_SPANS
        or "llm.request.type" in attributes
    )
