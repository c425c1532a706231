"""Tokens by modality: attributes of a call's span, from a provider's own words for them."""

from __future__ import annotations

from typing import Any, Final

from turnspan import semconv

_SEEN_AS: Final = {"document": "image"}
"""A page of a PDF is an image to the models, and is priced as one."""


def add_tokens(attributes: dict[str, Any], kind: str, modality: Any, count: Any) -> None:
    """Count tokens of a kind (``semconv.INPUT``, ...) and a modality; none where there are none."""
    if not isinstance(count, int) or not count or not isinstance(modality, str):
        return
    seen: str = modality.lower()
    name = semconv.USAGE_BY_MODALITY.get((kind, _SEEN_AS.get(seen, seen)))
    if name is not None:
        attributes[name] = attributes.get(name, 0) + count
