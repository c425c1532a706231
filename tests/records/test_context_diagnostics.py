"""The diagnostics of assembled contexts give right answers, on both kinds of stores."""

from __future__ import annotations

import math
from datetime import datetime, timezone
from typing import Any

import pytest

from support.landing import insert
from support.rows import PROJECT, T0, turn
from turnspan_clickhouse.rows.tables import Annotation, ContextAssemblyRow, ContextItemRow, Record
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.window import Window
from turnspan_records.diagnostics import find

SECOND = 10**9


def answer(store: Store, name: str, **options: Any) -> list[dict[str, Any]]:
    return find(name).run(store, **options).dicts()


def picked(rows: list[dict[str, Any]], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in rows]


def assembly(id_: str, at: float = 0.0, **values: Any) -> ContextAssemblyRow:
    known: dict[str, Any] = {
        "project": PROJECT,
        "session_id": "s1",
        "assembly_id": id_,
        "start_time": T0 + round(at * SECOND),
        "status": "final",
        "task_type": "query",
        "written_at": T0,
    }
    return ContextAssemblyRow(**{**known, **values})


def item(assembly_id: str, id_: str, at: float = 0.0, **values: Any) -> ContextItemRow:
    known: dict[str, Any] = {
        "project": PROJECT,
        "session_id": "s1",
        "assembly_id": assembly_id,
        "start_time": T0 + round(at * SECOND),
        "item_id": id_,
        "section": "encyclopedia",
        "tokens": 10,
        "kept": True,
        "written_at": T0,
    }
    return ContextItemRow(**{**known, **values})


def dropped(assembly_id: str, id_: str, reason: str, **values: Any) -> ContextItemRow:
    return item(assembly_id, id_, kept=False, reason=reason, **values)


def test_context_budget_says_what_each_section_takes_and_loses(store: Store) -> None:
    """Shares are of the tokens that were kept."""
    insert(
        store,
        item("a", "rules", section="instructions", tokens=300),
        item("a", "Cabo Norte", tokens=60),
        dropped("a", "Tides", "budget", tokens=40),
        item("b", "Cabo Norte", tokens=40),
        item("b", "talk", section="talk", tokens=None),
        dropped("c", "Fog", "budget", section="external", tokens=70),
        item("z", "elsewhere", project="other", tokens=9_000),
    )
    rows = answer(store, "context_budget", project=PROJECT)
    names = ("section", "contexts", "kept_items", "tokens", "token_share", "tokens_each")
    assert picked(rows, *names)[:2] == [
        ("instructions", 1, 1, 300, 0.75, 300.0),
        ("encyclopedia", 2, 2, 100, 0.25, 50.0),
    ]
    lost = picked(rows, "section", "dropped_items", "dropped_tokens", "dropped_rate")
    assert lost == [
        ("instructions", 0, 0, 0.0),
        ("encyclopedia", 1, 40, 1 / 3),
        ("external", 1, 70, 1.0),
        ("talk", 0, 0, 0.0),
    ]


def test_context_dropped_counts_by_reason_and_section(store: Store) -> None:
    """What was never decided is told apart; the window is that of the assemblies."""
    insert(
        store,
        *[dropped(name, "Tides", "budget") for name in "abc"],
        dropped("a", "Fog", "budget"),
        dropped("a", "Cabo", "duplicate", section="sources"),
        dropped("b", "odd", "", section=""),
        item("a", "kept"),
        dropped("late", "Tides", "budget", at=90),
    )
    until = datetime.fromtimestamp(T0 / 1e9 + 60, timezone.utc)
    rows = answer(store, "context_dropped", window=Window(until=until))
    assert picked(rows, "reason", "section", "items", "tokens", "contexts") == [
        ("budget", "encyclopedia", 4, 40, 3),
        ("(not decided)", "(none)", 1, 10, 1),
        ("duplicate", "sources", 1, 10, 1),
    ]
    assert rows[0]["usual_items"].startswith("Tides")


def test_context_bypassed_says_how_often_and_why(store: Store) -> None:
    """The share is of the task's contexts; one that has not ended does not count."""
    insert(
        store,
        assembly("a", 0, bypassed=True, bypass_reason="obviously a query", turn_id="t1"),
        assembly("b", 1, bypassed=True, bypass_reason="obviously a query", turn_id="t2"),
        assembly("c", 2, bypassed=True, task_type="edit_page"),
        assembly("d", 3),
        assembly("e", 4),
        assembly("f", 5, status="running"),
    )
    rows = answer(store, "context_bypassed")
    assert picked(rows, "task_type", "reason", "contexts", "share", "turns", "assembly") == [
        ("query", "obviously a query", 2, 0.5, 2, "b"),
        ("edit_page", "(none given)", 1, 1.0, 0, "c"),
    ]


def turns(
    name: str, count: int, badly: int, *items: tuple[str, str, str], **values: Any
) -> list[Record]:
    """So many turns, so many of which ended badly, with these items (id, section, reason)."""
    made: list[Record] = []
    for number in range(count):
        id_ = f"{name}{number:015d}"
        reason = "error" if number < badly else "completed"
        made.append(turn(id_, number, stop_reason=reason, **values))
        made += [
            item(f"c{id_}", one, turn_id=id_, section=section, reason=why, kept=not why)
            for one, section, why in items
        ]
    return made


def newcombe(x: int, n: int, y: int, m: int) -> tuple[float, float]:
    """The interval of x/n - y/m, by the textbook."""
    z = 1.959963984540054

    def wilson(k: int, of: int) -> tuple[float, float]:
        p, zz = k / of, z * z
        middle, half = p + zz / (2 * of), z * math.sqrt(p * (1 - p) / of + zz / (4 * of * of))
        return (middle - half) / (1 + zz / of), (middle + half) / (1 + zz / of)

    p, q = x / n, y / m
    (a, b), (c, d) = wilson(x, n), wilson(y, m)
    return (
        p - q - math.sqrt((p - a) ** 2 + (d - q) ** 2),
        p - q + math.sqrt((b - p) ** 2 + (q - c) ** 2),
    )


def test_context_outcomes_compares_turns_that_lost_something(store: Store) -> None:
    """Rates, counts and interval for any item, by section, by item and by reason."""
    kept, lost = ("Cabo", "encyclopedia", ""), ("Tides", "encyclopedia", "budget")
    insert(
        store,
        *turns("a", 40, 24, kept, lost),
        *turns("b", 50, 10, kept, ("Tides", "encyclopedia", "")),
        *turns("c", 10, 0, kept, ("Fog", "external", "duplicate")),
    )
    rows = {(row["lost"], row["name"]): row for row in answer(store, "context_outcomes")}
    any_item = rows["any item", ""]
    assert (any_item["lost_turns"], any_item["other_turns"]) == (40, 60)
    assert (any_item["lost_bad_rate"], any_item["other_bad_rate"]) == (0.6, 10 / 60)
    interval = newcombe(24, 40, 10, 60)
    assert (any_item["low_rate"], any_item["high_rate"]) == pytest.approx(interval)
    assert any_item["difference_rate"] == pytest.approx(0.6 - 10 / 60)
    assert any_item["verdict"] == "worse"
    tides = rows["item", "Tides"]
    assert (tides["lost_turns"], tides["other_turns"]) == (40, 50)
    assert rows["section", "encyclopedia"]["other_turns"] == 60
    budget = rows["reason", "budget"]
    assert (budget["lost_turns"], budget["other_turns"]) == (40, 60)
    duplicate = rows["reason", "duplicate"]
    assert (duplicate["lost_turns"], duplicate["other_turns"]) == (10, 90)
    assert ("section", "external") not in rows, "a duplicate is no loss"


def test_context_outcomes_claims_nothing_of_few_turns(store: Store) -> None:
    """Under 30 on one side there is neither difference nor interval; with 30 there is."""
    insert(
        store,
        *turns("a", 29, 29, ("Tides", "encyclopedia", "budget")),
        *turns("b", 500, 0, ("Tides", "encyclopedia", "")),
    )
    claims = ("difference_rate", "low_rate", "high_rate", "verdict")
    for row in answer(store, "context_outcomes"):
        assert tuple(row[name] for name in claims) == (None, None, None, "too few turns"), row
    insert(store, *turns("c", 1, 1, ("Tides", "encyclopedia", "budget")))
    for row in answer(store, "context_outcomes"):
        assert (row["verdict"], row["difference_rate"]) == ("worse", 1.0)


def test_context_outcomes_goes_by_what_people_say(store: Store) -> None:
    """A judgment beats the stop reason; a turn that runs has not ended."""
    judged = [
        Annotation(project=PROJECT, subject_kind="turn", subject_id=f"{name}{number:015d}",
                   kind="outcome", outcome=outcome, created_at=T0, written_at=T0,
                   annotation_id=f"{name}{number}")
        for name, outcome, count in (("a", "rejected", 3), ("b", "used", 5))
        for number in range(count)
    ]  # fmt: skip
    insert(
        store,
        *turns("a", 10, 0, ("Tides", "encyclopedia", "budget")),
        *turns("b", 10, 5, ("Tides", "encyclopedia", "")),
        *turns("d", 9, 9, ("Tides", "encyclopedia", ""), status="running"),
        *judged,
    )
    rows = {(row["lost"], row["name"]): row for row in answer(store, "context_outcomes")}
    row = rows["any item", ""]
    assert (row["lost_bad_rate"], row["other_bad_rate"]) == (0.3, 0.0)
    assert (row["lost_turns"], row["other_turns"]) == (10, 10)
