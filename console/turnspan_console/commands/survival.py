"""``turnspan survival``: how many of the lines that agents wrote still stand."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, UNAVAILABLE, Failure, failing
from turnspan_console.options import answer_options, open_chosen, valued
from turnspan_console.output import Output, note
from turnspan_console.values import counted, dollars

if TYPE_CHECKING:
    from decimal import Decimal

    from turnspan_records.coding.authorship.survival import Outcome, Standing, Survival

_NAMED = 5
"""Folders that are named to people."""


@click.command("survival", short_help="Count how many of the agents' lines stand after days.")
@click.argument("repositories", nargs=-1, metavar="[REPO]...", type=click.Path(path_type=Path))
@valued(
    "--by",
    "model",
    "What lines are grouped by.",
    kind=click.Choice(("model", "task", "tool", "repository")),
)
@answer_options("table", "json")
def command(repositories: tuple[Path, ...], by: str, project: str, format_: str) -> None:
    """Count how many of the lines that coding agents wrote in git repositories stand on the main
    line after 1, 7 and 30 days, and what a line that stands cost. Without REPO: in those of this
    machine that the records name.

    A column counts the lines that are old enough for it.

    \b
      turnspan survival --by repository
      turnspan survival ~/one ~/other
    """
    from turnspan_records.coding.authorship.recorded_edits import editing_turns
    from turnspan_records.coding.authorship.survival import (
        recorded_repositories,
        repository_outcomes,
        survival,
    )
    from turnspan_records.quality.git_command import Repository
    from turnspan_records.quality.sources import SourceError

    outcomes: list[Outcome] = []
    with open_chosen() as store, failing(SourceError, code=UNAVAILABLE):
        turns = editing_turns(store, project)
        chosen, reasons = [Repository(one) for one in repositories], dict[str, str]()
        if not repositories:
            chosen, reasons = recorded_repositories(turns)
        for repository in chosen:
            outcomes += repository_outcomes(store, repository, turns, by, round(time.time()))
    groups = survival(outcomes)
    elsewhere = {one.edit.turn.folder for one in outcomes}  # a clone of it is here
    left_out = {folder: why for folder, why in reasons.items() if folder not in elsewhere}
    if format_ == "json":
        Output().json({"by": by, "groups": groups, "left_out": left_out})
    elif groups:
        _print(groups, by, Output())
    if left_out:
        names = ", ".join(list(left_out)[:_NAMED]) + ", ..." * (len(left_out) > _NAMED)
        note(f"{counted(len(left_out), 'folder')} of agents left out, no repository here: {names}")
    if not groups:
        raise Failure("No recorded agent wrote a line here: see `turnspan import`.", FINDING)


def _print(groups: list[Survival], by: str, output: Output) -> None:
    from turnspan_console.panels.results import print_rows

    def money(value: Decimal | None) -> str:
        return "unknown" if value is None else dollars(value)

    names = (by, "turns", "lines", "1 day", "7 days", "30 days", "now", "cost", "cost a line")
    rows = [
        (
            *(one.name or "unknown", one.turns, one.lines, *map(_share, one.after)),
            *(money(one.cost_usd), money(one.cost_per_line_usd)),
        )
        for one in groups
    ]
    print_rows(names, rows, output)
    unknown = sum(one.turns_without_cost for one in groups)
    if unknown:
        output.line(f"\nThe cost of {unknown:,} turns is unknown and counted nowhere.")


def _share(one: Standing) -> str:
    return f"{one.standing / one.lines:.0%} of {one.lines:,}" if one.lines else "-"
