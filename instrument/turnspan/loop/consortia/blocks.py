"""What a run, a member and an arbiter have in common: a span, and what spans inside it carry."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, TypeVar

from opentelemetry import trace
from opentelemetry.context import Context

from turnspan import semconv
from turnspan.loop.artifacts import new_id
from turnspan.runtime.guard import guard
from turnspan.tracing import otel_fast, recording
from turnspan.tracing.block_stack import WithBlock
from turnspan.tracing.context import SESSION_KEY, active_turn, scope_attributes, session_around
from turnspan.tracing.recording import INTERNAL, SpanRecording
from turnspan.tracing.recording_protocol import BlockCall
from turnspan.tracing.state import current as current_state
from turnspan.turn.turn import Session

B = TypeVar("B", bound="ExclusiveBlock")


class ExclusiveBlock(WithBlock[Any]):
    """One object is entered once at a time; entered again, it is another run, member or arbiter.

    Nothing of it raises, and where nothing is recorded it does nothing.
    """

    def __init__(self) -> None:
        self._span: SpanRecording | None = None
        self._token: object | None = None
        self._forks = 0
        self._started_at = 0
        self._seconds = 0.0

    def __enter__(self: B) -> B:
        with guard("consortium.enter"):
            self.begin()
        span = self._span
        if span is not None:
            self._token = span.enter()
        return self

    async def __aenter__(self: B) -> B:
        return self.__enter__()

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        span, token = self._span, self._token
        self._token = None
        if span is not None:
            span.leave(token)
            self.end(error)

    def begin(self) -> SpanRecording | None:
        """It begins; returns its span, where one is made."""
        self._span = None
        self._started_at = time.time_ns()
        self._forks = recording.forks
        self._span = self._start()
        return self._span

    def end(self, error: BaseException | None) -> None:
        """It ends, with this error or none."""
        span, self._span = self._span, None
        if span is None:
            return
        # A forked child only unwinds what its parent goes on with.
        if self._forks == recording.forks:
            with guard("consortium.exit"):
                self._seconds = max(0, time.time_ns() - self._started_at) / 1e9
                self._ended(span, error)
        if error is None:
            span.succeeded(None)
        else:
            span.failed(error)

    def returned(self, result: Any) -> None:
        """A function that is decorated with it has returned this."""

    def _start(self) -> SpanRecording | None:
        """Begin its span; ``None`` where nothing is recorded."""
        raise NotImplementedError

    def _ended(self, span: SpanRecording, error: BaseException | None) -> None:
        """Tell of its end."""
        raise NotImplementedError


class BlockRecording(BlockCall):
    """A block that is a call of a decorated function."""

    __slots__ = ("_begun", "_block", "_span")

    def __init__(self, block: ExclusiveBlock) -> None:
        self._block = block
        self._span: SpanRecording | None = None
        self._begun = False

    def enter(self) -> object | None:
        """Begin it, or go on with it after a yield."""
        if not self._begun:
            self._begun = True
            with guard("consortium.enter"):
                self._span = self._block.begin()
        return None if self._span is None else self._span.enter()

    def leave(self, token: object | None) -> None:
        """Make the former context current again."""
        if self._span is not None:
            self._span.leave(token)

    def suspend(self, token: object | None, item: Any) -> None:
        """Leave at a yield."""
        if self._span is not None:
            self._span.suspend(token, None)

    def succeeded(self, result: Any) -> None:
        """The function returned this."""
        with guard("consortium.returned"):
            self._block.returned(result)
        self._block.end(None)

    def failed(self, error: BaseException, *, stream: bool = False) -> None:
        """The function raised this."""
        self._block.end(error)


def span_within(
    name: str,
    around: Context,
    ids: dict[str, Any],
    attributes: Mapping[str, Any],
    values: Mapping[str, object],
    id_key: str = "",
) -> SpanRecording | None:
    """Begin a span; those inside it carry ``ids``, and its context has ``values``.

    With ``id_key`` the span's own id is one of the ids, under this name.
    """
    state = current_state(around)
    if not state.settings.enabled:
        return None
    outer = session_around(around)
    loop = {**_others(outer), **ids}
    if outer is None:
        session = Session(loop=loop)
    else:
        session = Session(outer.id, outer.user_id, outer.attributes, loop)
    said = {**scope_attributes(active_turn(around), session), **attributes}
    span = otel_fast.start(state.decorators, name, around, INTERNAL, said, id_key)
    if id_key:
        known = span.get_span_context().is_valid
        loop[id_key] = ids[id_key] = otel_fast.id_of(span) if known else new_id()[:16]
    within = Context({**around, **values, SESSION_KEY: session})
    return SpanRecording(span, trace.set_span_in_context(span, within))


def _others(session: Session | None) -> dict[str, Any]:
    """What spans of a session carry that is not of a run around it."""
    loop = None if session is None else session.loop
    if loop is None:
        return {}
    return {key: value for key, value in loop.items() if key not in semconv.CONSORTIUM_IDS}


def ids_around(context: Context) -> Mapping[str, Any]:
    """What spans carry here of runs, and of the improvement loop."""
    session = session_around(context)
    return {} if session is None or session.loop is None else session.loop
