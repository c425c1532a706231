"""``turnspan diagnose``: the shipped questions, answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import FINDING, USAGE, Failure
from turnspan_console.options import listing_options, open_chosen, read_window

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Result, Store
    from turnspan_console.output import Output
    from turnspan_records.access.window import Window
    from turnspan_records.diagnostics import Diagnostic

_OVERVIEW_ROWS = 5
_ALL_ROWS = frozenset({"how_turns_end"})
"""Short by nature: the overview shows them whole."""


@click.command(
    "diagnose", short_help="Ask why turns stop, what fails, loops, is slow or costs most."
)
@click.argument("name", required=False)
@click.option("--list", "list_", is_flag=True, help="List the diagnostics with their questions.")
@click.option("--sql", "show_sql", is_flag=True, help="Print the diagnostic's SQL and stop.")
@listing_options
@click.pass_context
def command(
    context: click.Context,
    name: str | None,
    list_: bool,
    show_sql: bool,
    since: str | None,
    until: str | None,
    project: str,
    limit: int,
    format_: str,
    raw: bool,
) -> None:
    """Run the diagnostic NAME, or all of them in brief.

    \b
      turnspan diagnose
      turnspan diagnose premature_stops --since 7d
      turnspan diagnose usage --format csv > usage.csv
    """
    from turnspan_console.ids import diagnostic
    from turnspan_console.output import Output
    from turnspan_records.diagnostics import diagnostics

    output = Output()
    if list_:
        _print_list(output, format_)
        return
    remedy = "`turnspan diagnose --list` names them."
    chosen = [diagnostic(name, remedy)] if name else list(diagnostics().values())
    if show_sql:
        _print_sql(chosen, output)
        return
    if not name and format_ in ("jsonl", "csv"):
        raise Failure(f"--format {format_} needs the NAME of one diagnostic.", USAGE)
    window = read_window(since, until)
    default_limit = context.get_parameter_source("limit") is click.core.ParameterSource.DEFAULT
    brief = not name and default_limit

    def rows_of(one: Diagnostic) -> int:
        return _OVERVIEW_ROWS if brief and one.name not in _ALL_ROWS else limit

    with open_chosen() as store:
        records = _Records(store, project, window)
        limits = [(one, rows_of(one)) for one in chosen]
        if format_ == "table":
            _end(_print_tables(records, limits, output, brief=not name))
            return
        answers = [(one, records.answer(one, rows)) for one, rows in limits]
        if not any(result.rows for _, result in answers):
            records.explain_nothing()
        _print_data(answers, format_, output, single=bool(name), raw=raw)
        _end(any(result.rows for _, result in answers))


@dataclass(frozen=True, slots=True)
class _Records:
    """What is asked: a store's records of a project and a time."""

    store: Store
    project: str
    window: Window

    def answer(self, one: Diagnostic, limit: int) -> Result:
        return one.run(self.store, project=self.project, window=self.window, limit=limit)

    def explain_nothing(self) -> bool:
        """Say why there is nothing in them, if there is a reason; whether there is."""
        from turnspan_console.output import note
        from turnspan_records.access.absence import why_nothing

        reason = why_nothing(self.store, project=self.project, window=self.window)
        if reason:
            note(f"nothing to diagnose in {self.store.dsn}: {reason}.")
        return bool(reason)


def _print_sql(chosen: list[Diagnostic], output: Output) -> None:
    output.line("\n\n".join(f"-- {one.title}\n{one.sql};" for one in chosen))


def _print_list(output: Output, format_: str) -> None:
    from turnspan_console.panels.results import print_rows
    from turnspan_records.diagnostics import diagnostics

    rows = [(one.name, one.question) for one in diagnostics().values()]
    print_rows(("name", "question"), rows, output, format_, indent=0)


def _print_tables(
    records: _Records, limits: list[tuple[Diagnostic, int]], output: Output, *, brief: bool
) -> bool:
    """Print each answer as soon as it is there; none where there is nothing to ask about. Whether
    any has rows."""
    from turnspan_console.panels.diagnostic import print_answer

    rows = 0
    for at, (one, limit) in enumerate(limits):
        result = records.answer(one, limit + 1)  # to know whether there is more
        if at == 0 and not result.rows and records.explain_nothing():
            break
        print_answer(one, result, output, brief=brief, first=at == 0, limit=limit)
        rows += len(result.rows)
    return bool(rows)


def _end(found: bool) -> None:
    if not found:
        raise click.exceptions.Exit(FINDING)


def _print_data(
    answers: list[tuple[Diagnostic, Result]],
    format_: str,
    output: Output,
    *,
    single: bool,
    raw: bool,
) -> None:
    from turnspan_console.panels.results import print_result

    if format_ == "json":
        output.json(_as_json(answers, single))
    else:
        print_result(answers[0][1], format_, output, raw=raw)


def _as_json(answers: list[tuple[Diagnostic, Result]], single: bool) -> Any:
    from turnspan_console.panels.results import as_json

    if single:
        return as_json(answers[0][1])
    return [
        {"name": one.name, "title": one.title, "rows": as_json(result)} for one, result in answers
    ]
