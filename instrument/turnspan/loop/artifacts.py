"""``turnspan.artifact``: what an agent wrote, so that others can see what became of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from random import Random
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry import trace

from turnspan import semconv
from turnspan.content.given_values import text_of
from turnspan.runtime.forks import in_child
from turnspan.runtime.guard import guard
from turnspan.tracing.context import active_turn, session_around
from turnspan.tracing.loop_facts import ArtifactMade
from turnspan.tracing.state import State, current, resource_among, taking_facts

_NO_IDS: Final[Mapping[str, Any]] = {}


def artifact(target: str, text: str, *, kind: str = "", version: str = "", id: str = "") -> str:
    """Record a text that an agent wrote. Never raises.

    The text is stored once, by its hash. The record belongs to the turn, model call and attempt
    around it; outside a call, to the turn's last call.

    Args:
        target: what was written: a page's title, a file's path.
        text: the whole text that the target has now.
        kind: your own word for it: ``page``, ``file``, ``answer``.
        version: the target system's own version: a revision's id, a commit.
        id: your own id of the artifact; recording it again replaces the artifact.

    Returns:
        The artifact's id, to judge it: ``turnspan.annotate(id, kind="artifact", score=8)``. Empty
        if this process records nothing.
    """
    with guard("artifact"):
        state = current()
        content = taking_facts(state)
        if content is None:
            return ""
        made = text_of(id) or new_id()
        content.tell(_made(state, made, target, text, kind, version))
        return made
    return ""


def _made(state: State, made: str, target: str, text: str, kind: str, version: str) -> ArtifactMade:
    context = otel_context.get_current()
    turn, session = active_turn(context), session_around(context)
    span: Any = trace.get_current_span(context)
    identity = span.get_span_context()
    said: Mapping[str, Any] = getattr(span, "attributes", None) or _NO_IDS
    calling = said.get(semconv.OPERATION_NAME) in semconv.INFERENCE_OPERATIONS
    return ArtifactMade(
        resource=resource_of(state),
        artifact_id=made,
        target=text_of(target),
        text=text_of(text),
        kind=text_of(kind),
        version=text_of(version),
        session_id="" if session is None else text_of(session.id),
        trace_id=f"{identity.trace_id:032x}" if identity.is_valid else "",
        turn_id="" if turn is None else turn.id,
        call_id=f"{identity.span_id:016x}" if calling else "",
        loop=_NO_IDS if session is None or session.loop is None else session.loop,
        created_at=time.time_ns(),
    )


_random: Final = Random()
"""Our own, of the system's seed: an application's ``random.seed(0)`` never makes the records of two
runs share an id. A draw takes a quarter of what asking the system each time does."""
in_child(_random.seed)


def new_id() -> str:
    """An id that nothing else has: 32 hexadecimal digits."""
    return f"{_random.getrandbits(128):032x}"


def resource_of(state: State) -> Mapping[str, Any]:
    """The resource that says whose record is made here: that of the recorder's spans, or else of
    the current span."""
    return resource_among(state.decorators, trace.get_current_span())
