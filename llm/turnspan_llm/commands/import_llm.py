"""``turnspan import llm``: the logs of simonw/llm."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.options import optional

if TYPE_CHECKING:
    from turnspan_llm.importing.log import LlmLog


@click.command(short_help="Import the log of simonw/llm.")
@click.argument("logs_db", metavar="LOGS_DB", type=click.Path(path_type=Path))
@optional(
    "--consortium-db",
    "FILE",
    "llm-consortium's own log.  [default: consortium_logs.db beside LOGS_DB, if it is there]",
    kind=click.Path(path_type=Path),
)
def command(logs_db: Path, consortium_db: Path | None) -> LlmLog:
    """Import LOGS_DB, llm's database; `llm logs path` prints where it is.

    It reads the databases of llm 0.5 and newer. A conversation becomes a session, a response a
    model call with the conversation's history, and each question of a user begins a turn.
    Consortium runs are found as by `turnspan consortium group`; you need not run that first.

    \b
      turnspan import llm "$(llm logs path)"
    """
    from turnspan_llm.grouping.runs import beside
    from turnspan_llm.importing.log import LlmLog

    return LlmLog(logs_db, consortium_db or beside(logs_db))
