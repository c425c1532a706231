"""What became of every row of an import."""

from __future__ import annotations

from typing import Final

from turnspan_console.output import Output
from turnspan_console.panels.results import print_block
from turnspan_console.values import counted
from turnspan_records.importing.sources import ImportReport

_MEMBERS: Final = (
    *("kind", "source", "project", "resumed", "source_rows", "seen", "rows", "problem_count"),
    *("problems", "waiting"),
)
"""What the JSON has of a report, in this order."""
_SHOWN: Final = 20
"""Problems that a terminal is shown."""


def print_report(report: ImportReport, format_: str, output: Output) -> None:
    """Print what became of every row, as ``table`` or ``json``."""
    names = ("source", "became", "rows")
    seen = [(table, what, rows) for (table, what), rows in sorted(report.seen.items())]
    if format_ == "json":
        said = {name: getattr(report, name) for name in _MEMBERS}
        said["seen"] = [dict(zip(names, row, strict=True)) for row in seen]
        said["rows"] = dict(sorted(report.rows.items()))
        said["problems"] = [{"row": one.row, "reason": one.reason} for one in report.problems]
        output.json(said)
        return
    made = ", ".join(f"{rows:,} {table}" for table, rows in sorted(report.rows.items()))
    since = " (new since the last import)" if report.resumed else ""
    output.title(counted(report.source_rows, "row"), f"of {report.source}{since}  {made}")
    print_block(names, seen, output)
    shown = [(one.row, one.reason) for one in report.problems[:_SHOWN]]
    print_block(("row", "problem"), shown, output)
    if report.problem_count > _SHOWN:
        output.line(f"  and {report.problem_count - _SHOWN:,} more: --format json names them.")
