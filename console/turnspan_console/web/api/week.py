"""A week of agents: the questions of ``turnspan week``, each with its rows and SQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.overview import DiagnosticAnswer, answer_of
from turnspan_console.web.api.refusals import understood
from turnspan_console.web.endpoints import endpoint
from turnspan_records.access.questions import shown_sql
from turnspan_records.coding.week import week_report


@dataclass(frozen=True, slots=True)
class WeekQuery:
    """Which week of which project."""

    project: str = ""
    week: str = ""
    """As ISO 8601 has it, such as ``2026-W47``; empty for the current one."""


@dataclass(frozen=True, slots=True)
class WeekAnswer:
    """A week, from Monday 00:00 UTC, and the weeks beside it."""

    week: str
    since: datetime
    until: datetime
    before: str
    after: str
    parts: list[DiagnosticAnswer]


@endpoint("GET", "/api/week", "Where a week went.")
def _week(store: Store, query: WeekQuery) -> WeekAnswer:
    with understood():
        report = week_report(store, query.week, project=query.project)
    window = report.window
    asked = (
        one.question.asked(store, project=query.project, window=window, limit=10)
        for one in report.parts
    )
    parts = [
        answer_of(one.question, one.result, shown_sql(*sql))
        for one, sql in zip(report.parts, asked, strict=True)
    ]
    return WeekAnswer(report.name, window.since, window.until, *report.beside, parts)
