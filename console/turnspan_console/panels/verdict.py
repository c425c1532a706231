"""The doctor's findings on the screen."""

from __future__ import annotations

from collections.abc import Sequence

from turnspan_console import styles
from turnspan_console.checks.check import FAIL, OK, WARN, Check
from turnspan_console.output import Output
from turnspan_console.page import Page

_MARKS = {OK: ("✓", styles.GOOD), WARN: ("!", styles.WARN), FAIL: ("✗", styles.BAD)}


def print_checks(checks: Sequence[Check], output: Output) -> None:
    """Write the findings by area, each remedy below what it mends."""
    page = Page(output, full=True)
    width = max((len(one.name) for one in checks), default=0)
    area = ""
    for one in checks:
        if one.area != area:
            if area:
                page.blank()
            area = one.area
            page.line((area.capitalize(), styles.TITLE))
        mark, style = _MARKS[one.level]
        finding_style = "" if one.level == OK else style
        page.text(one.finding, mark=f"  {mark} {one.name:{width}}  ", style=finding_style)
        if one.remedy:
            page.text(one.remedy, mark=f"    {'':{width}}  → ")
    if not checks:
        page.line(("Nothing is wrong.", styles.GOOD))
