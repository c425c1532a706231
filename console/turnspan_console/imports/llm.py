"""``turnspan import llm``: the logs of simonw/llm."""

from __future__ import annotations

from pathlib import Path

import click

from turnspan_console.imports._frame import import_options, run


@click.command("llm", short_help="Import the log of simonw/llm.")
@click.argument("logs_db", metavar="LOGS_DB", type=click.Path(path_type=Path))
@click.option(
    "--consortium-db",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="llm-consortium's own log.  [default: consortium_logs.db beside LOGS_DB, if it is there]",
)
@import_options
def command(
    logs_db: Path, consortium_db: Path | None, project: str, again: bool, format_: str
) -> None:
    """Import LOGS_DB, llm's database; `llm logs path` prints where it is.

    It reads the databases of llm 0.5 and newer. A conversation becomes a session, a response a
    model call with the conversation's history, and each question of a user begins a turn.
    Consortium runs are found as by `turnspan consortium group`; you need not run that first.
    """
    from turnspan_records.consortium.grouping import beside
    from turnspan_records.importing.llm.log import LlmLog

    log = LlmLog(logs_db, consortium_db or beside(logs_db))
    run(log, project=project, again=again, format_=format_)
