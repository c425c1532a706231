"""What a provider says went wrong, in whatever form it says so.

OpenAI's form is ``{"error": {"message", "type", "code"}}``; other servers answer with a text, a
list, FastAPI's ``detail``, a page of HTML, and some of them with a status of success.
"""

from __future__ import annotations

from typing import Any, Final

from turnspan.runtime.guard import guard
from turnspan.runtime.inspection import looking
from turnspan.runtime.type_guards import is_list, kind_of
from turnspan.tracing.endpoint import fields_of

_SAYING: Final = ("message", "detail", "msg", "error", "errors", "error_description", "title")
"""Fields that say what went wrong, the best first."""
_ITEMS: Final = 5
_DEPTH: Final = 6
_LONGEST: Final = 8_000
"""Characters that are looked at; what is said of them is cut again, once it is masked."""


def error_text(problem: Any, depth: int = 0) -> str:
    """The text of an error's body."""
    if isinstance(problem, str):
        return problem[:_LONGEST]
    if problem is None or depth > _DEPTH:
        return ""
    if is_list(problem):
        texts = [error_text(item, depth + 1) for item in problem[:_ITEMS]]
        return "; ".join(text for text in texts if text)
    fields = fields_of(problem)
    for name in _SAYING:
        text = error_text(fields.get(name), depth + 1) if fields.get(name) else ""
        if text:
            return text
    if not fields:
        return "" if kind_of(problem) is dict else str(problem)[:_LONGEST]
    import orjson

    return orjson.dumps(fields, default=str).decode()[:_LONGEST]


def with_body(error: BaseException) -> str:
    """What an SDK's exception says, and the body that it had where that is not in it."""
    told = str(error)
    body: Any = getattr(error, "body", None)
    text = error_text(body)
    if not text:
        # Only where it has been read: a stream's has not.
        content: Any = getattr(getattr(error, "response", None), "_content", b"")
        if isinstance(content, bytes):
            text = content[:_LONGEST].decode("utf-8", "replace").strip()
    if not text or text in told or repr(text)[1:-1] in told:
        return told
    return f"{told} - {text}"


def problem_of(response: Any) -> dict[str, Any]:
    """The failure that came as a success, as OpenAI would have put it; empty where there is none.

    In a field of the response or of its first choice, in FastAPI's ``detail``, or all there is is a
    text that is no JSON.
    """
    if isinstance(response, str):
        return {"message": error_text(response)} if response else {}
    fields = fields_of(response)
    error = fields.get("error")
    if not error:
        choices = fields.get("choices")
        error = fields_of(choices[0]).get("error") if choices else fields.get("detail")
    listed = fields.get("errors")
    if not error and fields.get("status") == "failed" and is_list(listed) and listed:
        error = listed[0]
    if not error:
        return {}
    inner = fields_of(error)
    return {"code": inner.get("code") or inner.get("type"), "message": error_text(error)}


def code_of(problem: dict[str, Any]) -> str:
    """What to call a failure."""
    return str(problem.get("code") or "failed")


# -- what a span's status says of it, redacted ---------------------------------------------------

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
