"""``turnspan.consortium``: a run in which several models answer a prompt and an arbiter decides.

Calls, turns and spans inside carry its id, in undecorated code, in threads and tasks, and over
``turnspan.inject`` and ``extract``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeVar

from opentelemetry import context as otel_context
from opentelemetry.context import Context

from turnspan import semconv
from turnspan.content.given_values import frozen_of, number_of, text_of
from turnspan.loop.artifacts import new_id
from turnspan.loop.attempts import error_of
from turnspan.loop.consortia.blocks import BlockRecording, ExclusiveBlock, ids_around, span_within
from turnspan.loop.consortia.members import MEMBER_KEY, Arbiter, Member
from turnspan.runtime.guard import guard
from turnspan.runtime.value_exceptions import is_abort
from turnspan.tracing import otel_fast
from turnspan.tracing.block_stack import OpenBlocks, WithBlock
from turnspan.tracing.consortium_facts import (
    FAILED,
    FINISHED,
    INTERRUPTED,
    RUNNING,
    ConsortiumPlace,
    ConsortiumTold,
    IterationFollowed,
)
from turnspan.tracing.content_store import Fact
from turnspan.tracing.context import active_turn, session_around
from turnspan.tracing.function_wrapper import wrap
from turnspan.tracing.recording import SpanRecording, context_of
from turnspan.tracing.recording_protocol import Recording
from turnspan.tracing.state import State, another_one, current, recording_for, resource_among

F = TypeVar("F", bound=Callable[..., Any])
RUN_KEY: Final = otel_context.create_key("turnspan-consortium-run")
_LARGEST: Final = 2**32 - 1
_NOWHERE: Final = Context()


def new_run_id() -> str:
    """An id that nothing else has: a KSUID, 27 letters and digits, later ones greater."""
    with guard("consortium.id"):
        # Only for those who have runs.
        from ksuid import Ksuid

        return str(Ksuid())
    return new_id()


class Iterations:
    """How many there were: each ends with what an arbiter decides. Of threads and tasks at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._decided = 0
        self._arbiters: dict[str, int] = {}
        self.number = 0
        """The highest one that anybody was in."""

    def now(self, given: Any) -> int:
        """The one that was given, else the one after the last that was decided on."""
        number = None if given is None else number_of(given)
        if number is None:
            return self._decided + 1
        return min(max(int(number), 0), _LARGEST)

    def begins(self, iteration: int, arbiter: str) -> list[str]:
        """Somebody begins in one, an arbiter or (without) a member; returns the arbiters that were
        not the final one, then."""
        with self._lock:
            self.number = max(self.number, iteration)
            earlier = [one for one, place in self._arbiters.items() if arbiter or place < iteration]
            for one in earlier:
                del self._arbiters[one]
            if arbiter:
                self._arbiters[arbiter] = iteration
            return earlier

    def decided(self, iteration: int) -> None:
        """An arbiter has decided on one."""
        with self._lock:
            self._decided = max(self._decided, iteration)


class Run(ExclusiveBlock):
    """The run of ``with turnspan.consortium(...) as run:``, usable from any thread or task."""

    def __init__(
        self, prompt: Any, name: str, strategy: str, id_: str, state: State | None
    ) -> None:
        super().__init__()
        self.id: Final = id_
        """Its id, a KSUID unless it was given."""
        self._prompt = prompt
        self._name = name
        self._strategy = strategy
        self._final: Any = None
        self._own_state = state
        self.iterations: Final = Iterations()
        self._inside: Context = _NOWHERE
        self._outer: Member | None = None
        self._told: ConsortiumTold | None = None
        self.place: ConsortiumPlace = ConsortiumPlace({}, id_)
        """What its rows say of where it is."""

    # -- what the application says ------------------

    def member(
        self, model: str = "", iteration: int | None = None, instance: int | str | None = None
    ) -> Member:
        """A member that answers: a context manager, or a decorator (each call is a member).

        Args:
            model: the member's model.
            iteration: the round of answers; default: the one after the last that an arbiter has
                decided.
            instance: the number or name of this member, if a model is asked several times.
        """
        return Member(self, model, iteration, instance)

    def arbiter(self, iteration: int | None = None, model: str = "") -> Arbiter:
        """The arbiter that decides an iteration: a context manager or a decorator.

        Args:
            iteration: the iteration; default: the one after the last that was decided.
            model: the arbiter's model.
        """
        return Arbiter(self, model, iteration)

    def final(self, text: Any) -> None:
        """Set the final text. A run that ends without one has failed."""
        with guard("consortium.final"):
            self._final = frozen_of(text)

    def returned(self, result: Any) -> None:
        """A decorated function's text is what the run came to."""
        if self._final is None and isinstance(result, str):
            self.final(result)

    # -- for its members and arbiters ------------------

    def context(self) -> Context:
        """The current context, or the run's own where that is not inside it: a thread that was not
        given one."""
        here = context_of(self._own_state)
        if ids_around(here).get(semconv.CONSORTIUM_ID) == self.id:
            return here
        return Context({**here, **self._inside})

    def begins(self, iteration: int, arbiter: str = "") -> None:
        """A member, or this arbiter, begins in an iteration."""
        with guard("consortium.iteration"):
            earlier = self.iterations.begins(iteration, arbiter)
            state = recording_for(self._own_state) if earlier else None
            if state is not None:
                for one in earlier:
                    state.content.tell(IterationFollowed(one))

    def tell(self, span: SpanRecording, fact: Fact) -> None:
        """Tell of something, where rows are made."""
        state = recording_for(self._own_state)
        if state is not None and span.span.is_recording():
            state.content.tell(fact)

    # -- its beginning and end ------------------

    @property
    def judged_as(self) -> tuple[str, str]:
        """What ``turnspan.annotate`` takes it for."""
        return "consortium", self.id

    def _start(self) -> SpanRecording | None:
        around = context_of(self._own_state)
        said = {
            semconv.CONSORTIUM_NAME: self._name,
            semconv.CONSORTIUM_STRATEGY: self._strategy,
            semconv.CONSORTIUM_OUTER: text_of(ids_around(around).get(semconv.CONSORTIUM_ID)),
        }
        span = span_within(
            f"consortium {self._name}" if self._name else "consortium",
            around,
            {semconv.CONSORTIUM_ID: self.id},
            {key: value for key, value in said.items() if value},
            {RUN_KEY: self, MEMBER_KEY: None},
        )
        if span is None:
            return None
        self._inside = span.context
        with guard("consortium.place"):
            self._say_where(around, span)
        return span

    def _say_where(self, around: Context, span: SpanRecording) -> None:
        turn, session = active_turn(around), session_around(around)
        identity = span.span.get_span_context()
        state = recording_for(self._own_state) or current(around)
        self.place = ConsortiumPlace(
            resource=resource_among(state.decorators, span.span),
            consortium_id=self.id,
            session_id="" if session is None else text_of(session.id),
            turn_id="" if turn is None else turn.id,
            trace_id=f"{identity.trace_id:032x}" if identity.is_valid else "",
        )
        ids = ids_around(around)
        outer: Any = around.get(MEMBER_KEY)
        if isinstance(outer, Member) and outer.id == ids.get(semconv.CONSORTIUM_MEMBER):
            self._outer = outer
        self._told = ConsortiumTold(
            place=self.place,
            name=self._name,
            strategy=self._strategy,
            prompt=self._prompt,
            started_at=self._started_at,
            status=RUNNING,
            outer_id=text_of(ids.get(semconv.CONSORTIUM_ID)),
            outer_member=text_of(ids.get(semconv.CONSORTIUM_MEMBER)),
            span_id=f"{identity.span_id:016x}" if identity.is_valid else "",
        )
        self.tell(span, self._told)

    def _ended(self, span: SpanRecording, error: BaseException | None) -> None:
        told = self._told
        if told is None:
            return
        status = FAILED if error is not None or self._final is None else FINISHED
        if is_abort(error):
            status = INTERRUPTED
        number = self.iterations.number
        otel_fast.set_attributes(
            span.span,
            {semconv.CONSORTIUM_STATUS: status, semconv.CONSORTIUM_ITERATIONS: number},
        )
        kind, message = error_of(error)
        if self._outer is not None and self._final is not None:
            self._outer.came_to(self._final)
        self.tell(
            span,
            replace(
                told,
                status=status,
                final_text=self._final,
                iterations=number,
                duration=self._seconds,
                error_type=kind,
                error_message=message,
            ),
        )


class consortium(WithBlock[Run]):
    """A run in which several models answer and an arbiter decides: a context manager, also
    asynchronous, and a decorator.

        with turnspan.consortium(question, name="jury") as run:
            for model in models:
                with run.member(model):
                    answers.append(ask(model, question))
            with run.arbiter(model="gpt-5") as arbiter:
                arbiter.decided(synthesis=decide(answers), confidence=0.9, ranking=models)
            run.final(arbiter_text)

    What it gives is a ``Run``. One that an exception leaves, or that came to nothing
    (``run.final``), has failed; one that was cancelled is interrupted. Of a decorated function each
    call is a run, which ``consortium.current()`` finds inside; the text that it returns is what the
    run came to.

    Args:
        prompt: what is asked; of a decorated function the first text that it is called with, where
            this is empty.
        name: what the consortium is called.
        strategy: how it decides, in a word of your own.
        id: the run's id, where another program has given it one.
    """

    def __init__(
        self, prompt: Any = "", *, name: str = "", strategy: str = "", id: str = ""
    ) -> None:
        self._prompt: Any = None
        with guard("consortium.arguments"):
            self._prompt = frozen_of(prompt)
        self._name = text_of(name)
        self._strategy = text_of(strategy)
        self._id = text_of(id)
        self._state = another_one()
        self._open: OpenBlocks[Run] = OpenBlocks()

    @staticmethod
    def current() -> Run | None:
        """The innermost run around this code, of this process."""
        found = otel_context.get_value(RUN_KEY)
        return found if isinstance(found, Run) else None

    def __enter__(self) -> Run:
        run = self._another(self._prompt)
        run.__enter__()
        self._open.push(run)
        return run

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        run = self._open.pop()
        if run is not None:
            run.__exit__(kind, error, trace)

    def __call__(self, func: F) -> F:
        """Decorate a function: each call of it is a run of its own."""

        def begin(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Recording:
            prompt = self._prompt
            if prompt in (None, ""):
                prompt = next((one for one in (*args, *kwargs.values()) if type(one) is str), "")
            return BlockRecording(self._another(prompt))

        return wrap(func, lambda _: begin)

    def _another(self, prompt: Any) -> Run:
        return Run(prompt, self._name, self._strategy, self._id or new_run_id(), self._state)
