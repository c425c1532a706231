"""An attempt: one try of a rollout, and what spans inside it carry."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from opentelemetry.context import Context

from turnspan import semconv
from turnspan.content.given_values import frozen_of, text_of
from turnspan.loop.artifacts import new_id, resource_of
from turnspan.runtime.guard import errors, guard
from turnspan.runtime.value_exceptions import is_abort
from turnspan.tracing import recording
from turnspan.tracing.block_stack import WithBlock
from turnspan.tracing.content_store import Fact
from turnspan.tracing.context import SESSION_KEY, TURN_KEY
from turnspan.tracing.function_wrapper import wrap
from turnspan.tracing.loop_facts import FAILED, INTERRUPTED, SUCCEEDED, AttemptTold
from turnspan.tracing.recording import attach, context_of, detach
from turnspan.tracing.recording import current as current_context
from turnspan.tracing.recording_protocol import BlockCall, ContextRecording, Recording
from turnspan.tracing.state import State, another_one, recording_for
from turnspan.turn.turn import Session, Turn

if TYPE_CHECKING:
    from turnspan.loop.rollouts import Rollout

F = TypeVar("F", bound=Callable[..., Any])
_MAX_MESSAGE: Final = 4_096


class Inside:
    """What spans inside a block carry, and whose recorder records them."""

    __slots__ = ("_ids", "_resource", "_state", "_tracer")

    def __init__(self, ids: Mapping[str, Any], state: State | None) -> None:
        self._ids = ids
        self._state = state
        self._tracer: object | None = None
        self._resource: Mapping[str, Any] = {}

    @classmethod
    def here(cls) -> Inside:
        """Nothing yet, with the current recorder."""
        return cls({}, another_one())

    def with_ids(self, ids: Mapping[str, Any]) -> Inside:
        """The same, and these, but for empty ones."""
        known = {key: value for key, value in ids.items() if value != ""}
        return Inside({**self._ids, **known}, self._state)

    def context(self, attempt_id: str = "") -> Context:
        """The current context, with the ids in it, and that of an attempt; the conversation stays
        as it is."""
        ids = {**self._ids, semconv.ATTEMPT_ID: attempt_id} if attempt_id else {**self._ids}
        outer = current_context() if self._state is None else context_of(self._state)
        around: Any = outer.get(SESSION_KEY)
        if around is None:
            turn: Any = outer.get(TURN_KEY)
            around = turn.session if isinstance(turn, Turn) else None
        if around is None:
            session = Session(loop=ids)
        else:
            within = around.loop
            if within is not None and semconv.CONSORTIUM_ID in within:  # a member tries something
                known = {key: within[key] for key in semconv.CONSORTIUM_IDS if key in within}
                ids = {**ids, **known}
            session = Session(around.id, around.user_id, around.attributes, ids)
        return Context({**outer, SESSION_KEY: session})

    def recorder(self) -> State | None:
        """What records, if it makes records."""
        return recording_for(self._state)

    def tell(self, made: Callable[[Mapping[str, Any], int], Fact]) -> bool:
        """Tell of what is made of whose record it is, and of the time now, where that is recorded;
        whether it is."""
        state = self.recorder()
        if state is not None:
            state.content.tell(made(resource_of(state), time.time_ns()))
        return state is not None

    def resource(self, state: State) -> Mapping[str, Any]:
        """Whose records its recorder makes; looked up once, until it records elsewhere."""
        tracer = state.decorators
        if tracer is not self._tracer:
            self._resource = resource_of(state)
            if getattr(tracer, "resource", None) is not None:
                self._tracer = tracer
        return self._resource


class Attempt(WithBlock["Attempt"]):
    """One try of a rollout: a context manager, or a decorator (each call is a try of its own).

    One object is entered once at a time: ask ``rollout.attempt`` for another one.
    """

    __slots__ = ("_forks", "_inside", "_reason", "_rollout", "_status", "_token", "_told")

    def __init__(self, inside: Inside, told: AttemptTold, rollout: Rollout) -> None:
        self._inside = inside
        self._told = told
        self._rollout = rollout
        self._status = self._reason = ""
        self._token: object | None = None
        self._forks = 0

    @property
    def id(self) -> str:
        """Its id, from the moment that it is entered."""
        return self._told.attempt_id

    @property
    def judged_as(self) -> tuple[str, str]:
        """What ``turnspan.annotate`` takes it for."""
        return "attempt", self.id

    def set(self, *, input: Any = None, output: Any = None) -> None:
        """Say what it was given, or what it came to; else what its turns were asked and answered.

        A decorated function's return value is what it came to.
        """
        with guard("attempt.set"):
            if input is not None:
                self._told.input = frozen_of(input)
            if output is not None:
                self._told.output = frozen_of(output)

    def fail(self, reason: str = "") -> None:
        """It has failed, though no exception says so."""
        self._status, self._reason = FAILED, text_of(reason)

    def __enter__(self) -> Attempt:
        # Guarded without ``guard``, as recordings are: an attempt costs no more than a session.
        try:
            self._token = attach(self.begin())
        except BaseException as error:  # noqa: BLE001  ours, never the caller's
            errors.record("attempt.enter", error)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            token, self._token = self._token, None
            detach(token)
            self.end(error)
        except BaseException as failure:  # noqa: BLE001  ours, never the caller's
            errors.record("attempt.exit", failure)

    def __call__(self, func: F) -> F:
        """Decorate a function: every call of it is an attempt of its own."""
        return wrap(func, lambda _: self._begin)

    def begin(self) -> Context:
        """It begins; returns the context inside it."""
        told = self._told
        if told.attempt_id:  # entered before: another one
            told = self._told = told.anew()
            self._status = self._reason = ""
        told.attempt_id = attempt_id = new_id()
        told.started_at = time.time_ns()
        self._forks = recording.forks
        state = self._inside.recorder()
        if state is not None:
            told.resource = self._inside.resource(state)
            state.content.tell(told)
        return self._inside.context(attempt_id)

    def end(self, error: BaseException | None, output: Any = None) -> None:
        """It ends, with this error or none."""
        if self._forks != recording.forks:  # a forked child that unwinds: it goes on where it began
            return
        told = self._told
        told.duration = max(0, time.time_ns() - told.started_at) / 1e9
        if output is not None and told.output is None:
            told.output = output
        status, told.error_message = self._status or SUCCEEDED, self._reason
        if error is not None:
            status = INTERRUPTED if is_abort(error) else FAILED
            told.error_type, told.error_message = error_of(error)
        told.status = status
        self._rollout.attempt_ended(told.attempt_id, status)
        if told.taken:
            state = self._inside.recorder()
            if state is not None:
                state.content.tell(told)

    def _begin(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Recording:
        return _AttemptRecording(Attempt(self._inside, self._told.anew(), self._rollout))


class _AttemptRecording(ContextRecording, BlockCall):
    """An attempt that is a call of a decorated function."""

    __slots__ = ("_attempt", "_begun")

    def __init__(self, attempt: Attempt) -> None:
        super().__init__(current_context())
        self._attempt = attempt
        self._begun = False

    def enter(self) -> object | None:
        """Begin it, or go on with it after a yield."""
        if not self._begun:
            self._begun = True
            with guard("attempt.enter"):
                self._context = self._attempt.begin()
        return super().enter()

    def succeeded(self, result: Any) -> None:
        """The function returned this."""
        with guard("attempt.exit"):
            self._attempt.end(None, frozen_of(result))

    def failed(self, error: BaseException, *, stream: bool = False) -> None:
        """The function raised this."""
        with guard("attempt.exit"):
            self._attempt.end(error)


def error_of(error: BaseException | None) -> tuple[str, str]:
    """An error's type and what it says, redacted; empty for none."""
    if error is None:
        return "", ""
    # The masks: loaded with the first text that needs them.
    from turnspan.redaction.brief import error_text

    kind = type(error).__qualname__
    text = error_text(error, _MAX_MESSAGE)
    return kind, text.removeprefix(f"{kind}: ") if text != kind else ""
