"""What all kinds of imports do alike: run, show progress, and account for every row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, UNAVAILABLE, Failure, failing
from turnspan_console.options import chosen_dsn, format_option, open_chosen, store_option, together
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_records.importing.sources import SourceLog


import_options = together(
    click.option(
        "--project",
        metavar="NAME",
        default="",
        help="The project of the records.  [default: the source's, else the kind]",
    ),
    click.option(
        "--again",
        is_flag=True,
        help="Import from the beginning again. No row is stored twice.",
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
    from turnspan_records.importing.import_run import import_log
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
    from turnspan_console.panels.import_report import print_report

    print_report(report, format_, Output())
    if report.problem_count:
        raise Failure(
            f"{report.problem_count:,} rows were not taken as they are: see above.", FINDING
        )
