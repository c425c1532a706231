"""Opaque values of providers, which must come back exactly: masks and hook do not change them.

Where they stand in a message counts, not the key alone: what an application or a model writes under
such a key (in a tool's arguments or its result) is masked as everything else.
"""

from __future__ import annotations

import re
from typing import Any, Final

from turnspan.content.model import as_dict, as_list

_OPAQUE: Final[dict[str, frozenset[str]]] = {
    "thoughtSignature": frozenset(),
    "thought_signature": frozenset(),
    "encrypted_content": frozenset(),
    "encrypted_index": frozenset(),
    "signature": frozenset({"reasoning", "thinking", "reasoning.text"}),
    "redacted": frozenset({"reasoning"}),
    "data": frozenset({"redacted_thinking", "reasoning.encrypted"}),
}
"""The list: keys of opaque values, and the types of object that have them (none: all)."""

_WAY: Final = (
    *("parts", "content", "value", "extra", "server_tool_call_response", "citations"),
    *("tool_calls", "reasoning_details", "extra_content", "google", "provider_specific_fields"),
)
"""What leads to them. A tool's arguments and results are not among these."""

_RESULTS: Final = frozenset(
    {"tool_result", "tool_call_response", "function_call_output", "custom_tool_call_output"}
)
_MODELS: Final = frozenset({"assistant", "model"})
_VALUE: Final = re.compile(r"[A-Za-z0-9+/_=-]+\Z")
_MAX_DEPTH: Final = 8


def is_models(role: object) -> bool:
    """Whether a message of this role is the model's: nobody else's has a provider's values."""
    return isinstance(role, str) and role in _MODELS


def with_opaque(redacted: Any, before: Any, depth: int = 0) -> Any:
    """What redaction made of a message or its parts, with the opaque values of before."""
    if redacted is before or depth > _MAX_DEPTH:
        return redacted
    items, were = as_list(redacted), as_list(before)
    if items is not None and were is not None and len(items) == len(were):
        return [with_opaque(a, b, depth + 1) for a, b in zip(items, were, strict=True)]
    found, had = as_dict(redacted), as_dict(before)
    if found is None or had is None or ("role" in had and not is_models(had["role"])):
        return redacted
    kind, kept = had.get("type"), dict(found)
    if not isinstance(kind, str):  # a stranger may write anything there
        kind = ""
    if kind in _RESULTS:
        return redacted
    for key, types in _OPAQUE.items():
        value = had.get(key)
        stands = key in found and (not types or kind in types)
        if stands and isinstance(value, str) and _VALUE.match(value):
            kept[key] = value
    for key in _WAY:
        if key in found and key in had:
            kept[key] = with_opaque(found[key], had[key], depth + 1)
    return kept
