"""What the GenAI conventions say, as ``tests/data/semconv_registry.json`` has it.

``python tests/support/semconv_registry.py <resolved registry>`` writes that file anew from a
resolved registry: attributes with their types, spans, metrics and events with the requirement level
of each attribute and whether a sampler has to see it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

FILE = Path(__file__).resolve().parents[1] / "data" / "semconv_registry.json"
LICENCE = "Apache-2.0, The OpenTelemetry Authors; condensed: descriptions and notes left out"


@dataclass(frozen=True)
class Use:
    """How a span, metric or event uses an attribute."""

    level: str
    condition: str
    sampling: bool


@dataclass(frozen=True)
class Group:
    """A span, metric or event; ``kind`` is the span's kind or the metric's instrument."""

    kind: str
    unit: str
    attributes: Mapping[str, Use]

    def required(self) -> set[str]:
        """The attributes that are never missing."""
        return {name for name, use in self.attributes.items() if use.level == "required"}

    def sampling(self) -> set[str]:
        """The attributes that a sampler has to see."""
        return {name for name, use in self.attributes.items() if use.sampling}


@dataclass(frozen=True)
class Registry:
    """The conventions."""

    types: Mapping[str, str]
    members: Mapping[str, frozenset[str]]
    spans: Mapping[str, Group]
    refinements: Mapping[str, Group]
    metrics: Mapping[str, Group]
    events: Mapping[str, Group]

    def wrong_type(self, name: str, value: Any) -> str:
        """Why the value is not of the attribute's type; empty where it is (or has no type)."""
        wanted = self.types.get(name)
        if wanted is None or _fits(wanted, value):
            return ""
        return f"{name} is {type(value).__name__}, not {wanted}: {value!r}"


_PLAIN: Mapping[str, type] = {
    "string": str,
    "enum(string)": str,
    "template[string]": str,
    "int": int,
    "double": float,
    "boolean": bool,
    "any": object,
}


def _fits(kind: str, value: object) -> bool:
    if kind == "string[]":
        if not isinstance(value, (tuple, list)):
            return False
        return all(isinstance(item, str) for item in cast("Iterable[object]", value))
    if isinstance(value, bool):  # which Python also takes for an int
        return kind in ("boolean", "any")
    return isinstance(value, _PLAIN[kind])


@cache
def registry() -> Registry:
    """The conventions as the file has them."""
    data: Any = json.loads(FILE.read_text())
    attributes: dict[str, Any] = data["attributes"]
    return Registry(
        types={name: a["type"] for name, a in attributes.items()},
        members={n: frozenset(a["members"]) for n, a in attributes.items() if "members" in a},
        spans={name: _group(g) for name, g in data["spans"].items()},
        refinements={name: _group(g) for name, g in data["refinements"].items()},
        metrics={name: _group(g) for name, g in data["metrics"].items()},
        events={name: _group(g) for name, g in data["events"].items()},
    )


def _group(group: Mapping[str, Any]) -> Group:
    uses = {
        name: Use(use["level"], use.get("condition", ""), use.get("sampling", False))
        for name, use in group["attributes"].items()
    }
    return Group(group.get("kind", ""), group.get("unit", ""), uses)


def condense(resolved: Mapping[str, Any]) -> dict[str, Any]:
    """What the tests need of a resolved registry."""
    return {
        "source": resolved["source"],
        "licence": LICENCE,
        "attributes": {
            name: {"type": a["type"], **({"members": a["members"]} if a["members"] else {})}
            for name, a in sorted(resolved["attributes"].items())
        },
        "spans": {n: _condensed(g, kind=g["kind"]) for n, g in resolved["spans"].items()},
        "refinements": {
            n: _condensed(g, refines=g["ref"]) for n, g in resolved["span_refinements"].items()
        },
        "metrics": {
            n: _condensed(g, kind=g["instrument"], unit=g["unit"])
            for n, g in resolved["metrics"].items()
        },
        "events": {n: _condensed(g) for n, g in resolved["events"].items()},
    }


def _condensed(group: Mapping[str, Any], **head: str) -> dict[str, Any]:
    uses: dict[str, Any] = {}
    for name, use in sorted(group["attributes"].items()):
        uses[name] = {"level": use["level"]}
        if use["cond"]:
            uses[name]["condition"] = use["cond"]
        if use["sampling"]:
            uses[name]["sampling"] = True
    return {**head, "attributes": uses}


if __name__ == "__main__":
    FILE.write_text(
        json.dumps(condense(json.loads(Path(sys.argv[1]).read_text())), indent=1) + "\n"
    )
