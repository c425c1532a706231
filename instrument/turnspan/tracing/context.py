"""What rides in the OpenTelemetry context: the current turn and session."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.trace import Span, set_span_in_context

from turnspan import semconv
from turnspan.runtime.forks import in_child
from turnspan.runtime.guard import logger
from turnspan.runtime.otel_private import SPAN_KEY
from turnspan.turn.turn import Session, Turn

TURN_KEY = otel_context.create_key("turnspan-turn")
SESSION_KEY = otel_context.create_key("turnspan-session")
TOOL_KEY = otel_context.create_key("turnspan-tool")

_NO_SESSION: Final = Session()
_told: Final[set[str]] = set()


def active_turn(context: Context | None = None) -> Turn | None:
    """The innermost turn of the context, or ``None``."""
    turn = (otel_context.get_current() if context is None else context).get(TURN_KEY)
    return turn if isinstance(turn, Turn) else None


def _after_fork() -> None:
    turn = active_turn()
    if turn is not None:
        turn.after_fork()


in_child(_after_fork)


def active_session(context: Context | None = None) -> Session | None:
    """The session of the context, or ``None``."""
    session = (otel_context.get_current() if context is None else context).get(SESSION_KEY)
    return session if isinstance(session, Session) else None


def session_around(context: Context | None = None) -> Session | None:
    """The session of what is recorded in the context; ``None`` where there is none."""
    return session_within(active_turn(context), active_session(context))


def session_within(turn: Turn | None, session: Session | None) -> Session | None:
    """The session of what is recorded in a turn while another session's block may be open: a
    turn's rows are of one session, whatever begins inside it."""
    if turn is None:
        return session
    own = turn.session
    if session is None or session is own:
        return own
    given: Any = session  # as the application left it
    whose: Any = own or _NO_SESSION
    user = whose.user_id or given.user_id
    if given.id == whose.id and given.user_id == user:
        return session
    if given.id != whose.id and "session" not in _told:
        _told.add("session")
        logger.warning(
            "turnspan.session(%r) begins inside a turn of %s: the turn keeps its session. Begin "
            "the session around the agent, or decorate the code inside it as an agent.",
            *(given.id, f"session {whose.id!r}" if whose.id else "no session"),
        )
    return replace(session, id=whose.id, user_id=user)


def inside_span(span: Span, context: Context, key: str, value: object) -> Context:
    """The context within a span: it is current, and the value can be found by its key."""
    if SPAN_KEY is not None:  # both in one copy of the context
        return Context({**context, key: value, SPAN_KEY: span})
    return set_span_in_context(span, otel_context.set_value(key, value, context))


def scope_attributes(turn: Turn | None, session: Session | None) -> dict[str, Any]:
    """The attributes that tie a span to its turn and session, for the span's start."""
    attributes: dict[str, Any] = {}
    if turn is not None:
        if not turn.placed:
            turn.place()
        if session is not turn.session:
            session = session_within(turn, session)
    if session is not None:
        given: Any = session  # as the application left it
        if given.id:
            attributes[semconv.CONVERSATION_ID] = given.id
        if given.user_id:
            attributes[semconv.USER_ID] = given.user_id
        if given.attributes:
            attributes.update(given.attributes)
        if given.loop is not None:
            attributes.update(given.loop)
    if turn is not None:
        attributes[semconv.TURN_ID] = turn.id
        if turn.agent_name:
            attributes[semconv.AGENT_NAME] = turn.agent_name
        if turn.agent_version:
            attributes[semconv.TURN_AGENT_VERSION] = turn.agent_version
    return attributes
