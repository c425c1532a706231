"""``turnspan experiment``: an agent over the cases of a dataset, scored."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.options import (
    answer_options,
    open_chosen,
    optional,
    several,
    store_text,
    text_option,
    valued,
)
from turnspan_console.output import Output, note, tell
from turnspan_console.values import dollars, one_line

if TYPE_CHECKING:
    from turnspan_records.again.cases.experiment_results import ExperimentResults
    from turnspan_records.again.cases.experiment_run import ExperimentRun


@click.group("experiment", short_help="Run an agent over a dataset, score it, compare versions.")
def command() -> None:
    """Run versions of an agent over the cases of a dataset, and compare their scores. Every case
    is an attempt with all its records (`turnspan lineage EXPERIMENT` shows them).

    \b
      turnspan experiment run refunds --dataset refunds --agent app:answer --score exact
      turnspan experiment show refunds
    """


@command.command("run", short_help="Run an agent over a dataset, and score it.")
@click.argument("name", metavar="EXPERIMENT")
@optional("--dataset", "NAME[@VERSION]", "The dataset.  [required]")
@optional("--agent", "MODULE:FUNCTION", "The agent: a function of the input.  [required]")
@text_option(
    "--version", "LABEL", "The agent version's label.  [default: a hash of its source file]"
)
@several(
    "--score",
    "SCORER",
    "A scorer: exact, contains, regex[:PATTERN], json_schema:FILE, numeric[:TOLERANCE], "
    "tools[:ORDER] (exact, in_order, any_order, subset), cost:USD, latency:SECONDS, no_errors, or "
    "MODULE:FUNCTION. Repeatable.",
    "scorers",
)
@valued("--times", 1, "Attempts of each case.", kind=click.IntRange(1))
@valued("--parallel", 4, "The most attempts at a time.", kind=click.IntRange(1, 1_000))
@optional("--max-usd", "USD", "Start no case once so much is spent.", kind=click.FloatRange(0))
@optional(
    "--timeout",
    "SECONDS",
    "An attempt fails after so long.",
    kind=click.FloatRange(0, min_open=True),
)
@answer_options("text", "json")
def run(name: str, dataset: str | None, agent: str | None, format_: str, **options: Any) -> None:
    """Run an agent over the cases of a dataset, and score what it answers. The same command again
    runs what is left: stop it at any time.

    \b
      turnspan experiment run refunds --dataset refunds --agent app:answer --score exact,no_errors
      turnspan experiment run refunds --dataset refunds --agent app:answer --times 3 --max-usd 2
    """
    from turnspan_records.access.named_functions import LoadError, load_function
    from turnspan_records.again.cases.dataset import DatasetError
    from turnspan_records.again.cases.experiment_run import ExperimentError, run_experiment
    from turnspan_records.again.cases.scores import ScorerError

    if not dataset or not agent:
        raise Failure("Name a --dataset and an --agent.", USAGE)
    with (
        failing(LoadError, ScorerError, code=USAGE),
        failing(DatasetError, ExperimentError, code=FINDING),
    ):
        done = run_experiment(
            name,
            dataset=dataset,
            agent=load_function(agent),
            store=store_text(),
            note=note,
            progress=lambda at: tell(f"{at.earlier + at.ran}/{at.planned}", dim=True),
            **options,
        )
    Output().answer(done, format_, _print_run)
    if done.stopped or done.scorer_errors:
        raise click.exceptions.Exit(FINDING)


def _print_run(done: ExperimentRun, output: Output) -> None:
    finished = done.earlier + done.ran
    output.title(f"{one_line(done.experiment)} {one_line(done.version)}", done.dataset)
    said = f"{finished} of {done.planned} attempts finished ({done.ran} now), {done.failed} failed"
    output.line(f"{said}, {dollars(done.cost_usd)}")
    for scorer, score in done.scores.items():
        output.line(f"  {one_line(scorer)}  {score:.3g}")
    for error, times in done.scorer_errors.items():
        output.line(f"  not scored {times} times: {one_line(error)}")
    if done.stopped:
        output.line(f"Stopped: {done.stopped}. {done.left} attempts are left.")
    output.line(f"Compare versions: turnspan experiment show {one_line(done.experiment)}")


@command.command("show", short_help="Compare the versions of an experiment, case by case.")
@click.argument("name", metavar="EXPERIMENT")
@valued("--by", "case", "A row a case, or a row a version.", kind=click.Choice(("case", "version")))
@text_option("--scorer", "NAME", "Only this scorer's scores.  [default: the mean of all]")
@optional("--junit", "FILE", "Also write JUnit XML.", kind=click.Path(path_type=Path))
@valued("--passing", 0.5, "In JUnit XML, a score below fails.", kind=float)
@answer_options("table", "json")
def show(
    name: str,
    by: str,
    scorer: str,
    junit: Path | None,
    passing: float,
    project: str,
    format_: str,
) -> None:
    """Compare the versions of EXPERIMENT: their scores, case by case, those first that the last
    version does worst.

    \b
      turnspan experiment show refunds
      turnspan experiment show refunds --by version --junit results.xml
    """
    from turnspan_console.ids import experiment_named
    from turnspan_records.again.cases.experiment_results import experiment_results
    from turnspan_records.again.cases.experiment_results import junit as junit_xml

    hint = " with finished cases: `turnspan lineage` lists the experiments."
    with open_chosen() as store, experiment_named(store, name, hint):
        found = experiment_results(store, name, project=project, scorer=scorer)
    if junit is not None:
        junit.write_bytes(junit_xml(found, passing=passing))
    Output().answer(found, format_, partial(_print_results, by=by))


def _print_results(found: ExperimentResults, output: Output, *, by: str) -> None:
    from turnspan_console.panels.results import print_rows

    if by == "version":
        scorers = sorted({name for one in found.versions for name in one.scores})
        names = ("version", "attempts", "failed", *scorers, "cost_usd", "duration_seconds")
        rows: list[list[Any]] = [
            [
                *(one_line(one.version), one.attempts, one.failed),
                *(_cell(one.scores.get(name)) for name in scorers),
                *(one.cost_usd, one.duration),
            ]
            for one in found.versions
        ]
    else:
        names = ("case", "input", *(one_line(one.version) for one in found.versions))
        rows = [
            [case.case_id, one_line(case.input)[:200], *map(_cell, case.scores, case.failed)]
            for case in found.cases
        ]
    print_rows(names, rows, output, indent=0)


def _cell(score: float | None, failed: int = 0) -> str:
    words = ["" if score is None else f"{score:.3g}", f"{failed} failed" if failed else ""]
    return " ".join(words).strip()
