"""What ``turnspan demo --camp`` shows of a training camp."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.text import Text

from turnspan_console import styles
from turnspan_console.output import Output

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Store
    from turnspan_records.loop.improvement import Experiment

PROJECT = "camp"


def print_camp(store: Store, session: str, output: Output) -> None:
    """Print a camp's tree, its first answer beside its last, and what was learned."""
    from turnspan_clickhouse.ship.first_run import typed
    from turnspan_console.commands.diagnose import print_answer
    from turnspan_console.panels.comparison import print_comparison
    from turnspan_console.panels.lineages import print_experiment
    from turnspan_records.diagnostics import diagnostics
    from turnspan_records.lookup import Found
    from turnspan_records.loop.comparing import compare
    from turnspan_records.loop.lineages import experiment

    shown = experiment(store, session, project=PROJECT)
    print_experiment(shown, output)
    ids = _first_and_last(shown)
    output.line()
    output.line(Text("The first answer of a lineage beside its last", styles.TITLE))
    found = [Found("artifact", id_, shown.project) for id_ in ids]
    print_comparison(compare(store, found), output)
    for name in ("versions", "insights"):
        one = diagnostics()[name]
        result = one.run(store, project=PROJECT, limit=50)
        print_answer(one, result, output, brief=True, first=False, limit=50)
    output.line()
    output.line(Text("The records are in ", style=styles.TITLE).append(str(store.dsn)))
    output.line()
    output.line("Ask them more:")
    command = typed()
    for line in (
        f"export TURNSPAN_STORE={shlex.quote(str(store.dsn))}",
        f"{command} lineage {shlex.quote(session)}",
        f"{command} compare {' '.join(id_[:8] for id_ in ids)}",
        f"{command} annotate {ids[-1][:8]} --score 9",
        f"{command} diagnose duplicates",
    ):
        output.line(Text(f"  {line}", style=styles.FAINT))


def _first_and_last(shown: Experiment) -> list[str]:
    """What was written of one title in the first cycle and in the last, by one lineage."""
    rollouts = shown.lineages[0].rollouts
    task = rollouts[0].task
    finals = [one.final for one in rollouts if one.task == task]
    artifacts = [one.artifacts[0].artifact_id for one in finals if one is not None]
    return [artifacts[0], artifacts[-1]]
