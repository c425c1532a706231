"""Texts and maps of texts as ClickHouse's Native format has them: what rows hold ready-made.

The attributes of spans repeat, so each of their texts is encoded once and remembered; a row's map
is then no more than a join.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from turnspan.runtime.mypyc import mypyc_attr

_LENGTHS: Final = [bytes((length,)) for length in range(128)]
"""A short text's length prefix."""


def varint(number: int) -> bytes:
    """An unsigned LEB128 integer, the format's lengths and counts."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """The integer that ``varint`` wrote at a place, and where it ends.

    Raises:
        IndexError: it does not end.
    """
    found = shift = 0
    while shift < 64:
        byte = data[at]
        at += 1
        found |= (byte & 127) << shift
        if byte < 128:
            return found, at
        shift += 7
    raise IndexError(at)


def encode_string(value: Any) -> bytes:
    """A text with its length before it; what is no text is shown as one."""
    try:
        raw: bytes = value.encode()
    except (AttributeError, UnicodeEncodeError):
        raw = clean_text(value)
    size = len(raw)
    return (_LENGTHS[size] if size < 128 else varint(size)) + raw


def clean_text(value: Any) -> bytes:
    """Any value as UTF-8; lone surrogates are replaced. Raises what its ``__str__`` raises."""
    if value is None:
        return b""
    if isinstance(value, (bytes, bytearray)):
        return value.decode("utf-8", "replace").encode()
    # Through UTF-16, where a pair of surrogates is one character and a lone one is an error.
    raw = str(value).encode("utf-16-le", "surrogatepass")
    return raw.decode("utf-16-le", "replace").encode()


@mypyc_attr(acyclic=True)
class EncodedMap:
    """A ``Map(String, String)``, encoded: how many pairs, their keys, their values. Immutable."""

    __slots__ = ("count", "keys", "values")

    def __init__(self, count: int, keys: bytes, values: bytes) -> None:
        self.count = count
        self.keys = keys
        self.values = values

    @staticmethod
    def of(texts: Mapping[Any, Any] | EncodedMap) -> EncodedMap:
        """The pairs of a dictionary; of what is encoded already, that."""
        if isinstance(texts, EncodedMap):
            return texts
        keys = [encode_string(key) for key in texts]
        values = [encode_string(value) for value in texts.values()]
        return EncodedMap(len(keys), b"".join(keys), b"".join(values))

    def plus(self, key: str, value: str) -> EncodedMap:
        """These pairs and one more, or with another value for the key."""
        return EncodedMap.of({**self.texts(), key: value})

    def texts(self) -> dict[str, str]:
        """The pairs as a dictionary."""
        return dict(zip(_texts(self.keys), _texts(self.values), strict=True))

    def __repr__(self) -> str:
        return f"EncodedMap.of({self.texts()!r})"


EMPTY_MAP: Final = EncodedMap(0, b"", b"")


def _texts(encoded: bytes) -> Iterable[str]:
    """The texts that ``written`` wrote."""
    found: list[str] = []
    position = 0
    while position < len(encoded):
        size, position = read_varint(encoded, position)
        found.append(encoded[position : position + size].decode())
        position += size
    return found
