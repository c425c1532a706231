"""What a span's status says of a call that failed: redacted, with what the provider said."""

from __future__ import annotations

from typing import Any, Final

from turnspan.runtime.guard import guard
from turnspan.runtime.inspection import looking
from turnspan.tracing.provider_errors import code_of, problem_of, with_body

_MESSAGE = guard("call.error_message")
_MESSAGE_LENGTH: Final = 2_000


def error_message(error: BaseException, name: str = "") -> str:
    """An error's text for the span's status, redacted; its type alone where that fails."""
    with _MESSAGE:
        # The masks: loaded with the first text that needs them.
        from turnspan.redaction.brief import error_text

        return error_text(error, _MESSAGE_LENGTH, name)
    return name or type(error).__qualname__


def provider_message(error: Exception) -> str:
    """An SDK's exception as ``error_message`` has it, with what the provider said."""
    with _MESSAGE:
        with looking:
            text = with_body(error)
        return error_message(_Said(text), type(error).__qualname__)
    return type(error).__qualname__


class _Said(Exception):
    """An exception's text and more."""


def failure_message(response: Any) -> str:
    """What a response that came as a success says failed, redacted."""
    problem = problem_of(response)
    code = code_of(problem)
    return error_message(RuntimeError(problem.get("message") or code), code)
