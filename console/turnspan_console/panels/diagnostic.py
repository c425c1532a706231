"""The answer of a diagnostic."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from rich.text import Text

from turnspan_clickhouse.store.client import Result, Store
from turnspan_console import styles
from turnspan_console.output import Output
from turnspan_console.panels.results import print_result
from turnspan_records.access.window import Window
from turnspan_records.diagnostics import Diagnostic, diagnostics


def print_answer(
    one: Diagnostic, result: Result, output: Output, *, brief: bool, first: bool, limit: int
) -> None:
    """Print a diagnostic's answer as a table; ``brief`` leaves its question and remedy out."""
    if not first:
        output.line()
    output.title(one.title, one.name)
    if not brief:
        output.prose(Text(one.question, style=styles.FAINT))
        output.line()
    if not result.rows:
        output.line(Text("  nothing found", style=styles.GOOD))
        return
    shown = Result(result.names, result.types, result.rows[:limit])
    print_result(shown, "table", output, indent=2 if brief else 0)
    if len(result.rows) > limit:
        more = "  …" if brief else f"the first {limit:,}: --limit shows more"
        output.line(Text(more, style=styles.FAINT))
    if not brief:
        output.line()
        output.prose(Text(one.remedy, style=styles.FAINT))


def print_brief_answers(
    store: Store, rows: Mapping[str, int], project: str, since: datetime, output: Output
) -> None:
    """Print the answers of diagnostics in brief, each by its name with so many rows."""
    for name, limit in rows.items():
        one = diagnostics()[name]
        window = Window(since=since)
        result = one.run(store, project=project, window=window, limit=limit + 1)
        print_answer(one, result, output, brief=True, first=False, limit=limit)
