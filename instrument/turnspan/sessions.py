"""``turnspan.session``: the conversation that turns belong to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from opentelemetry import context as otel_context

from turnspan.content.given_values import attributes_of, mistaken, text_of, warn_of_near_misses
from turnspan.runtime import rerun_scope
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import guard
from turnspan.tracing import handed
from turnspan.tracing.block_stack import OpenBlocks, WithBlock
from turnspan.tracing.context import SESSION_KEY, TURN_KEY
from turnspan.tracing.function_wrapper import wrap
from turnspan.tracing.recording import context_of, detach
from turnspan.tracing.recording_protocol import NO_RECORDING, ContextRecording, Recording
from turnspan.tracing.state import another_one
from turnspan.turn.turn import Session, Turn

if TYPE_CHECKING:
    from uuid import UUID

F = TypeVar("F", bound=Callable[..., Any])
_NO_ID: Final = (
    "turnspan.session has no id: pass the conversation's own (a thread's, a ticket's), or leave "
    "the block out"
)


class session(WithBlock[Session]):
    """Put everything recorded inside into this session. A context manager and a decorator.

    Args:
        session_id: the conversation's own id, such as a thread's or ticket's; becomes
            ``gen_ai.conversation.id``. Numbers and UUIDs become text.
        user_id: the user's id; becomes ``user.id``.
        attributes: set on every span inside.

    Raises:
        ConfigError: the id is missing. Inside a recorded block, or with a user or attributes, it is
            only logged.
    """

    def __init__(
        self, session_id: str | int | UUID, *, user_id: str = "", **attributes: Any
    ) -> None:
        given: Any = session_id
        if isinstance(given, FunctionType):  # an id may be a callable mock
            raise TypeError(
                "turnspan.session needs the id of a session: write @turnspan.session('an id')"
            )
        if given is None or (type(given) is str and not given.strip()):
            session_id = ""
            mistaken(ConfigError(_NO_ID), harmless=bool(user_id or attributes))
        if attributes:
            warn_of_near_misses("turnspan.session", attributes, ("session_id", "user_id"))
        self._given = Session(text_of(session_id), text_of(user_id), attributes_of(attributes))
        self._state = another_one()
        self._open: OpenBlocks[object | None] = OpenBlocks()

    def __enter__(self) -> Session:
        token: object | None = None
        session = self._session
        with guard("session.enter"):
            context = context_of(self._state)
            session = self._within(context)
            token = otel_context.attach(otel_context.set_value(SESSION_KEY, session, context))
        self._open.push(token)
        return session

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with guard("session.exit"):
            detach(self._open.pop())
            handed.session_left(self._session)

    def __call__(self, func: F) -> F:
        """Decorate a function: every call of it belongs to this session."""
        return wrap(func, lambda _: self._begin)

    @property
    def _session(self) -> Session:
        """The session; in a rerun one of the rerun's own."""
        rerun, given = rerun_scope.scope, self._given
        if rerun is None:
            return given
        return replace(given, id=rerun_scope.session_name(given.id, rerun.rerun_id))

    def _within(self, context: otel_context.Context) -> Session:
        """The session as it is here: inside an attempt, its spans are that attempt's as well. A
        turn around it of which nothing is recorded yet joins it."""
        session, around = self._session, context.get(SESSION_KEY)
        if isinstance(around, Session) and around.loop is not None:
            session = replace(session, loop=around.loop)
        turn = context.get(TURN_KEY)
        if isinstance(turn, Turn) and session.id:
            turn.join(session)
        return session

    def _begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Recording:
        with guard("session.begin"):
            context = context_of(self._state)
            inside = otel_context.set_value(SESSION_KEY, self._within(context), context)
            return _SessionRecording(inside, self._session)
        return NO_RECORDING


class _SessionRecording(ContextRecording):
    """Makes the session current while a decorated function runs."""

    __slots__ = ("_session",)

    def __init__(self, context: otel_context.Context, session: Session) -> None:
        super().__init__(context)
        self._session = session

    def leave(self, token: object | None) -> None:
        """Make the former session current again."""
        super().leave(token)
        with guard("session.leave"):
            handed.session_left(self._session)
