"""Rows of exports: named in either case, their values plain, JSON in a text, or CSV's texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from turnspan.content.model import as_dict, as_list
from turnspan_records.importing.transcripts.fields import opened

Row = dict[str, Any]

_HUMP: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")


def snake(name: str) -> str:
    """``traceId`` -> ``trace_id``."""
    return _HUMP.sub(lambda found: "_" + found[1].lower(), name)


def renamed(row: Row, names: frozenset[str]) -> tuple[Row, Row]:
    """The columns of these names, in snake case, and those of no such name. What is null or, as in
    CSV, empty is left out."""
    known: Row = {}
    others: Row = {}
    for key, value in row.items():
        if value is None or value == "":
            continue
        name = snake(key)
        if name in names:
            known[name] = value
        else:
            others[key] = value
    return known, others


def text(row: Mapping[str, Any], name: str) -> str:
    """A column that is text."""
    value = row.get(name)
    return value if isinstance(value, str) else "" if value is None else str(value)


def structure(row: Mapping[str, Any], name: str) -> Any:
    """A column whose value may be JSON in a text."""
    return opened(row.get(name))


def mapping(row: Mapping[str, Any], name: str) -> Row:
    """A column that is an object; empty for anything else."""
    return as_dict(structure(row, name)) or {}


def listed(row: Mapping[str, Any], name: str) -> list[Any]:
    """A column that is a list; empty for anything else."""
    return as_list(structure(row, name)) or []


def number(value: Any) -> float | None:
    """A number, also written as a text; None for what is none."""
    if isinstance(value, bool):
        return float(value)
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if found == found else None
