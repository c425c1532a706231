"""Cutting a long text before it is masked, so that the calling thread pays for what is kept only.

What is kept is masked together with some text beyond the cut, so that a secret across the cut is
seen as a whole; a run of characters that goes on beyond even that (one long token) is left out.
"""

from __future__ import annotations

import re
from typing import Final

from turnspan.runtime.later import later

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
