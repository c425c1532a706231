"""``turnspan import llm``: the logs of simonw/llm."""

from __future__ import annotations

from pathlib import Path

import click

from turnspan_console.imports._frame import import_options, run


@click.command("llm", short_help="Bring in the logs of simonw/llm.")
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
    """Bring LOGS_DB, a database of llm's, into the store; `llm logs path` says where it is.

    Databases of all versions from 0.5 on are read. A conversation becomes a session, a response a
    model call with the history of its conversation, and what a user asks begins a turn. Consortium
    runs are found as `turnspan consortium group` finds them, whether or not it was run before.
    """
    from turnspan_records.consortium.grouping import beside
    from turnspan_records.importing.llm.log import LlmLog

    log = LlmLog(logs_db, consortium_db or beside(logs_db))
    run(log, project=project, again=again, format_=format_)
