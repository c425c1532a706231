"""Ids of what is imported: a row of a source has the same ones at every import."""

from __future__ import annotations

from hashlib import blake2b


def trace_id(*parts: object) -> int:
    """The id of a trace, made of what tells it from every other: the kind of source, the source,
    and the conversation or row."""
    return int.from_bytes(_digest(parts, 16), "big") or 1


def span_id(*parts: object) -> int:
    """The id of a span, likewise."""
    return int.from_bytes(_digest(parts, 8), "big") or 1


def hex_id(*parts: object) -> str:
    """Another id, as 32 hexadecimal digits: a judgment's."""
    return _digest(parts, 16).hex()


def _digest(parts: tuple[object, ...], size: int) -> bytes:
    """With lengths, so that ("ab", "c") is not ("a", "bc")."""
    hashed = blake2b(digest_size=size)
    for part in parts:
        said = str(part).encode("utf-8", "surrogatepass")
        hashed.update(b"%d:" % len(said))
        hashed.update(said)
    return hashed.digest()
