"""A week's report: as tables on a terminal, as JSON, as a page of HTML."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Final

from turnspan_clickhouse.store.html_text import escaped
from turnspan_console import values
from turnspan_console.output import Output
from turnspan_console.panels.diagnostic import print_answer
from turnspan_console.panels.results import as_json
from turnspan_console.panels.tables import heading
from turnspan_records.coding.week import WeekPart, WeekReport

_CODE: Final = re.compile("`([^`]+)`")
_LONG: Final = 40
"""Characters of a cell that may be broken into lines."""


def print_week(report: WeekReport, output: Output) -> None:
    """Write all parts, those without rows too."""
    output.title(f"Week {report.name}", _days(report))
    for part in report.parts:
        shown = len(part.result.rows)
        print_answer(
            part.question, part.result, output, brief=not shown, first=False, limit=max(shown, 1)
        )


def week_json(report: WeekReport) -> dict[str, Any]:
    """The report for a program. Times are ISO 8601 in UTC."""
    return {
        "week": report.name,
        "since": report.window.since.isoformat(),
        "until": report.window.until.isoformat(),
        "project": report.project,
        "parts": [
            {name: getattr(one.question, name) for name in ("name", "title", "question", "remedy")}
            | {"rows": as_json(one.result)}
            for one in report.parts
        ],
    }


def as_html(report: WeekReport) -> str:
    """The report as a fragment of HTML; recorded text is text in it."""
    about = f" of project {report.project}" if report.project else ""
    head = f"<p>{escaped(_days(report) + about)}. <code>turnspan show ID</code> opens an id.</p>"
    return f'<div class="turnspan">{head}{"".join(map(_section, report.parts))}</div>\n'


def _section(part: WeekPart) -> str:
    question, result = part.question, part.result
    head = f'<h2>{escaped(question.title)}</h2><p class="faint">{escaped(question.question)}</p>'
    if not result.rows:
        return f"{head}<p>Nothing found.</p>"
    columns = [
        (at, name)
        for at, name in enumerate(result.names)
        if any(row[at] not in (None, "") for row in result.rows)
    ]
    titles = "".join(f"<th>{escaped(heading(name))}</th>" for _, name in columns)
    cells = ("".join(_cell(row[at], name) for at, name in columns) for row in result.rows)
    rows = "".join(f"<tr>{one}</tr>" for one in cells)
    remedy = _CODE.sub(r"<code>\1</code>", escaped(question.remedy))
    return (
        f"{head}<table><thead><tr>{titles}</tr></thead><tbody>{rows}</tbody></table>"
        f'<p class="faint">{remedy}</p>'
    )


def _cell(value: Any, name: str) -> str:
    text = values.human(value, name)
    look = ' class="long"' if len(text) > _LONG else ""
    return f"<td{look}>{escaped(text)}</td>"


def _days(report: WeekReport) -> str:
    last = report.window.until - timedelta(days=1)
    return f"{report.window.since:%Y-%m-%d} to {last:%Y-%m-%d} (UTC)"
