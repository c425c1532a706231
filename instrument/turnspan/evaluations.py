"""``turnspan.evaluation``: what a judge, a test or a person thought of an answer, as an event."""

from __future__ import annotations

from typing import Any

from opentelemetry.context import Context
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, set_span_in_context

from turnspan import config, semconv
from turnspan.guard import guard


def evaluation(
    name: str,
    *,
    score: float | None = None,
    label: str | None = None,
    explanation: str | None = None,
    response_id: str | None = None,
    error_type: str | None = None,
    span: Span | SpanContext | None = None,
) -> None:
    """Emit a ``gen_ai.evaluation.result`` event, and record the judgment. Never raises.

    The record is one of ``annotation``, of the kind ``evaluation:<name>``. The event goes to the
    LoggerProvider given to ``configure``, or else the global one, and belongs to
    ``span`` (a span or its context, so that an answer can be judged long after), or else to the
    current span.

    Args:
        name: the metric that was evaluated, such as ``"relevance"``.
        score: what it came to, as a number.
        label: what it came to, as a word, such as ``"pass"``.
        explanation: why.
        response_id: the provider's id of the judged response, where the span is not known.
        error_type: why there is no score or label, where the evaluation itself failed.
        span: what was judged.
    """
    with guard("evaluation"):
        from turnspan import events, judgments
        from turnspan.content.redact import Redactor

        settings = config.active()
        if not settings.enabled:
            return
        number = None if score is None else float(score)
        judgments.judge_evaluation(span, str(name), number, label, explanation)
        if events.logger() is None:
            return
        redactor = Redactor(settings)
        attributes: dict[str, Any] = {semconv.EVALUATION_NAME: str(name)}
        if number is not None:
            attributes[semconv.EVALUATION_SCORE_VALUE] = number
        for key, text in (
            (semconv.EVALUATION_SCORE_LABEL, label),
            (semconv.EVALUATION_EXPLANATION, explanation),
            (semconv.RESPONSE_ID, response_id),
            (semconv.ERROR_TYPE, error_type),
        ):
            if text:
                attributes[key] = redactor.text(str(text), f"attribute:{key}")
        events.emit(semconv.EVENT_EVALUATION, attributes, _context(span))


def _context(span: Span | SpanContext | None) -> Context | None:
    if span is None:
        return None
    return set_span_in_context(NonRecordingSpan(span) if isinstance(span, SpanContext) else span)
