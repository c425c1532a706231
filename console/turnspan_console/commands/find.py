"""``turnspan find``: where a text stands in the records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from turnspan_console.commands._listing import Listing, listing_options
from turnspan_console.failures import FINDING, USAGE, failing
from turnspan_console.options import open_chosen, text_option
from turnspan_console.output import Output, note
from turnspan_console.values import moment, one_line

if TYPE_CHECKING:
    from turnspan_records.screens.text_search import Hit, Search


@click.command("find", short_help="Find a text in turns, tools and messages, newest first.")
@click.argument("text")
@text_option("--filter", "TEXT", "Only in turns that match, as for turnspan turns.", "filter_")
@listing_options("text", "json", "jsonl")
def command(text: str, filter_: str, listing: Listing) -> None:
    """Find TEXT, ignoring case, in what users, agents, tools and models wrote.

    It searches week by week, newest first, for some seconds. Then it prints how far back it looked,
    and the --until to go on with. Exit code 1 if nothing was found.

    \b
      turnspan find 'order 7'
    """
    from turnspan_records.screens.text_search import find_text
    from turnspan_records.turn_filters import turn_filter

    of, limit = listing.records, listing.limit
    with open_chosen() as store, failing(ValueError, code=USAGE):
        wanted = turn_filter(filter_)
        found = find_text(store, text, **of, limit=limit, seconds=10.0, filter=wanted)
    output = Output()
    if listing.format_ == "json":
        output.json(found)
    for hit in found.hits:
        if listing.format_ == "jsonl":
            output.json_line(hit)
        elif listing.format_ == "text":
            _print(hit, output)
    note(_reach(found, moment(found.back_to) if found.back_to else ""))
    if not found.hits:
        raise click.exceptions.Exit(FINDING)


def _reach(found: Search, back_to: str) -> str:
    hits = "nothing was found" if not found.hits else f"{len(found.hits):,} found"
    if found.finished:
        return f"{hits}, and everything was looked through."
    return f"{hits}, looking back to {back_to}: go on with --until {found.next}"


def _print(hit: Hit, output: Output) -> None:
    from rich.text import Text

    from turnspan_console import styles

    line = Text()
    line.append(f"{moment(hit.time)}  ", styles.FAINT)
    line.append(f"{hit.kind}  ", styles.TITLE)
    line.append(one_line(f"{hit.session or '-'}  {hit.span}"), styles.ID)
    output.line(line)
    before, after = one_line(hit.before), one_line(hit.after)
    spaced = hit.before[-1:].isspace(), hit.after[:1].isspace()
    text = Text(f"  {before}{' ' if spaced[0] else ''}")
    text.append(one_line(hit.match), styles.WARN)
    text.append(f"{' ' if spaced[1] else ''}{after}"[:160])
    output.line(text)
