"""Contexts that were handed to threads and tasks: each ends with the turn and the session it came
from.

A thread, or a task of ``asyncio``, may outlive the turn that happened to start it (an exporter, a
worker that serves whoever comes), and nothing tells such a thread from another one beforehand. So
each gets a context of its own, which is emptied in place when its turn ends, or, outside any turn,
its trace's root here: what it does later belongs to nobody, whichever instrumentation records it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, cast
from weakref import WeakSet

from opentelemetry import trace
from opentelemetry.context import Context

from turnspan.tracing.context import SESSION_KEY, TURN_KEY, active_session, active_turn
from turnspan.tracing.state import RECORDER_KEY
from turnspan.turn.turn import Session, Turn


class Handed:
    """What one running thread or task was handed."""

    __slots__ = ("__weakref__", "context", "item")

    def __init__(self, context: Context) -> None:
        self.context = Context(context)
        self.item = False
        """Whether it came with a piece of work from a queue, and lasts until the next one."""


_running: Final[WeakSet[Handed]] = WeakSet()
"""What runs; of a task that is dropped nobody tells, but its context goes with it."""
_pop: Final[Callable[..., Any]] = cast("Any", dict).pop
"""A context refuses to be changed by its own methods."""


def begin(context: Context, *, given: bool = False) -> Handed:
    """A thread begins to run in a context of its own; one whose turn is over has ended already,
    unless it was ``given`` as a piece of work."""
    handed = Handed(context)
    turn = active_turn(handed.context)
    _running.add(handed)
    if turn is not None and turn.ended and not given:
        _empty(handed)
    return handed


def done(handed: Handed) -> None:
    """The thread, or its work, has ended."""
    _running.discard(handed)


def turn_ended(turn: Turn) -> None:
    """What threads were handed within this turn ends."""
    for handed in tuple(_running):
        if not handed.item and handed.context.get(TURN_KEY) is turn:
            _empty(handed)


def session_left(session: Session) -> None:
    """No thread is in this session any more by what it was handed."""
    for handed in tuple(_running):
        held = active_session(handed.context)
        if not handed.item and held is not None and held.id == session.id:
            _pop(handed.context, SESSION_KEY, None)


def root_ended(trace_id: int) -> None:
    """The outermost span of a trace here has ended: it was a turn, where nothing was decorated."""
    for handed in tuple(_running):
        context = handed.context
        if handed.item or active_turn(context) is not None:
            continue
        if trace.get_current_span(context).get_span_context().trace_id == trace_id:
            _empty(handed)


def _empty(handed: Handed) -> None:
    """Leave the recorder, and the session while its block is open."""
    context: Any = handed.context
    session = active_session(context)
    keep = {RECORDER_KEY} if session is None or not session.id else {RECORDER_KEY, SESSION_KEY}
    for key in tuple(context):
        if key not in keep:
            _pop(context, key, None)


def running() -> bool:
    """Whether any thread runs in what it was handed."""
    return len(_running) > 0
