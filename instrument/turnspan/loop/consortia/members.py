"""Those who answer in a consortium run: its members, and the arbiter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from opentelemetry import context as otel_context

from turnspan import semconv
from turnspan.content.given_values import frozen_of, number_of, text_of
from turnspan.loop.attempts import error_of
from turnspan.loop.consortia.blocks import BlockRecording, ExclusiveBlock, span_within
from turnspan.runtime.guard import guard
from turnspan.runtime.inspection import looking
from turnspan.tracing import otel_fast
from turnspan.tracing.consortium_facts import (
    FINAL_ARBITER,
    MEMBER,
    ArbiterDecided,
    MemberAnswered,
)
from turnspan.tracing.function_wrapper import wrap
from turnspan.tracing.recording import SpanRecording

if TYPE_CHECKING:
    from turnspan.loop.consortia.runs import Run

F = TypeVar("F", bound=Callable[..., Any])
MEMBER_KEY: Final = otel_context.create_key("turnspan-consortium-member")
_MAX_RANKED: Final = 1_000


class Answering(ExclusiveBlock):
    """A member or an arbiter: a context manager, or a decorator (each call is one of its own)."""

    role: int
    what: str

    def __init__(
        self, run: Run, model: str, iteration: int | None, instance: int | str | None = None
    ) -> None:
        super().__init__()
        self._run = run
        self._given = iteration
        self.model: Final = text_of(model)
        self.instance: Final = text_of(instance)
        self.iteration = 0
        """The iteration that it is of, from the moment that it is entered."""
        self.id = ""
        """The id of its span, from the moment that it is entered."""

    def __call__(self, func: F) -> F:
        """Decorate a function: each call of it is a member, or an arbiter, of its own."""
        return wrap(func, lambda _: lambda args, kwargs: BlockRecording(self._another()))

    def _another(self) -> Answering:
        return type(self)(self._run, self.model, self._given, self.instance)

    def _start(self) -> SpanRecording | None:
        run = self._run
        self.iteration = run.iterations.now(self._given)
        ids: dict[str, Any] = {
            semconv.CONSORTIUM_ID: run.id,
            semconv.CONSORTIUM_ROLE: self.role,
            semconv.CONSORTIUM_ITERATION: self.iteration,
        }
        said = {
            semconv.CONSORTIUM_MODEL: self.model,
            semconv.CONSORTIUM_INSTANCE: self.instance,
        }
        known = {key: value for key, value in said.items() if value}
        inside: dict[str, object] = {MEMBER_KEY: self} if self.role == MEMBER else {}
        name = f"{self.what} {self.model}" if self.model else self.what
        around = run.context()
        span = span_within(name, around, ids, known, inside, semconv.CONSORTIUM_MEMBER)
        if span is not None:
            self.id = ids[semconv.CONSORTIUM_MEMBER]
        return span


class Member(Answering):
    """One that answers in an iteration. Its answer is what ``answered`` said, else that of the last
    model call made inside."""

    role = MEMBER
    what = "member"

    _answer: Any = None

    def answered(self, text: Any) -> None:
        """Say what it answered: for a model that is not asked through an instrumented SDK, or an
        answer that is made of several."""
        with guard("consortium.answered"):
            self._answer = frozen_of(text)

    def returned(self, result: Any) -> None:
        """A decorated function's text is the answer."""
        if self._answer is None and isinstance(result, str):
            self.answered(result)

    def came_to(self, text: Any) -> None:
        """It is a run itself, which has come to this."""
        if self._answer is None:
            self._answer = text

    def _start(self) -> SpanRecording | None:
        self._answer = None
        span = super()._start()
        self._run.begins(self.iteration)
        return span

    def _ended(self, span: SpanRecording, error: BaseException | None) -> None:
        kind, message = error_of(error)
        self._run.tell(
            span,
            MemberAnswered(
                place=self._run.place,
                iteration=self.iteration,
                member_id=self.id,
                model=self.model,
                instance=self.instance,
                started_at=self._started_at,
                answer=self._answer,
                duration=self._seconds,
                error_type=kind,
                error_message=message,
            ),
        )


class Arbiter(Answering):
    """The one that decides on an iteration. Its calls are those of the final arbiter until another
    iteration begins."""

    role = FINAL_ARBITER
    what = "arbiter"

    def __init__(self, run: Run, model: str, iteration: int | None, instance: str = "") -> None:
        super().__init__(run, model, iteration, instance)
        self._said: dict[str, Any] = {}

    def decided(
        self,
        synthesis: Any = None,
        confidence: float | None = None,
        ranking: Iterable[str] | None = None,
        reasoning: Any = None,
        refinement_areas: Iterable[str] | str | None = None,
        needs_iteration: bool | None = None,
        raw: Any = None,
    ) -> None:
        """Say what it decided; said again, what is given replaces what was.

        Args:
            synthesis: the answer that it made of the members'.
            confidence: how sure it is of that, 0 to 1.
            ranking: the members (``"gpt-4o"``, or ``"gpt-4o#2"`` for an instance), best first.
            reasoning: why.
            refinement_areas: what is to be better in the next iteration.
            needs_iteration: whether there is to be one.
            raw: its reply as it was, where that is more than all this.
        """
        with guard("consortium.decided"):
            said = self._said
            for name, value in (("synthesis", synthesis), ("reasoning", reasoning), ("raw", raw)):
                if value is not None:
                    said[name] = frozen_of(value)
            if confidence is not None:
                number = number_of(confidence)
                said["confidence"] = None if number is None else float(number)
            for name, given in (("ranking", ranking), ("refinement_areas", refinement_areas)):
                if given is not None:
                    said[name] = _texts(given)
            if needs_iteration is not None:
                said["needs_iteration"] = bool(needs_iteration)

    def returned(self, result: Any) -> None:
        """A decorated function's text is the synthesis, a mapping all that it decided."""
        if self._said:
            return
        if isinstance(result, str):
            self.decided(result)
        elif isinstance(result, Mapping):
            given = cast("Mapping[str, Any]", result)
            self.decided(**{name: given[name] for name in _DECIDED if name in given})

    def _start(self) -> SpanRecording | None:
        self._said = {}
        span = super()._start()
        self._run.begins(self.iteration, self.id)
        return span

    def _ended(self, span: SpanRecording, error: BaseException | None) -> None:
        if error is None:
            self._run.iterations.decided(self.iteration)
        said = {key: self._said.get(name) for name, key in _ON_SPANS.items()}
        known = {key: value for key, value in said.items() if value not in (None, ())}
        if known:
            otel_fast.set_attributes(span.span, known)
        kind, message = error_of(error)
        self._run.tell(
            span,
            ArbiterDecided(
                place=self._run.place,
                iteration=self.iteration,
                arbiter_id=self.id,
                model=self.model,
                started_at=self._started_at,
                duration=self._seconds,
                error_type=kind,
                error_message=message,
                **self._said,
            ),
        )


_ON_SPANS: Final = {
    "confidence": semconv.CONSORTIUM_CONFIDENCE,
    "ranking": semconv.CONSORTIUM_RANKING,
    "needs_iteration": semconv.CONSORTIUM_AGAIN,
}
"""What an arbiter's span says of what it decided: nothing of it is content."""
_DECIDED: Final = (
    *("synthesis", "confidence", "ranking", "reasoning"),
    *("refinement_areas", "needs_iteration", "raw"),
)


def _texts(given: Iterable[Any]) -> tuple[str, ...]:
    if isinstance(given, str):
        return (text_of(given),) if text_of(given) else ()
    with looking:
        return tuple(text_of(one) for one in islice(given, _MAX_RANKED))
