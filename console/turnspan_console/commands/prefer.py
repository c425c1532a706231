"""``turnspan prefer``: of several records one is better."""

from __future__ import annotations

from typing import Any

import click

from turnspan_console.judgment_command import Judging, author_options, subject_options
from turnspan_console.options import store_option, text_option
from turnspan_console.output import Output
from turnspan_console.values import counted


@click.command("prefer", short_help="Prefer one answer to others.")
@click.argument("chosen")
@click.argument("rejected", nargs=-1, required=True)
@text_option("--reason", "TEXT", "The reason.")
@author_options
@subject_options
@store_option
def command(
    chosen: str, rejected: tuple[str, ...], reason: str, kind: str | None, project: str, **by: Any
) -> None:
    """Prefer CHOSEN to each of REJECTED: ids of turns, model calls, ...

    Each pair is a judgment. The newest preference on a pair holds.

    \b
      turnspan prefer 2d7bcff0 20757a1c --reason 'shorter'
    """
    from turnspan_records.judging.annotation import prefer

    with Judging(kind, project) as judging:
        better, *others = judging.all((chosen, *rejected))
        count = prefer(judging.spool, better, others, reason=reason, **by)
    Output().line(f"{better.kind} {better.id}: {counted(count, 'preference')}")
