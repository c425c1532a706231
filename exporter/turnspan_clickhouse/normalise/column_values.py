"""An attribute's value as a column's."""

from __future__ import annotations

from typing import Any

from turnspan import semconv
from turnspan.content.model import dumps_text


def text(value: Any) -> str:
    """An attribute's value as a column's text; empty for none."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, dict)):
        return dumps_text(value)
    if isinstance(value, int) and value.bit_length() > 64:  # Python writes 4,300 digits at most
        return dumps_text(value).strip('"')
    return str(value)


def integer(value: Any) -> int | None:
    """A count, or None for what is not one."""
    if type(value) is int and 0 <= value < 2**63:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value < 2**63 else None


def agent_version(attributes: dict[str, Any]) -> str:
    """The agent's version: by our name, or by the conventions' for remote agents."""
    ours = attributes.get(semconv.TURN_AGENT_VERSION)
    return text(ours if ours is not None else attributes.get(semconv.AGENT_VERSION))
