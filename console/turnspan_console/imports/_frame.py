"""What all kinds of imports do alike: run, show progress, and account for every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import FINDING, UNAVAILABLE, Failure, failing
from turnspan_console.options import chosen_dsn, format_option, open_chosen, store_option, together
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_records.importing.sources import ImportReport, SourceLog

_SHOWN = 20
"""Problems that a terminal is shown."""


import_options = together(
    click.option(
        "--project",
        metavar="NAME",
        default="",
        help="The project of the records.  [default: what the source says, or its kind]",
    ),
    click.option(
        "--again",
        is_flag=True,
        help="From the beginning, whatever was imported before; nothing is there twice.",
    ),
    format_option("table", "json"),
    store_option,
)
"""``--project``, ``--again`` and ``--format``, which every kind has."""


def run(
    log: SourceLog, *, project: str, again: bool, format_: str, own_projects: bool = False
) -> None:
    """Import a log into the chosen store, which is made if it is not there, and print the report.

    Where no project is given, the records' project is the kind of log; with ``own_projects``, each
    row says its own.

    Raises:
        Failure: the source cannot be read, the spool is full, or a row was not taken as it is.
    """
    from turnspan_clickhouse.errors import SpoolError
    from turnspan_clickhouse.spool.spool import Spool
    from turnspan_console.panels.bars import Bars
    from turnspan_records.importing.running import import_log
    from turnspan_records.importing.sources import SourceLogError

    with Bars() as bars, failing(SourceLogError, SpoolError, code=UNAVAILABLE):
        report = import_log(
            lambda: open_chosen(create=True),
            Spool(chosen_dsn().spool),
            log,
            project=project or ("" if own_projects else log.kind),
            again=again,
            progress=lambda done, total: bars.show("rows", done, total),
        )
    if report.waiting:
        note(report.waiting)
    print_report(report, format_, Output())
    if report.problem_count:
        raise Failure(
            f"{report.problem_count:,} rows were not taken as they are: see above.", FINDING
        )


def print_report(report: ImportReport, format_: str, output: Output) -> None:
    """Print what became of every row, as ``table`` or ``json``."""
    if format_ == "json":
        output.json(_as_json(report))
        return
    from turnspan_console.results import print_rows
    from turnspan_console.values import counted

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
