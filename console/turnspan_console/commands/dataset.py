"""``turnspan dataset``: named, versioned sets of cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.commands._listing import print_found
from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.options import (
    FORMATS,
    answer_options,
    format_option,
    open_chosen,
    optional,
    period_options,
    project_option,
    read_window,
    several,
    store_option,
    valued,
)
from turnspan_console.output import Output
from turnspan_console.values import one_line

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Store
    from turnspan_records.again.cases.dataset import Case, Dataset


@click.group("dataset", short_help="Sets of cases, from turns or files: make, list, show, diff.")
def command() -> None:
    """Named sets of cases (an input, and the expected answer) for `turnspan experiment`. A version
    never changes; the same cases again make no new version.

    \b
      turnspan dataset make refunds --where 'agent:shop outcome:used'
      turnspan dataset make sums --file sums.csv
    """


@command.command("make", short_help="Make a version of a dataset.")
@click.argument("name", metavar="NAME")
@optional("--where", "FILTER", "Of turns that match, as `turnspan turns --filter`.")
@period_options
@optional("--file", "FILE", "Of a .jsonl, .csv or .parquet file.", kind=click.Path(path_type=Path))
@valued("--input-column", "input", "The file's column of inputs.")
@valued("--expected-column", "expected", "The file's column of expected answers.")
@valued("--tags-column", "tags", "The file's column of tags.")
@several("--tag", "TAG", "A tag of all cases. Repeatable.", "tags")
@project_option
@valued("--limit", 10_000, "The most turns.", kind=click.IntRange(1, 1_000_000))
@store_option
def make(
    name: str,
    where: str | None,
    since: str | None,
    until: str | None,
    file: Path | None,
    tags: tuple[str, ...],
    project: str,
    limit: int,
    **columns: str,
) -> None:
    """Make a version of dataset NAME. Of turns, the input is the user's message; expected is a
    correction, or the answer if it was judged used or a good example. Of equal inputs the first
    (newest) counts.

    \b
      turnspan dataset make refunds --where 'agent:shop -stop:completed' --since 7d
      turnspan dataset make sums --file sums.csv --input-column question
    """
    from turnspan_clickhouse.rows.tables import DatasetCase
    from turnspan_records.access.row_writer import judging_spool
    from turnspan_records.again.cases.case_sources import COLUMNS, cases_of_file, cases_of_turns
    from turnspan_records.again.cases.dataset import DatasetError, make_dataset
    from turnspan_records.turn_filters import TurnListFilter, turn_filter

    if (where is None) == (file is None):
        raise Failure("Name either turns (--where FILTER, '' for all) or a --file.", USAGE)
    with open_chosen(create=file is not None) as store, failing(DatasetError, code=FINDING):
        judging_spool(store, DatasetCase)
        cases: list[Case]
        if file is not None:
            asked, wanted, tagged = (columns[f"{name}_column"] for name in COLUMNS)
            cases = list(cases_of_file(file, (asked, wanted, tagged), tags=tags))
        else:
            with failing(ValueError, code=USAGE):
                chosen = turn_filter(where or "")
            turns = TurnListFilter(project, read_window(since, until), chosen)
            project, cases = cases_of_turns(store, turns, tags=tags, limit=limit)
        with failing(ValueError, code=USAGE):
            made, is_new = make_dataset(store, name, cases, project=project)
    with open_chosen():  # which lands it
        pass
    with_expected = sum(case.expected is not None for case in made.cases)
    said = f"{made.title}: {len(made.cases)} cases, {with_expected} with an expected answer"
    Output().line(said if is_new else f"{said}; nothing is new")


@command.command("list", short_help="List the datasets and their versions, newest first.")
@project_option
@valued("--limit", 20, "The most versions.", kind=click.IntRange(1, 1_000_000))
@format_option(*FORMATS)
@store_option
def list_(project: str, limit: int, format_: str) -> None:
    """List the datasets and their versions, newest first.

    \b
      turnspan dataset list
    """
    from turnspan_records.again.cases.dataset import datasets

    with open_chosen() as store:
        print_found(datasets(store, project=project, limit=limit), format_)


@command.command("show", short_help="Show the cases of a dataset.")
@click.argument("dataset", metavar="NAME[@VERSION]")
@answer_options(*FORMATS)
def show(dataset: str, project: str, format_: str) -> None:
    """Show the cases of a dataset: of its newest version, or of the one that is named.

    \b
      turnspan dataset show refunds
      turnspan dataset show refunds@38912b --format jsonl > refunds.jsonl
    """
    from turnspan_console.panels.results import print_rows

    with open_chosen() as store:
        found = _load(store, dataset, project)
    output = Output()
    names = ("case", "input", "expected", "tags", "turn")
    if format_ in ("table", "csv"):
        rows = [_texts(case) for case in found.cases]
        print_rows(names, rows, output, format_, indent=0)
        return
    whole = [
        {"case": c.id, "input": c.input, "expected": c.expected, "tags": c.tags, "turn": c.turn_id}
        for c in found.cases
    ]
    if format_ == "json":
        output.json(whole)
    else:
        for one in whole:
            output.json_line(one)


@command.command("diff", short_help="Compare two versions of a dataset.")
@click.argument("before", metavar="NAME[@VERSION]")
@click.argument("after", metavar="NAME[@VERSION]")
@answer_options("text", "json")
def diff(before: str, after: str, project: str, format_: str) -> None:
    """Show the cases that were added, removed or changed (the same input, another expected answer
    or other tags).

    \b
      turnspan dataset diff refunds@38912b refunds
    """
    from turnspan_records.again.cases.dataset import compare_datasets

    with open_chosen() as store:
        first, second = (_load(store, one, project) for one in (before, after))
    found = compare_datasets(first, second)
    output = Output()
    if format_ == "json":
        output.json(found)
        return
    output.line(f"{found.before} to {found.after}")
    marked = [("+", one) for one in found.added] + [("-", one) for one in found.removed]
    for mark, one in marked + [("~", after) for _, after in found.changed]:
        output.line(f"{mark} {'  '.join(_texts(one)[:3])}")
    if not marked and not found.changed:
        output.line("No case differs.")


def _load(store: Store, title: str, project: str) -> Dataset:
    from turnspan_records.again.cases.dataset import DatasetError, load_dataset

    with failing(DatasetError, code=FINDING):
        return load_dataset(store, title, project=project)


def _texts(case: Case) -> list[Any]:
    from turnspan_records.again.cases.scores import as_text

    wanted = "" if case.expected is None else as_text(case.expected)
    texts = (as_text(case.input), wanted, ", ".join(case.tags), case.turn_id)
    return [case.id, *map(one_line, texts)]
