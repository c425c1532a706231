"""JSON as llm condenses it: texts that the row has anyway are references in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

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
    if isinstance(value, list):
        return [_whole(item, texts, depth + 1) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    items = cast("dict[str, Any]", value)
    if len(items) == 1:
        ((key, inner),) = items.items()
        if key == "$":
            return _named(inner, texts)
        if key == "$r" and isinstance(inner, list):
            return "".join(_piece(piece, texts) for piece in cast("list[Any]", inner))
        if key == "$raw" and isinstance(inner, dict):
            items = cast("dict[str, Any]", inner)  # the provider's, like a reference
    return {name: _whole(item, texts, depth + 1) for name, item in items.items()}


def _piece(piece: Any, texts: Mapping[str, str]) -> str:
    if isinstance(piece, str):
        return piece
    return _named(
        cast("dict[str, Any]", piece).get("$") if isinstance(piece, dict) else None, texts
    )


def _named(name: Any, texts: Mapping[str, str]) -> str:
    if not isinstance(name, str) or name not in texts:
        raise UnresolvedError(f"no text {name!r}")
    return texts[name]
