"""Calls that a provider made earlier and tells of now: recorded outside whatever happens to fetch
what it tells, with the times that it tells."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.begin_call import begin
from turnspan.tracing.endpoint import Endpoint
from turnspan.tracing.model_call import ModelCall
from turnspan.tracing.recording import detach
from turnspan.tracing.state import current, within
from turnspan.wire.tracer import tracer

_BILLION: Final = 1_000_000_000
K = TypeVar("K")
V = TypeVar("V")


class PastCallError(Exception):
    """The provider tells that a call failed, in the body of an error."""

    def __init__(self, text: str, body: Any, code: Any) -> None:
        super().__init__(text)
        self.body = body
        self.code = code


def failure(error: Any, text: str) -> PastCallError:
    """What a provider tells of a call that failed: an error, or what an error is wrapped in."""
    body: dict[str, Any] = error if is_dict(error) else {}
    inner = body.get("error")
    inner = inner if is_dict(inner) else body
    return PastCallError(text, {"error": inner}, inner.get("code") or inner.get("type"))


def record_call(
    endpoint: Endpoint,
    target: Mapping[str, Any],
    request: Mapping[str, Any],
    response: Any,
    error: BaseException | None,
    times: tuple[int | None, int | None],
) -> None:
    """Record a call.

    Args:
        endpoint: How request and response read.
        target: The attributes of provider and server, and further ones.
        request: Its body, as far as it is known.
        response: Its response's body; None where it failed.
        error: How it failed.
        times: When it began and ended, ns since the epoch; None where that is not known.
    """
    now = time.time_ns()
    start, end = times
    began = start or end or now
    ended = max(end or now, began)
    since = time.perf_counter() - (ended - began) / _BILLION
    token = otel_context.attach(within(Context(), current()))
    try:
        call: ModelCall | None = begin(
            tracer(), endpoint, target, request, stream=False, began=(began, since)
        )
        if call is not None:
            call.end_time = ended
            call.close(response, response, error=error)
    finally:
        detach(token)


def nanoseconds(when: Any) -> int | None:
    """A time as providers write it (seconds since the epoch, or RFC 3339) in ns since the epoch."""
    if isinstance(when, (int, float)) and when > 0:
        return int(when * _BILLION)
    if not isinstance(when, str):
        return None
    try:
        return int(datetime.fromisoformat(when.replace("Z", "+00:00")).timestamp() * 1e6) * 1_000
    except ValueError:
        return None


class Newest(OrderedDict[K, V]):
    """A dictionary that lets its oldest entries go."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self._limit:
            self.popitem(last=False)
