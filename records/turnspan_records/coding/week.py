"""A week of agents: where time and money went, what failed, what came again. From records alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from functools import cache
from importlib import resources
from typing import Final

from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.window import EARLIEST, LATEST, Window
from turnspan_records.diagnostics import Diagnostic, diagnostics, read_diagnostic

_QUESTIONS: Final = (
    *("coding/week_spending", "coding/week_counted", "coding/week_failures", "failing_tools"),
    "loops",
    *("coding/week_compactions", "coding/week_prompts", "coding/week_instructions"),
)
"""Files of ``sql``, and diagnostics, in the order in which they are shown."""
_WEEK: Final = re.compile(r"(\d{4})-?W(\d{1,2})", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class WeekPart:
    """A question with its answer for the week."""

    question: Diagnostic
    result: Result


@dataclass(frozen=True, slots=True)
class WeekReport:
    """A week, from Monday 00:00 UTC, with all its parts."""

    name: str
    """As ISO 8601 has it: ``2026-W47``."""
    window: Window
    project: str
    parts: tuple[WeekPart, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was recorded."""
        return not any(part.result.rows for part in self.parts)

    @property
    def beside(self) -> tuple[str, str]:
        """The names of the weeks before and after."""
        around = (self.window.since - timedelta(days=1), self.window.until)
        before, after = (week_window(now=one)[0] for one in around)
        return before, after


def week_window(name: str = "", *, now: datetime | None = None) -> tuple[str, Window]:
    """A week by its ISO name, with its window; without a name the current one.

    Raises:
        ValueError: it is no week; the message shows one.
    """
    year, week, _ = (now or datetime.now(timezone.utc)).isocalendar()
    if name:
        found = _WEEK.fullmatch(name.strip())
        year, week = (int(found[1]), int(found[2])) if found else (0, 0)
    try:
        monday = datetime.fromisocalendar(year, week, 1).replace(tzinfo=timezone.utc)
        if not EARLIEST < monday < LATEST:
            raise ValueError
    except ValueError:
        raise ValueError(f"{name!r} is no week: write 2026-W47.") from None
    return f"{year}-W{week:02}", Window(monday, monday + timedelta(days=7))


@cache
def week_questions() -> tuple[Diagnostic, ...]:
    """What a week is asked, in the order in which it is shown."""
    known, made, text = diagnostics(), list[Diagnostic](), ""
    for name in _QUESTIONS:
        topic, _, short = name.rpartition("/")
        if topic:
            text = (
                resources.files("turnspan_records.sql").joinpath(f"{name}.sql").read_text("utf-8")
            )
        made.append(read_diagnostic(short, text, topic) if topic else known[name])
    return tuple(made)


def week_report(store: Store, name: str = "", *, project: str = "", limit: int = 10) -> WeekReport:
    """Ask all questions of a week.

    Args:
        store: an open store.
        name: the week, as ``week_window`` reads it.
        project: only this project; empty for all.
        limit: rows of each part at most (of the spending: of each kind).

    Raises:
        ValueError: ``name`` is no week.
        StoreError: as ``Store.query``.
    """
    name, window = week_window(name)
    parts = (
        WeekPart(one, one.run(store, project=project, window=window, limit=limit))
        for one in week_questions()
    )
    return WeekReport(name, window, project, tuple(parts))
