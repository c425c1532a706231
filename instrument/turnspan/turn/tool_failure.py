"""Did a tool fail? By the application's rule, else by its own flags, never by searching words in a
successful result."""

from __future__ import annotations

from typing import Any, cast

from turnspan import config
from turnspan.runtime.guard import errors
from turnspan.runtime.inspection import looking

_MAX_PARSED = 1_000_000
_HINTS = (
    "is_error",
    "isError",
    '"ok"',
    '"error"',
    "exit_",
    "exitCode",
    "returncode",
    "return_code",
)
_IN_HINTS = ("rror", '"ok"', "exit", "return")
"""One of these is in each hint."""
_EXIT_CODES = ("exit_code", "exitCode", "exit_status", "returncode", "return_code")


def tool_failed(result: Any) -> bool:
    """Whether a tool's result says that it failed (docs/turns.md).

    An error flag is ``is_error``/``isError`` true, ``ok`` false, a top-level ``error`` that is not
    empty, or a non-zero exit code; in a mapping or in text that is a JSON object.
    """
    rule: Any = config.active().tool_failed
    if rule is not None:
        try:
            with looking:
                told: object = rule(result)
            if told is not None:
                return bool(told)
        except BaseException as error:  # noqa: BLE001  the flags decide then
            errors.record("tool_failed", error, public="configure(tool_failed=)")
    if isinstance(result, str):
        return _text_failed(result)
    if isinstance(result, dict):
        return _flags_failure(cast("dict[str, Any]", result))
    return False


def _text_failed(text: str) -> bool:
    stripped = text.lstrip()
    if not stripped.startswith("{") or len(text) > _MAX_PARSED:
        return False
    if not any(part in text for part in _IN_HINTS) or not any(hint in text for hint in _HINTS):
        return False
    import orjson

    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(parsed, dict) and _flags_failure(cast("dict[str, Any]", parsed))


def _flags_failure(result: dict[str, Any]) -> bool:
    if result.get("is_error") is True or result.get("isError") is True:
        return True
    if result.get("ok") is False:
        return True
    if result.get("error"):
        return True
    for key in _EXIT_CODES:
        code = result.get(key)
        if isinstance(code, int) and not isinstance(code, bool) and code != 0:
            return True
    return False
