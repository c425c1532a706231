"""Events of the GenAI conventions: log records, for those who read logs rather than spans.

Emitted on the calling thread (whoever flushes the log pipeline afterwards has them all) and only
where asked for: converting and redacting content costs what it costs. Only the OpenTelemetry API is
used here, and imported with the first event.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.context import Context
from opentelemetry.trace import Span, set_span_in_context

from turnspan import config, semconv
from turnspan._version import __version__
from turnspan.tracing.content_store import InferenceContent
from turnspan.tracing.state import current

if TYPE_CHECKING:
    from opentelemetry._logs import Logger

    from turnspan.redaction.redactor import Redactor

DEBUG: Final = 5
WARN: Final = 13
"""Severities, as the conventions give them."""

_API: Final = "opentelemetry._logs"
_MESSAGE_LENGTH: Final = 2_000
_STACK_LENGTH: Final = 20_000

_known: tuple[Any, Logger] | None = None


def logger() -> Logger | None:
    """Where events go; ``None`` where there is no provider that would take them."""
    global _known
    from opentelemetry._logs import get_logger_provider

    given = current().logger_provider
    provider = get_logger_provider() if given is None else given
    if type(provider).__module__.startswith(_API):  # the API's own takes nothing
        return None
    known = _known
    if known is None or known[0] is not provider:
        known = _known = (provider, provider.get_logger(semconv.SCOPE_DECORATORS, __version__))
    return known[1]


def emit(
    name: str, attributes: Mapping[str, Any], context: Context | None, severity: int = 0
) -> None:
    """Emit one event; attributes are expected to be redacted."""
    from opentelemetry._logs import LogRecord, SeverityNumber

    receiver = logger()
    if receiver is not None:
        receiver.emit(
            LogRecord(
                timestamp=time.time_ns(),
                context=context,
                severity_number=SeverityNumber(severity),
                severity_text=SeverityNumber(severity).name if severity else None,
                attributes=dict(attributes),
                event_name=name,
            )
        )


def call_ended(
    span: Span,
    attributes: Mapping[str, Any],
    content: InferenceContent | None,
    error: BaseException | None,
) -> None:
    """A model call ended: its details and, where it raised, its exception."""
    # The masks: loaded with the first text that needs them.
    from turnspan.redaction.redactor import Redactor

    if logger() is None:
        return
    redactor = Redactor(config.active())
    context = set_span_in_context(span)
    said = {key: _clean(key, value, redactor) for key, value in attributes.items()}
    if attributes.get(semconv.OPERATION_NAME) in semconv.INFERENCE_OPERATIONS:
        details = {**said, **_content(content, redactor)}
        emit(semconv.EVENT_INFERENCE_DETAILS, details, context, DEBUG)
    if isinstance(error, Exception):
        emit(semconv.EVENT_EXCEPTION, {**said, **_exception(error, redactor)}, context, WARN)


def _clean(key: str, value: Any, redactor: Redactor) -> Any:
    if isinstance(value, str):
        return redactor.text(value, f"attribute:{key}")
    return redactor.value(value, f"attribute:{key}")


def _content(content: InferenceContent | None, redactor: Redactor) -> dict[str, Any]:
    """The call's content in the structured form of the conventions."""
    if content is None:
        return {}
    # Only where content goes on events.
    from turnspan.dialects.convert import convert
    from turnspan.tracing.content_attributes import allowed

    return allowed(convert(content.dialect, content.request, content.response), redactor)


def _exception(error: Exception, redactor: Redactor) -> dict[str, str]:
    kind = type(error)
    module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    stack = "".join(traceback.format_exception(kind, error, error.__traceback__))
    name = f"{module}{kind.__qualname__}"
    if not config.active().capture_content:  # what an exception says may quote content
        return {semconv.EXCEPTION_TYPE: name}
    return {
        semconv.EXCEPTION_TYPE: name,
        semconv.EXCEPTION_MESSAGE: redactor.beginning(str(error), "error", _MESSAGE_LENGTH),
        semconv.EXCEPTION_STACKTRACE: redactor.ending(stack, "error", _STACK_LENGTH),
    }
