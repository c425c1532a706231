"""``turnspan diagnose``: the shipped questions, answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from turnspan_console.commands._listing import Listing, listing_options
from turnspan_console.failures import FINDING, USAGE, Failure
from turnspan_console.options import FORMATS, flag, open_chosen
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Store
    from turnspan_records.diagnostics import Diagnostic

_OVERVIEW_ROWS = 5
_ALL_ROWS = frozenset({"how_turns_end"})
"""Short by nature: the overview shows them whole."""


@click.command(
    "diagnose", short_help="Ask why turns stop, what fails, loops, is slow or costs most."
)
@click.argument("name", required=False)
@flag("--list", "List the diagnostics with their questions.", "list_")
@flag("--sql", "Print the diagnostic's SQL and stop.", "show_sql")
@listing_options(*FORMATS)
@click.pass_context
def command(
    context: click.Context, name: str | None, list_: bool, show_sql: bool, listing: Listing
) -> None:
    """Run the diagnostic NAME, or all of them in brief.

    \b
      turnspan diagnose
      turnspan diagnose early_stops --since 7d
      turnspan diagnose usage --format csv > usage.csv
    """
    from turnspan_console.ids import diagnostic
    from turnspan_console.panels.results import as_json, print_result, print_rows
    from turnspan_records.diagnostics import diagnostics

    output, format_ = Output(), listing.format_
    if list_:
        rows = [(one.name, one.question) for one in diagnostics().values()]
        print_rows(("name", "question"), rows, output, format_, indent=0)
        return
    remedy = "`turnspan diagnose --list` names them."
    chosen = [diagnostic(name, remedy)] if name else list(diagnostics().values())
    if show_sql:
        output.line("\n\n".join(f"-- {one.title}\n{one.sql};" for one in chosen))
        return
    if not name and format_ in ("jsonl", "csv"):
        raise Failure(f"--format {format_} needs the NAME of one diagnostic.", USAGE)
    default_limit = context.get_parameter_source("limit") is click.core.ParameterSource.DEFAULT
    brief = not name and default_limit
    limits = [
        (one, _OVERVIEW_ROWS if brief and one.name not in _ALL_ROWS else listing.limit)
        for one in chosen
    ]
    with open_chosen() as store:
        if format_ == "table":
            found = _print_tables(store, listing, limits, output, brief=not name)
        else:
            answers = [(one, one.run(store, **listing.records, limit=n)) for one, n in limits]
            found = any(result.rows for _, result in answers)
            if not found:
                _is_explained(store, listing)
            if name:
                print_result(answers[0][1], format_, output, raw=listing.raw)
            else:
                output.json(
                    [
                        {"name": one.name, "title": one.title, "rows": as_json(result)}
                        for one, result in answers
                    ]
                )
    if not found:
        raise click.exceptions.Exit(FINDING)


def _is_explained(store: Store, listing: Listing) -> bool:
    """Say why there is nothing to ask about, if there is a reason; whether there is."""
    from turnspan_records.access.absence import why_nothing

    reason = why_nothing(store, **listing.records)
    if reason:
        note(f"nothing to diagnose in {store.dsn}: {reason}.")
    return bool(reason)


def _print_tables(
    store: Store,
    listing: Listing,
    limits: list[tuple[Diagnostic, int]],
    output: Output,
    *,
    brief: bool,
) -> bool:
    """Print each answer as soon as it is there; none where there is nothing to ask about. Whether
    any has rows."""
    from turnspan_console.panels.diagnostic import print_answer

    rows = 0
    for at, (one, limit) in enumerate(limits):
        # One more, to know whether there is more.
        result = one.run(store, **listing.records, limit=limit + 1)
        if at == 0 and not result.rows and _is_explained(store, listing):
            break
        print_answer(one, result, output, brief=brief, first=at == 0, limit=limit)
        rows += len(result.rows)
    return bool(rows)
