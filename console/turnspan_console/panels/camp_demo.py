"""What ``turnspan demo --camp`` shows of a training camp."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.output import Output
from turnspan_console.panels import demo_sets
from turnspan_console.panels.comparison import print_comparison
from turnspan_console.panels.demo_frame import need_clone, print_next, recorded
from turnspan_console.panels.diagnostic import print_brief_answers
from turnspan_console.panels.lineages import print_experiment
from turnspan_records.lookup import RecordRef
from turnspan_records.loop.comparison import compare
from turnspan_records.loop.lineages import experiment

PROJECT: Final = "camp"


def need_example() -> None:
    """Say where the example is, where it is not."""
    need_clone("training_camp", "training camp", "--camp")


def play(store: str) -> list[str]:
    """Play the training camp, recorded; returns what its experiment is called."""
    from training_camp import run

    with recorded(store, service="turnspan-demo", project=PROJECT):
        return [run().session]


def show(store: Store, dsn: Dsn, played: Sequence[str], begun: datetime, output: Output) -> None:
    """Show a camp's tree, its first answer beside its last, what was learned, and the training
    data that comes of it."""
    session = played[0]
    shown = experiment(store, session, project=PROJECT)
    print_experiment(shown, output)
    # What one lineage wrote of one title in the first cycle and in the last.
    rollouts = shown.lineages[0].rollouts
    task = rollouts[0].task
    finals = [one.final for one in rollouts if one.task == task]
    artifacts = [one.artifacts[0].artifact_id for one in finals if one is not None]
    ids = [artifacts[0], artifacts[-1]]
    output.line()
    output.title("The first answer of a lineage beside its last")
    found = [RecordRef("artifact", id_, shown.project) for id_ in ids]
    print_comparison(compare(store, found), output)
    print_brief_answers(store, {"versions": 50, "insights": 50}, PROJECT, begun, output)
    demo_sets.show(store, dsn, PROJECT, begun, output)
    commands = (
        *(("lineage", session), ("compare", *(id_[:8] for id_ in ids))),
        *(("annotate", ids[-1][:8], "--score", "9"), ("diagnose", "duplicates")),
        ("export", "preference", "--project", PROJECT, "--to", "sets/pairs"),
    )
    print_next(dsn, commands, output)
