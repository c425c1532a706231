"""What lower rooms are to be told of higher ones, which they do not import: the masks."""

from __future__ import annotations

import traceback
from typing import Final

from turnspan import config
from turnspan.content import snapshot
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import errors

_MESSAGE_LENGTH: Final = 8_000


def describe(place: str, error: BaseException) -> str:
    """An error of our own, for the log: its traceback, and what the exception says. Of a mistake
    in what we were given, only the latter.

    That may quote content: it is redacted, and left out where that failed or content is not
    recorded.
    """
    # Only now, since ``import turnspan`` is not to load the masks.
    from turnspan.redaction.redactor import FAILED, Redactor

    settings = config.active()
    message = FAILED
    if not settings.capture_content:
        message = "(its message may quote content and is left out)"
    elif not place.startswith("redact"):
        message = Redactor(settings).beginning(str(error), "log", _MESSAGE_LENGTH)
    if isinstance(error, ConfigError):
        return message
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"{frames}{type(error).__qualname__}: {message}"


def shorten(text: str, where: str, limit: int) -> str:
    """A text of at most so many characters, masked before it is cut."""
    from turnspan.redaction.brief import cut_text  # as above

    return cut_text(text, where, limit)


def wire() -> None:
    """Tell them."""
    errors.describe = describe
    snapshot.shorten = shorten
