"""Recorded text and tables as HTML that shows them and does nothing else."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

ROWS = 1_000
"""Rows that a table has at most."""
_CELL = 2_000
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
"""Characters that steer, change the direction of text or are not seen."""


def escaped(text: str) -> str:
    """The text as HTML, with a mark for every character that hides or steers."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return html.escape(text)
    return "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in _HIDDEN:
        return html.escape(character)
    return f"<mark>U+{ord(character):04X}</mark>"


def table(names: Sequence[str], rows: Iterable[Sequence[Any]], total: int) -> str:
    """A table of values as text; what is left out is said below it."""
    head = "".join(f"<th>{escaped(name)}</th>" for name in names)
    lines = ["".join(f"<td>{_cell(value)}</td>" for value in row) for row in islice(rows, ROWS)]
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    left = total - len(lines)
    more = f"<p>… {left:,} more rows</p>" if left > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    if value is None:
        return "\N{EN DASH}"
    text = value.hex() if isinstance(value, bytes) else str(value)
    return escaped(text[:_CELL]) + ("…" if len(text) > _CELL else "")
