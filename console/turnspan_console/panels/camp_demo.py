"""What ``turnspan demo --camp`` shows of a training camp."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from turnspan_console.failures import USAGE, Failure
from turnspan_console.output import Output

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from turnspan_clickhouse.store.client import Store
    from turnspan_clickhouse.store.dsn import Dsn
    from turnspan_records.loop.improvement import ExperimentRecord

PROJECT = "camp"


def need_example() -> None:
    """Say where the example is, where it is not: it is no part of the package."""
    if find_spec("training_camp") is None:
        raise Failure(
            "The training camp is one of the examples, which a clone of the repository has: "
            "run `make demo ARGS=--camp` there.",
            USAGE,
        )


def play(store: str) -> list[str]:
    """Play the training camp, recorded; returns what its experiment is called."""
    from training_camp import run
    from turnspan_console.panels.demo_frame import recorded

    with recorded(store, service="turnspan-demo", project=PROJECT):
        return [run().session]


def show(store: Store, dsn: Dsn, played: Sequence[str], begun: datetime, output: Output) -> None:
    """Show a camp's tree, its first answer beside its last, what was learned, and the training
    data that comes of it."""
    from turnspan_console.panels import demo_sets
    from turnspan_console.panels.comparison import print_comparison
    from turnspan_console.panels.demo_frame import print_next
    from turnspan_console.panels.diagnostic import print_answer
    from turnspan_console.panels.lineages import print_experiment
    from turnspan_records.diagnostics import diagnostics
    from turnspan_records.lookup import RecordRef
    from turnspan_records.loop.comparison import compare
    from turnspan_records.loop.lineages import experiment

    session = played[0]
    shown = experiment(store, session, project=PROJECT)
    print_experiment(shown, output)
    ids = _first_and_last(shown)
    output.line()
    output.title("The first answer of a lineage beside its last")
    found = [RecordRef("artifact", id_, shown.project) for id_ in ids]
    print_comparison(compare(store, found), output)
    for name in ("versions", "insights"):
        one = diagnostics()[name]
        result = one.run(store, project=PROJECT, limit=50)
        print_answer(one, result, output, brief=True, first=False, limit=50)
    demo_sets.show(store, dsn, PROJECT, begun, output)
    commands = (
        *(("lineage", session), ("compare", *(id_[:8] for id_ in ids))),
        *(("annotate", ids[-1][:8], "--score", "9"), ("diagnose", "duplicates")),
        ("export", "preference", "--project", PROJECT, "--to", "sets/pairs"),
    )
    print_next(dsn, commands, output)


def _first_and_last(shown: ExperimentRecord) -> list[str]:
    """What was written of one title in the first cycle and in the last, by one lineage."""
    rollouts = shown.lineages[0].rollouts
    task = rollouts[0].task
    finals = [one.final for one in rollouts if one.task == task]
    artifacts = [one.artifacts[0].artifact_id for one in finals if one is not None]
    return [artifacts[0], artifacts[-1]]
