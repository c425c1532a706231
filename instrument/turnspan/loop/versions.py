"""Versions of an agent: a configuration, identified by the hash of its canonical JSON."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any, Final

from turnspan.content.snapshot import freeze
from turnspan.runtime.guard import guard
from turnspan.runtime.type_guards import is_dict, is_list

_LARGEST: Final = 2**53 - 1
_MAX_DEPTH: Final = 80


@dataclass(frozen=True, slots=True)
class Version:
    """A version of an agent. ``config`` is a copy of what was given; nobody changes it."""

    id: str
    """SHA-256, in hexadecimal, of the configuration's canonical JSON (RFC 8785)."""
    name: str
    config: Any

    @classmethod
    def of(cls, config: Any, name: str = "") -> Version:
        """The version that a configuration is. Never raises: what cannot be read has no id."""
        with guard("version"):
            plain = canonical_value(freeze(config))
            return cls(hashlib.sha256(canonical_json(plain)).hexdigest(), name, plain)
        return cls("", name, None)


def canonical_json(plain: Any) -> bytes:
    """The canonical JSON of what ``canonical_value`` returned."""
    # Only for those who make versions.
    import rfc8785

    return rfc8785.dumps(plain)


def canonical_value(value: Any, depth: int = 0) -> Any:
    """A frozen value as JSON of RFC 8785 can say it: numbers that are no doubles, and bytes, become
    texts."""
    if depth > _MAX_DEPTH:
        return "…"
    if is_dict(value):
        return {_text(key): canonical_value(item, depth + 1) for key, item in value.items()}
    if is_list(value):
        return [canonical_value(item, depth + 1) for item in value]
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -_LARGEST <= value <= _LARGEST else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (bytes, bytearray)):
        return f"sha256:{hashlib.sha256(value).hexdigest()};size={len(value)}"
    return _text(value)


def _text(value: Any) -> str:
    """A text without halves of pairs, which UTF-8 cannot say."""
    return str(value).encode("utf-8", "replace").decode()
