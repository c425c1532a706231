"""What fails, on the screen: by the shape of its message; and one tool closely."""

from __future__ import annotations

from typing import Final

from turnspan_console import styles, values
from turnspan_console.output import Output
from turnspan_console.page import Page
from turnspan_console.panels.results import print_rows
from turnspan_records.screens.errors import ErrorShapes, Fed, ToolFailures

_COLUMNS: Final = (
    *("what", "name", "error", "times", "failure_rate", "turns", "first_time", "last_time"),
    *("last_span", "message"),
)
_LINES: Final = 4
"""Lines of a text, unless all are asked for."""


def print_failures(
    failures: ErrorShapes | ToolFailures, output: Output, *, full: bool = False
) -> None:
    """Write what failed, most first, or what one tool was fed, for a person."""
    if isinstance(failures, ToolFailures):
        _print_tool(failures, Page(output, full=full))
        return
    rows = [
        (
            *(one.source, one.name, one.error, one.times),
            one.times / one.of if one.of else None,
            *(one.turns, one.first, one.last, one.place.span, one.shape),
        )
        for one in failures.shapes
    ]
    print_rows(_COLUMNS, rows, output, indent=0)


def _print_tool(told: ToolFailures, page: Page) -> None:
    """What a tool was fed, and what the model did when it failed."""
    page.line(("Tool ", styles.TITLE), (values.one_line(told.tool), styles.TITLE))
    if told.next_steps:
        page.heading("what the model did next")
    for step in told.next_steps:
        page.line(
            f"  {values.counted(step.times, 'time'):<10}",
            f"{step.did:<24}",
            (f"newest {step.place.span}", styles.ID),
        )
    _fed("arguments that fail", [one for one in told.fed if one.failed], page)
    _fed("arguments that work", [one for one in told.fed if not one.failed], page)


def _fed(title: str, each: list[Fed], page: Page) -> None:
    page.heading(title)
    with page.deeper():
        for one in each:
            page.line(
                (f"{values.moment(one.time)}  ", styles.FAINT),
                (values.one_line(one.place.span), styles.ID),
            )
            with page.deeper():
                page.text(one.arguments or "not recorded", limit=_LINES)
                page.text(one.said, mark="→ ", style=styles.BAD if one.failed else "", limit=_LINES)
        if not each:
            page.line(("none in this time", styles.FAINT))
