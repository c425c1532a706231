"""What an arbiter decided: as it wrote it, as an output's JSON tells it, or as the tables of
llm-consortium have it. The one place where any of them is read."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from turnspan.runtime.type_guards import is_dict, is_list
from turnspan_llm.grouping.prompts import between_tags

_AREA: Final = re.compile(r"</?area>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Decided:
    """What an arbiter decided; ``None`` and empty where it is not told."""

    synthesis: str | None = None
    confidence: float | None = None
    """0 to 1."""
    reasoning: str | None = None
    """Its analysis."""
    needs_iteration: bool | None = None
    refinement_areas: tuple[str, ...] = ()
    ranking: tuple[str, ...] = ()
    """The best first."""

    def filled(self, other: Decided) -> Decided:
        """The same, with what it does not tell as another one does."""
        told = {
            each.name: value
            for each in fields(self)
            if (value := getattr(self, each.name)) not in (None, "", ())
        }
        return replace(other, **told)


def of_reply(text: str) -> Decided:
    """By what the arbiter wrote. A ranking in it has numbers of answers that only its prompt tells,
    so it is left out."""
    needs = between_tags(text, "needs_iteration")
    areas = between_tags(text, "refinement_areas")
    return Decided(
        synthesis=between_tags(text, "synthesis"),
        confidence=_confidence(between_tags(text, "confidence")),
        reasoning=between_tags(text, "analysis"),
        # What llm-consortium takes for a yes.
        needs_iteration=None if needs is None else needs.lower() == "true",
        refinement_areas=_lines([] if areas is None else [areas]),
    )


def of_json(value: Any) -> Decided:
    """By llm-consortium's own words for it, which outputs and tables keep as JSON."""
    if not is_dict(value):
        return Decided()
    needs = value.get("needs_iteration")
    return Decided(
        synthesis=_text(value.get("synthesis")),
        confidence=_confidence(value.get("confidence")),
        reasoning=_text(value.get("analysis")),
        needs_iteration=needs if isinstance(needs, bool) else None,
        refinement_areas=_lines(_items(value.get("refinement_areas"))),
        ranking=_lines(_items(value.get("ranking"))),
    )


def of_table(row: Mapping[str, Any]) -> Decided:
    """By a row of the table ``arbiter_decisions``; its own columns before its JSON."""
    columns = Decided(
        synthesis=_text(row.get("synthesis")),
        confidence=_confidence(row.get("confidence")),
        refinement_areas=_lines(_items(_parsed(row.get("refinement_areas")))),
        ranking=_lines(_items(_parsed(row.get("ranking_json")))),
    )
    return columns.filled(of_json(_parsed(row.get("decision_json"))))


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _items(value: Any) -> list[Any]:
    return value if is_list(value) else []


def _confidence(said: Any) -> float | None:
    """A confidence of 0 to 1, or in per cent."""
    try:
        value = float(said.strip().rstrip("%") if isinstance(said, str) else said)
    except (TypeError, ValueError, OverflowError):
        return None
    if isinstance(said, bool) or not math.isfinite(value):
        return None
    if 0 <= value <= 1:
        return value
    return value / 100 if 1 < value <= 100 else None


def _lines(texts: Iterable[Any]) -> tuple[str, ...]:
    """One area a line, whatever tags the version puts around them."""
    lines = (line for text in texts for line in _AREA.sub("\n", str(text)).splitlines())
    return tuple(line.strip() for line in lines if line.strip())


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
