"""The limit on content: what is longer is cut, part by part, stays JSON and says so.

A cut part carries ``truncated: true`` and ``original_bytes``, the size in UTF-8 of what was cut.
Applied after redaction, so that no secret is cut into something no mask knows.
"""

from __future__ import annotations

import re
from typing import Any, Final

from turnspan.content.json_codec import WRITING, WRITTEN
from turnspan.content.model import BLOB, Part, as_dict, as_list, dumps, dumps_text
from turnspan.runtime.later import later

TRUNCATED: Final = "truncated"
ORIGINAL_BYTES: Final = "original_bytes"

_KEPT: Final = WRITING | {"type", "id", "name", "role", "modality", "mime_type", "sha256", "size"}
"""What a part is known by, never cut."""

_LEAST: Final = 16

HELD_BACK: Final = 128
"""Characters at the end of a text under way that are not written before it goes on."""
_UNBROKEN: Final = "".join(map(chr, range(33, 127)))
"""What secrets are written in."""


def settled(text: str) -> str:
    """A redacted text that goes on, without its newest ``HELD_BACK`` characters and the word that
    they cut: in these may stand the beginning of what no mask knows before its end. (A private key
    is masked from its beginning.)"""
    return text[: max(0, len(text) - HELD_BACK)].rstrip(_UNBROKEN)


def limit_text(text: str, limit: int) -> tuple[str, int]:
    """The text, at most ``limit`` bytes of UTF-8, and how many it had if it was cut (else 0)."""
    if not limit or len(text) * 4 <= limit:
        return text, 0
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text, 0
    return raw[:limit].decode("utf-8", "ignore"), len(raw)


def limit_value(value: Any, limit: int) -> tuple[Any, int]:
    """As ``limit_text`` for what is written as JSON: its longest texts are cut, its shape stays.

    Where the shape alone is too long, the beginning of the JSON stands as a text.
    """
    if isinstance(value, str):
        return limit_text(value, limit)
    if not limit or not isinstance(value, (dict, list)):
        return value, 0
    size = len(dumps(value))  # pyright: ignore[reportUnknownArgumentType]
    if size <= limit:
        return value, 0  # pyright: ignore[reportUnknownVariableType]
    longest = limit
    while longest >= _LEAST:
        cut = _cut_leaves(value, longest)
        if len(dumps(cut)) <= limit:
            return cut, size
        longest //= 2
    return limit_text(dumps_text(value), limit)[0], size


def limit_parts(parts: list[Part], limit: int) -> list[Part]:
    """A message's parts; each that was cut is a new one and marked. The bytes of files stay."""
    if not limit:
        return parts
    return [_limit_part(part, limit) for part in parts]


def _limit_part(part: Part, limit: int) -> Part:
    if part.get("type") == BLOB:
        return part
    cut: Part = {}
    original = 0
    for key, value in part.items():
        if key in _KEPT:
            continue
        kept, size = limit_value(value, limit)
        if size:
            cut[key] = kept
            if key != WRITTEN:
                original += size
    if not cut:
        return part
    kept_part = {**part, **cut}
    if WRITTEN in kept_part:  # a text that would no longer be that of the arguments
        kept_part.pop(WRITTEN)
        original = original or len(str(part[WRITTEN]).encode("utf-8", "replace"))
    return {**kept_part, TRUNCATED: True, ORIGINAL_BYTES: original}


def _cut_leaves(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        return limit_text(value, longest)[0]
    mapping = as_dict(value)
    if mapping is not None:
        return {key: _cut_leaves(item, longest) for key, item in mapping.items()}
    items = as_list(value)
    if items is not None:
        return [_cut_leaves(item, longest) for item in items]
    return value


# -- cutting a long text before it is masked -------------------------------------------------------
#
# The calling thread then pays for what is kept only. What is kept is masked together with some text
# beyond the cut, so that a secret across the cut is seen as a whole; a run of characters that goes
# on beyond even that (one long token) is left out.

REACH: Final = 4_096
"""Characters beyond the cut that the masks see."""

_RUN: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+/=~.%\\"
_BEGINS: Final = later(r"-----BEGIN", re.IGNORECASE)
_ENDS: Final = later(r"-----END[ A-Z0-9_-]{0,100}KEY[ A-Z]{0,10}-----", re.IGNORECASE)


def beginning(text: str, limit: int) -> str:
    """What is to be masked of a text of which the first ``limit`` characters are kept."""
    end = limit + REACH
    if len(text) <= end:
        return text
    kept = text[:end]
    return kept.rstrip(_RUN) if text[end] in _RUN else kept


def ending(text: str, limit: int) -> str:
    """The same of a text of which the last ``limit`` characters are kept."""
    start = len(text) - limit - REACH
    if start <= 0:
        return text
    kept = text[start:]
    if text[start - 1] in _RUN:
        kept = kept.lstrip(_RUN)
    closed = _ENDS.search(kept)  # a private key that began before
    if closed is not None and _BEGINS.search(kept, 0, closed.start()) is None:
        kept = kept[closed.end() :]
    return kept
