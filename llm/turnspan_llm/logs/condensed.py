"""JSON as llm condenses it: texts that the row has anyway are references in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from turnspan.runtime.type_guards import is_dict, is_list

_DEEPEST: Final = 100


class UnresolvedError(ValueError):
    """The JSON refers to what the row does not have, or is none."""


def resolved(text: str | None, texts: Mapping[str, str]) -> Any:
    """The JSON value with its references replaced.

    Raises:
        UnresolvedError: a reference leads nowhere, or it is no JSON.
    """
    if text is None:
        return None
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnresolvedError(f"no JSON: {error}") from None
    return _whole(value, texts, 0)


def _whole(value: Any, texts: Mapping[str, str], depth: int) -> Any:
    if depth > _DEEPEST:
        raise UnresolvedError("too deep")
    if is_list(value):
        return [_whole(item, texts, depth + 1) for item in value]
    if not is_dict(value):
        return value
    items = value
    if len(items) == 1:
        ((key, inner),) = items.items()
        if key == "$":
            return _named(inner, texts)
        if key == "$r" and is_list(inner):
            return "".join(_piece(piece, texts) for piece in inner)
        if key == "$raw" and is_dict(inner):
            items = inner  # the provider's own, which looks like a reference
    return {name: _whole(item, texts, depth + 1) for name, item in items.items()}


def _piece(piece: Any, texts: Mapping[str, str]) -> str:
    if isinstance(piece, str):
        return piece
    return _named(piece.get("$") if is_dict(piece) else None, texts)


def _named(name: Any, texts: Mapping[str, str]) -> str:
    if not isinstance(name, str) or name not in texts:
        raise UnresolvedError(f"no text {name!r}")
    return texts[name]
