"""Texts cut for a span's status or a turn's detail: masked first, by the settings in force."""

from __future__ import annotations

from turnspan import config
from turnspan.redaction.redactor import Redactor
from turnspan.runtime.guard import errors


def error_text(error: BaseException, limit: int, error_type: str = "") -> str:
    """An exception as a span's status may say it: redacted, then cut to ``limit`` characters.

    Its type alone where content is not recorded (a message may quote what it failed on).
    """
    name = error_type or type(error).__qualname__
    settings = config.active()
    if not settings.capture_content:
        return name
    try:
        text = f"{name}: {error}"
    except BaseException as failure:  # noqa: BLE001  an exception's own __str__ may raise
        errors.record("redact (error)", failure)
        return name
    return Redactor(settings).beginning(text, "error", limit)


def cut_text(text: str, where: str, limit: int) -> str:
    """At most ``limit`` characters; a longer text is redacted first, so no secret is cut in two."""
    if len(text) <= limit:
        return text
    return Redactor(config.active()).beginning(text, where, limit)
