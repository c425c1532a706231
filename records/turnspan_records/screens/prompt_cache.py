"""What a call lost of its provider's cache of prompts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def cache_lost(before: Mapping[str, Any], row: Mapping[str, Any]) -> int | None:
    """The tokens that the call before had read from the cache or written into it, and that this
    one, which continues its conversation, did not read. None where either is not known."""
    cached = cached_tokens(before)
    read = row["cache_read_tokens"]
    return None if cached is None or read is None else max(0, cached - int(read))


def cached_tokens(row: Mapping[str, Any]) -> int | None:
    """What was in the cache when a call was over, as far as it is known."""
    known = [row[name] for name in ("cache_read_tokens", "cache_write_tokens")]
    found = [int(value) for value in known if value is not None]
    return sum(found) if found else None
