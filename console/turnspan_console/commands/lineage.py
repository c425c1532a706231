"""``turnspan lineage``: an experiment as a tree."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from turnspan_console.options import (
    flag,
    format_option,
    open_chosen,
    project_option,
    store_option,
)
from turnspan_console.output import Output

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Store


@click.command(
    "lineage", short_help="Show an experiment: lineages, versions, attempts, scores, cost."
)
@click.argument("session", required=False, metavar="[EXPERIMENT]")
@project_option
@flag("--full", "Show changes whole (a pipe always gets them whole).")
@format_option("text", "json")
@store_option
def command(session: str | None, project: str, full: bool, format_: str) -> None:
    """Show an EXPERIMENT: its lineages with their versions and changes, and their rollouts with
    attempts, scores and cost.

    Without EXPERIMENT it shows the only one, or lists the newest.

    \b
      turnspan lineage
      turnspan lineage articles
    """
    from turnspan_console.ids import experiment_named
    from turnspan_console.panels.lineages import print_experiment
    from turnspan_records.loop.lineages import experiment

    with open_chosen() as store:
        session = session or _only(store, project, format_)
        if not session:
            return
        with experiment_named(store, session, ": `turnspan lineage` lists them."):
            shown = experiment(store, session, project=project)
    Output().answer(shown, format_, partial(print_experiment, full=full))


def _only(store: Store, project: str, format_: str) -> str:
    """The only experiment there is; of several, the newest are listed."""
    from turnspan_console.commands._listing import explain, print_found
    from turnspan_records.loop.lineages import experiments

    found = experiments(store, project=project)
    if not found.rows:
        explain(store, "no experiments", project=project)
    if len(found.rows) == 1:
        return str(found.rows[0][found.names.index("experiment")])
    print_found(found, "json" if format_ == "json" else "table")
    return ""
