"""``turnspan rank``: the order of several records, best first."""

from __future__ import annotations

from typing import Any

import click

from turnspan_console.judgment_command import Judging, author_options, subject_options
from turnspan_console.options import store_option, text_option
from turnspan_console.output import Output
from turnspan_console.values import counted


@click.command("rank", short_help="Order answers, best first.")
@click.argument("ids", nargs=-1, required=True, metavar="ID ID...")
@click.option(
    "--tie",
    "ties",
    nargs=2,
    multiple=True,
    metavar="ID ID",
    help="Two equally good records. Repeatable.",
)
@text_option("--reason", "TEXT", "The reason.")
@author_options
@subject_options
@store_option
def command(
    ids: tuple[str, ...],
    ties: tuple[tuple[str, str], ...],
    reason: str,
    kind: str | None,
    project: str,
    **by: Any,
) -> None:
    """Order turns, model calls, ..., best first.

    Every pair becomes a preference, as with `turnspan prefer`, except ties. All share a ranking_id.

    \b
      turnspan rank 2d7bcff0 20757a1c b0b03910
    """
    from turnspan_records.judging.annotation import rank

    with Judging(kind, project) as judging:
        found = judging.all(ids)
        count = rank(
            judging.spool,
            found,
            ties=[[judging.record(id_, prefer=(found[0].kind,)) for id_ in tie] for tie in ties],
            reason=reason,
            **by,
        )
    Output().line(f"{len(found)} {found[0].kind}s ranked: {counted(count, 'preference')}")
