"""Writing what is shown into a file of HTML."""

from __future__ import annotations

from pathlib import Path

from turnspan_console.failures import USAGE, Failure
from turnspan_console.output import tell
from turnspan_records.conversation.html import document


def save(path: str, title: str, fragment: str) -> None:
    """Write a page of the fragment that needs nothing else, and say where.

    Raises:
        Failure: the file cannot be written.
    """
    page = document(title, fragment)
    try:
        Path(path).write_text(page, encoding="utf-8", errors="replace")
    except OSError as error:
        raise Failure(f"{path!r} cannot be written: {error.strerror}.", USAGE) from None
    tell(f"Wrote {path} ({len(page):,} characters). It contains the recorded content.")
