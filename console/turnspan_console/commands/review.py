"""``turnspan review``: judge one turn after the other."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import USAGE, Failure, failing
from turnspan_console.judgment_command import author_option
from turnspan_console.options import (
    chosen_dsn,
    flag,
    format_option,
    open_chosen,
    optional,
    several,
    store_option,
    together,
)
from turnspan_console.output import Output

if TYPE_CHECKING:
    from turnspan_records.judging.queues import Queue

ORDERS = ("oldest", "newest", "dearest", "random")
"""As ``turnspan_records.judging.queues`` has them; importing that would slow the start."""

queue_options = together(
    click.option("--order", type=click.Choice(ORDERS), help="The order of turns."),
    optional("--project", "NAME", "Only this project."),
    optional("--agent", "NAME", "Only this agent."),
    click.option("--odd", is_flag=True, default=None, help="Only turns that did not complete."),
    several(
        "--stop-reason", "REASON", "Only turns with this stop reason. Repeatable.", "stop_reasons"
    ),
    optional("--since", "WHEN", "Only turns that began since: 7d, 2026-11-01."),
    optional("--until", "WHEN", "Only turns that began before (as --since)."),
    optional("--sample", "N", "A random sample of N turns.", kind=click.IntRange(0)),
    optional("--seed", "NUMBER", "The seed of the sample.", kind=click.IntRange(0)),
    click.option(
        "--each/--anyone",
        default=None,
        help="Each reviewer judges each turn, or one judgment by anyone is enough.",
    ),
)
"""What a queue is made of; each replaces what the named queue says."""


@click.command("review", short_help="Judge one turn after the other, with one key each.")
@click.argument("name", metavar="[QUEUE]", required=False)
@queue_options
@optional("--save", "NAME", "Save this queue under a name, and stop.")
@flag("--list", "List the queues with their progress.", "list_")
@flag("--quick", "Go to the next turn after each judgment.")
@flag("--full", "Show long texts whole.")
@author_option("The judge's name.  [default: you]")
@format_option("table", "json", "jsonl", "csv")
@store_option
def command(
    name: str | None,
    save: str | None,
    list_: bool,
    quick: bool,
    full: bool,
    author: str,
    format_: str,
    **given: Any,
) -> None:
    """Judge the turns of QUEUE, one after the other, with one key each: used, modified, rejected,
    good candidate, exclude, a score from 1 to 10, a note.

    QUEUE is unassessed (unjudged, oldest first; the default), dearest (unjudged, most expensive
    first), odd (not completed), sample (50 at random, for every reviewer) or the name of a saved
    queue. Each judgment is stored at once, so you can stop and continue at any time.

    \b
      turnspan review
      turnspan review failed --since 7d
    """
    from turnspan_clickhouse.rows.tables import ReviewQueue
    from turnspan_clickhouse.spool.spool import Spool
    from turnspan_records.access.row_writer import judging_spool
    from turnspan_records.judging.queues import chosen_queue

    if list_:
        _list(author, format_)
        return
    spool = Spool(chosen_dsn().spool)
    said = {key: value for key, value in given.items() if value not in (None, ())}
    with open_chosen() as store:
        with failing(ValueError, code=USAGE):
            queue = chosen_queue(store, name or "", said)
        if save is not None:
            judging_spool(store, ReviewQueue)
    if save is not None:
        _save(replace(queue, name=save), spool, author)
        return
    output = Output()
    if not (output.terminal and sys.stdin.isatty()):
        raise Failure(
            "`turnspan review` needs a terminal: from a script, judge with `turnspan annotate`.",
            USAGE,
        )
    from turnspan_clickhouse.store.opening import SharedStore
    from turnspan_console.page import Page
    from turnspan_console.panels.review import KeyReader, Screen
    from turnspan_records.judging.review import Review

    # One store for all steps: to open it takes longer than a step.
    with closing(SharedStore(chosen_dsn(), lambda _: open_chosen())) as shared:
        review = Review(shared.using, spool, queue, author)
        Screen(review, Page(output), KeyReader(), quick=quick, full=full).run()


def _save(queue: Queue, spool: Any, who: str) -> None:
    from turnspan_records.judging.queues import save_queue

    with failing(ValueError, code=USAGE, end="."):
        save_queue(spool, queue, author=who)
    with open_chosen():  # which lands it
        pass
    Output().line(f"Saved: turnspan review {queue.name}")


def _list(who: str, format_: str) -> None:
    from turnspan_console.panels.results import print_rows
    from turnspan_records.judging.queues import progress, queues

    rows: list[list[Any]] = []
    with open_chosen() as store:
        for name, queue in queues(store).items():
            now = progress(store, queue, who)
            judges = "each reviewer" if queue.each else "anyone"
            rows.append([name, queue.order, judges, now.total, now.total - now.left, now.left])
    names = ("queue", "order", "judged_by", "turns", "judged", "left")
    print_rows(names, rows, Output(), format_, indent=0)
