"""Known texts, held as lengths and hashes: a log's texts do not fit into memory, and need not."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final, NamedTuple

_SIZE: Final = 16
PREFIX: Final = 32
"""Characters of a text by which it is looked up; shorter texts are looked up whole."""


class KnownText(NamedTuple):
    """A text that is known without being held."""

    length: int
    digest: bytes

    def at(self, whole: str, position: int) -> bool:
        """Whether it stands at this position of a longer text."""
        end = position + self.length
        return end <= len(whole) and digest(whole[position:end]) == self.digest


def digest(text: str) -> bytes:
    """A text's hash."""
    # JSON may hold halves of surrogate pairs, which UTF-8 refuses.
    raw = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=_SIZE).digest()


def known(text: str) -> KnownText:
    """A text to be known by."""
    return KnownText(len(text), digest(text))


def joined(pieces: Iterable[str]) -> KnownText:
    """The same of a text that is given in pieces."""
    hashed = hashlib.blake2b(digest_size=_SIZE)
    length = 0
    for piece in pieces:
        hashed.update(piece.encode("utf-8", "surrogatepass"))
        length += len(piece)
    return KnownText(length, hashed.digest())


def beginnings(text: str, start: int, ends: Iterable[int]) -> list[KnownText]:
    """The texts between a start and several ends, which ascend; each character is hashed once."""
    hashed = hashlib.blake2b(digest_size=_SIZE)
    done = start
    found: list[KnownText] = []
    for end in ends:
        hashed.update(text[done:end].encode("utf-8", "surrogatepass"))
        done = end
        found.append(KnownText(end - start, hashed.copy().digest()))
    return found


def places(text: str, words: str, start: int = 0, most: int = 1_000_000) -> list[int]:
    """Where words stand in a text, without overlaps."""
    found: list[int] = []
    at = text.find(words, start)
    while at >= 0 and len(found) < most:
        found.append(at)
        at = text.find(words, at + len(words))
    return found
