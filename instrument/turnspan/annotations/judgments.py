"""``turnspan.annotate`` and ``turnspan.evaluation``: what became of an answer, and what a person, a
judge or a test thought of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal, Protocol, cast, get_args

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, set_span_in_context

from turnspan import config, semconv
from turnspan.content.given_values import finite, number_of, refused, text_of
from turnspan.runtime.guard import guard, warn_once
from turnspan.tracing.content_store import Judgment
from turnspan.tracing.context import active_turn
from turnspan.tracing.state import current, resource_among, taking_facts
from turnspan.turn.turn import Turn

Outcome = Literal["pending", "used", "modified", "rejected"]
OUTCOMES: Final[tuple[str, ...]] = get_args(Outcome)
"""The outcomes of an answer."""

SubjectKind = Literal[
    "turn", "call", "tool", "span", "session", "artifact", "attempt", "consortium"
]
SUBJECTS: Final[tuple[str, ...]] = get_args(SubjectKind)
"""What can be judged."""


class Judgeable(Protocol):
    """A subject that knows its kind and id: an attempt, a consortium run."""

    @property
    def judged_as(self) -> tuple[str, str]:
        """The kind and the id to judge."""
        ...


Subject = Turn | Span | SpanContext | Judgeable | str


def annotate(
    subject: Subject | None = None,
    *,
    kind: SubjectKind | None = None,
    outcome: Outcome | None = None,
    training_flag: Literal[-1, 0, 1] | None = None,
    score: float | None = None,
    comment: str | None = None,
    directive: str | None = None,
    preferred_over: str | None = None,
    author: str = "",
    confidence: float | None = None,
    source: str = "annotate",
    id: str = "",
) -> bool:
    """Record judgments of a turn, a call or anything else with an id. Never raises.

    Judgments are separate records, joined by id: you may send them while the turn runs, after it
    landed, from another process, or before the turn exists. A repeated judgment is stored once; the
    newest of each kind holds.

    Args:
        subject: a turn (or its id as text), an attempt, a consortium run, a span or its context.
            Default: the current turn, or outside turns the current span.
        kind: the kind of record that the id belongs to: ``turn``, ``call``, ``tool``, ``span``,
            ``session``, ``artifact``, ``attempt`` or ``consortium``. Default: ``turn`` for text,
            the operation for a span.
        outcome: ``pending``, ``used``, ``modified`` or ``rejected``.
        training_flag: 1 good candidate for training, -1 exclude, 0 neither.
        score: a number; people give 1 to 10.
        comment: a note.
        directive: what to do differently.
        preferred_over: the id of a record of the same kind that this one is better than.
        author: who judged. An author that begins with ``passive:`` is a machine; a person's
            judgment takes precedence.
        confidence: how sure the author is, from 0 to 1.
        source: where the judgment was made: a form, a job. A source that begins with ``machine`` is
            a machine's.
        id: your own id of this judgment; sending it again replaces the judgment.

    Returns:
        Whether the judgment was taken. It is not if this process records nothing (no ``configure``,
        or Turnspan is off), or if the judgment, the subject or an argument is missing or wrong. The
        latter is logged once, and counted.
    """
    with guard("annotate", "turnspan.annotate"):
        content = taking_facts(current())
        if content is None:
            return False
        found = subject_of(subject, kind)
        if found is None:
            return no_subject("turnspan.annotate")
        said = judgment_of(subject, found, author, source, confidence)
        each = judgments_of(
            said, outcome, training_flag, score, comment, directive, preferred_over, id
        )
        if not each:
            given = "outcome, training_flag, score, comment, directive or preferred_over"
            warn_once(f"turnspan.annotate has no judgment: give {given}")
        for one in each:
            content.tell(one)
        return bool(each)
    return False


def evaluation(
    name: str,
    *,
    score: float | None = None,
    label: str | None = None,
    explanation: str | None = None,
    response_id: str | None = None,
    error_type: str | None = None,
    span: Span | SpanContext | None = None,
    subject: Subject | None = None,
    kind: SubjectKind | None = None,
    confidence: float | None = None,
) -> None:
    """Emit a ``gen_ai.evaluation.result`` event, and record the judgment. Never raises.

    The record is a row of ``annotation`` of the kind ``evaluation:<name>``. The event goes to
    ``configure``'s LoggerProvider, else the global one. It belongs to ``span`` (a span or its
    context, so you can evaluate long afterwards), else to the current span.

    Args:
        name: the evaluated metric, such as ``"relevance"``.
        score: the result as a number.
        label: the result as a word, such as ``"pass"``.
        explanation: the reason.
        response_id: the provider's id of the evaluated response, if the span is unknown.
        error_type: the error, if the evaluation itself failed.
        span: the evaluated span.
        subject: the evaluated turn, attempt, consortium run or id as text, instead of a span.
        kind: the kind of record of such an id, as for ``annotate``.
        confidence: how sure the evaluator is, from 0 to 1; only in the record, not in the event.
    """
    with guard("evaluation", "turnspan.evaluation"):
        # The masks: loaded with the first text that needs them.
        from turnspan.redaction.redactor import Redactor
        from turnspan.tracing import events

        settings = config.active()
        if not settings.enabled:
            return
        number = None if score is None else finite("score", score)
        sure = confidence_of(confidence)
        content = taking_facts(current())
        judged = span if subject is None else subject
        found = None if content is None else subject_of(judged, kind)
        if content is not None and found is None:
            no_subject("turnspan.evaluation")
        elif content is not None and found is not None:
            said = (text_of(name), number, text_of(label), text_of(explanation))
            whose, now = resource_of(judged), time.time_ns()
            content.tell(judgment_of_evaluation(whose, found, *said, now, sure))
        if events.logger() is None:
            return
        redactor = Redactor(settings)
        attributes: dict[str, Any] = {semconv.EVALUATION_NAME: text_of(name)}
        if number is not None:
            attributes[semconv.EVALUATION_SCORE_VALUE] = number
        for key, text in (
            (semconv.EVALUATION_SCORE_LABEL, label),
            (semconv.EVALUATION_EXPLANATION, explanation),
            (semconv.RESPONSE_ID, response_id),
            (semconv.ERROR_TYPE, error_type),
        ):
            if text := text_of(text):
                attributes[key] = redactor.text(text, f"attribute:{key}")
        events.emit(semconv.EVENT_EVALUATION, attributes, _context(span))


def judgment_of(
    subject: Subject | None,
    found: tuple[str, str],
    author: str,
    source: str,
    confidence: float | None,
    comment: str = "",
) -> Judgment:
    """A judgment of what was found to be of a kind and an id; what it says is still to come.

    Raises:
        ConfigError: the confidence is not from 0 to 1.
    """
    return Judgment(
        resource=resource_of(subject),
        subject_kind=found[0],
        subject_id=found[1],
        author=text_of(author),
        source=text_of(source),
        comment=text_of(comment),
        created_at=time.time_ns(),
        confidence=confidence_of(confidence),
    )


def judgment_of_evaluation(
    resource: Any,
    subject: tuple[str, str],
    name: str,
    score: float | None,
    label: str,
    explanation: str,
    created_at: int,
    confidence: float | None = None,
) -> Judgment:
    """The judgment that an evaluation of a subject, a kind and an id, is; said twice it is one."""
    said = Judgment(
        resource=resource,
        subject_kind=subject[0],
        subject_id=subject[1],
        kind=f"evaluation:{name}",
        score=score,
        outcome=label,
        comment=explanation,
        source="evaluation",
        created_at=created_at,
        confidence=confidence,
    )
    return replace(said, annotation_id=digest(said))


def judgments_of(
    said: Judgment,
    outcome: str | None = None,
    training_flag: int | None = None,
    score: float | None = None,
    comment: str | None = None,
    directive: str | None = None,
    preferred_over: str | None = None,
    id: str = "",
) -> list[Judgment]:
    """A judgment of each kind that is given (see ``annotate``).

    Raises:
        ConfigError: one of them is not what it must be; the message says what.
    """
    each: list[Judgment] = []
    if outcome is not None:
        if (outcome := text_of(outcome)) not in OUTCOMES:
            raise refused("outcome", f"one of {', '.join(OUTCOMES)}", outcome)
        each.append(replace(said, kind="outcome", outcome=outcome))
    if training_flag is not None:
        if number_of(training_flag) not in (-1, 0, 1):
            raise refused("training_flag", "1 (good), 0 or -1 (exclude)", training_flag)
        each.append(replace(said, kind="training_flag", training_flag=int(training_flag)))
    if score is not None:
        number = finite("score", score)
        if not (1 <= number <= 10 or is_machine(said.author, said.source)):
            scale = "from 1 to 10 (a measure of another scale is an evaluation)"
            raise refused("score", scale, score)
        each.append(replace(said, kind="score", score=number))
    if comment := text_of(comment):
        each.append(replace(said, kind="comment", comment=comment))
    if directive := text_of(directive):
        each.append(replace(said, kind="directive", directive=directive))
    if rejected := text_of(preferred_over):
        chosen = said.subject_id
        each.append(replace(said, kind="preference", chosen_id=chosen, rejected_id=rejected))
    given_id = text_of(id)
    return [replace(one, annotation_id=given_id or digest(one)) for one in each]


def is_machine(author: str, source: str) -> bool:
    """Whether it was no person who judged."""
    return author.startswith("passive:") or source.startswith("machine")


def confidence_of(given: float | None) -> float | None:
    """A confidence as a number.

    Raises:
        ConfigError: it is not from 0 to 1.
    """
    if given is None:
        return None
    number = finite("confidence", given)
    if not 0 <= number <= 1:
        raise refused("confidence", "from 0 to 1", given)
    return number


def digest(said: Judgment) -> str:
    """The id of a judgment that has none of its own: what says the same is the same."""
    values: tuple[Any, ...] = (
        *(said.kind, said.outcome, said.training_flag, said.score, said.comment),
        *(said.chosen_id, said.rejected_id, said.directive, said.author),
    )
    if said.confidence is not None or said.ranking_id:
        values += (said.confidence, said.ranking_id)
    return id_of(values)


def id_of(values: tuple[Any, ...]) -> str:
    """The id of what says these values."""
    from hashlib import blake2b  # with OpenSSL: not for those who only import Turnspan

    return blake2b(repr(values).encode(errors="replace"), digest_size=16).hexdigest()


def subject_of(subject: Subject | None, kind: str | None) -> tuple[str, str] | None:
    """The kind and the id of what is judged; ``None`` where there is nothing.

    Raises:
        ConfigError: nothing of such a kind can be judged.
    """
    if kind is not None and kind not in SUBJECTS:
        raise refused("kind", f"one of {', '.join(SUBJECTS)}", kind)
    if subject is None:
        subject = active_turn() or trace.get_current_span()
    if isinstance(subject, str):
        return (kind or "turn", subject) if subject else None
    if isinstance(subject, Turn):
        return ("turn", subject.id) if subject.id else None
    named: tuple[str, str] | None = getattr(subject, "judged_as", None)
    if named is not None:
        return named if named[1] else None
    span = cast("Span | SpanContext", subject)
    if not isinstance(span, SpanContext) and not hasattr(span, "get_span_context"):
        raise refused("what is judged", "a turn, a span or an id as text", subject)
    context = span if isinstance(span, SpanContext) else span.get_span_context()
    if not context.is_valid:
        return None
    attributes: Mapping[str, Any] = getattr(span, "attributes", None) or {}
    return kind or subject_kind(attributes), f"{context.span_id:016x}"


def no_subject(where: str) -> bool:
    """Say once that there is nothing that is judged; false, as where nothing is taken."""
    warn_once(f"{where}: there is no turn or span around it, or the subject has no id")
    return False


_KINDS: Final = {semconv.OP_INVOKE_AGENT: "turn", semconv.OP_EXECUTE_TOOL: "tool"}


def subject_kind(attributes: Mapping[str, Any]) -> str:
    """What is judged where a span of these attributes is."""
    operation = str(attributes.get(semconv.OPERATION_NAME))
    if operation in semconv.INFERENCE_OPERATIONS:
        return "call"
    return _KINDS.get(operation, "span")


def resource_of(subject: Subject | None) -> Mapping[str, Any]:
    """The resource that says whose record it is: the span's, else that of this process."""
    return resource_among(subject, trace.get_current_span(), current().decorators)


def _context(span: Span | SpanContext | None) -> Context | None:
    if span is None:
        return None
    return set_span_in_context(NonRecordingSpan(span) if isinstance(span, SpanContext) else span)
