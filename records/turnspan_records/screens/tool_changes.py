"""How one tool catalogue differs from another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from turnspan.content.model import as_dict, as_list
from turnspan_records.screens.outline_types import ToolsChange


def tools_change(before: str, now: str) -> ToolsChange:
    """The names of the tools that were added, removed and changed; bodies of definitions."""
    old, new = catalogue(before), catalogue(now)
    return ToolsChange(
        added=tuple(name for name in new if name not in old),
        removed=tuple(name for name in old if name not in new),
        changed=tuple(name for name, tool in new.items() if name in old and old[name] != tool),
    )


def catalogue(body: str) -> dict[str, Any]:
    """The tools of a definition by name; one without a name by its type."""
    found: dict[str, Any] = {}
    for tool in _tools(body):
        known = as_dict(tool) or {}
        name = str(known.get("name") or known.get("type") or "")
        found[f"{name} #{len(found)}" if name in found else name] = tool
    return found


def _tools(body: str) -> Iterator[Any]:
    try:
        yield from as_list(orjson.loads(body)) or []
    except orjson.JSONDecodeError:
        return
