"""What became of every row of an import."""

from __future__ import annotations

from typing import Any, Final

from turnspan_console.output import Output
from turnspan_console.panels.results import print_rows
from turnspan_console.values import counted
from turnspan_records.importing.sources import ImportReport

_SHOWN: Final = 20
"""Problems that a terminal is shown."""


def print_report(report: ImportReport, format_: str, output: Output) -> None:
    """Print what became of every row, as ``table`` or ``json``."""
    if format_ == "json":
        output.json(_as_json(report))
        return
    made = ", ".join(f"{rows:,} {table}" for table, rows in sorted(report.rows.items()))
    since = " (new since the last import)" if report.resumed else ""
    output.title(counted(report.source_rows, "row"), f"of {report.source}{since}  {made}")
    if report.seen:
        output.line()
        rows = [[table, what, rows] for (table, what), rows in sorted(report.seen.items())]
        print_rows(("source", "became", "rows"), rows, output)
    if report.problems:
        output.line()
        shown = [(one.row, one.reason) for one in report.problems[:_SHOWN]]
        print_rows(("row", "problem"), shown, output)
        if report.problem_count > _SHOWN:
            output.line(f"  and {report.problem_count - _SHOWN:,} more: --format json names them.")


def _as_json(report: ImportReport) -> dict[str, Any]:
    return {
        "kind": report.kind,
        "source": report.source,
        "project": report.project,
        "resumed": report.resumed,
        "source_rows": report.source_rows,
        "seen": [
            {"source": table, "became": what, "rows": rows}
            for (table, what), rows in sorted(report.seen.items())
        ],
        "rows": dict(sorted(report.rows.items())),
        "problem_count": report.problem_count,
        "problems": [{"row": one.row, "reason": one.reason} for one in report.problems],
        "waiting": report.waiting,
    }
