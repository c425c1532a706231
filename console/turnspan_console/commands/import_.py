"""``turnspan import``: logs of other tools, as records. Its kinds are the entry points of
``turnspan.importers``: click commands whose function returns a ``SourceLog``."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import FINDING, UNAVAILABLE, Failure, failing
from turnspan_console.lazy import Lazy
from turnspan_console.options import (
    chosen_dsn,
    flag,
    format_option,
    open_chosen,
    store_option,
    text_option,
)
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from collections.abc import Callable

    from turnspan_records.importing.sources import SourceLog


@click.command()
@text_option(
    "--project", "NAME", "The project of the records.  [default: the source's, else the kind]"
)
@flag("--again", "Import from the beginning again. No row is stored twice.")
@format_option("table", "json")
@store_option
def _every(**_: Any) -> None:
    """Has the options of every kind."""


class Importers(Lazy):
    """The kinds: each has the options of its importer, then those of every import."""

    def command_of(self, loaded: Any) -> click.Command:
        """The command that imports the log that an importer returns."""
        importer = super().command_of(loaded)
        if importer.callback is None:
            raise TypeError("its command has no function that returns a log")
        command = copy(importer)
        command.params = [*importer.params, *_every.params]
        command.callback = partial(_import, importer.callback)
        return command


@click.group(
    "import",
    cls=Importers,
    group="turnspan.importers",
    short_help="Import logs of other tools.",
)
@store_option
def command() -> None:
    """Import another tool's log into the store, as ordinary records.

    Rows that were imported before are skipped. A killed import continues. The source is only read.
    """


def _import(
    importer: Callable[..., SourceLog], *, project: str, again: bool, format_: str, **options: Any
) -> None:
    """Import a log into the chosen store, which is made if it is not there, and print the report.

    Raises:
        Failure: the source cannot be read, the spool is full, or a row was not taken as it is.
    """
    from turnspan_clickhouse.errors import SpoolError
    from turnspan_clickhouse.spool.spool import Spool
    from turnspan_console.panels.bars import Bars
    from turnspan_console.panels.import_report import print_report
    from turnspan_records.importing.import_run import import_log
    from turnspan_records.importing.sources import Completing, SourceLogError

    with Bars() as bars, failing(SourceLogError, SpoolError, code=UNAVAILABLE):
        log = importer(**options)
        report = import_log(
            lambda: open_chosen(create=True),
            Spool(chosen_dsn().spool),
            log,
            project=project or ("" if log.own_projects else log.kind),
            again=again,
            progress=lambda done, total: bars.show("rows", done, total),
        )
        if isinstance(log, Completing) and not report.waiting:
            with open_chosen() as store:
                log.complete(store)
    if report.waiting:
        note(report.waiting)
    print_report(report, format_, Output())
    if report.problem_count:
        raise Failure(
            f"{report.problem_count:,} rows were not taken as they are: see above.", FINDING
        )
