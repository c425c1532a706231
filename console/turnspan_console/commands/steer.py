"""``turnspan steer``: what is to become of lineages."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import USAGE, Failure
from turnspan_console.judging import Judging, author_of
from turnspan_console.options import store_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnspan_records.loop.directives import Word

_ANSWERS = ("lineage", "attempt", "rollout", "artifact", "turn", "call")


@click.command("steer", short_help="Say what is to become of lineages: directives, locks, evolve.")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option(
    "--directive",
    metavar="TEXT",
    help="What is to be done differently in every cycle from now on; '' takes back what was said.",
)
@click.option(
    "--once", multiple=True, metavar="TEXT", help="What is to be done differently in the next one."
)
@click.option("--lock", is_flag=True, help="It stays as it is.")
@click.option("--unlock", is_flag=True, help="It may be evolved again.")
@click.option("--evolve", is_flag=True, help="It was judged: its next version may be made.")
@click.option("--reason", default="", metavar="TEXT", help="Why, with a lock or --evolve.")
@click.option("--author", metavar="NAME", help="Who says it.  [default: you]")
@store_option
def command(
    ids: tuple[str, ...],
    directive: str | None,
    once: tuple[str, ...],
    lock: bool,
    unlock: bool,
    evolve: bool,
    reason: str,
    author: str | None,
) -> None:
    """Say what is to become of the lineages ID: their own ids, or those of attempts, rollouts,
    artifacts, turns and calls of theirs.

    The agent that is improved reads it before its next cycle, from `lineage_current` or
    `turnspan_records.experiment`. --evolve leaves out the lineages that are locked.

    \b
      turnspan steer 5c1f0a9e --directive "name every source" --evolve
      turnspan steer 5c1f0a9e --lock --reason "the best so far"
    """
    from turnspan_clickhouse.rows.loop_tables import LineageEventRow
    from turnspan_console.output import Output
    from turnspan_records.loop.directives import lines_of, steer

    if lock and unlock:
        raise Failure("Say either --lock or --unlock.", USAGE)
    words = _words(directive, once, lock=lock, unlock=unlock, reason=reason)
    if not words and not evolve:
        raise Failure("Say --directive, --once, --lock, --unlock or --evolve.", USAGE)
    output, author = Output(), author_of(author)
    with Judging(None, "", LineageEventRow) as judging:
        assert judging.store is not None
        found = [judging.one(id_, prefer=_ANSWERS) for id_ in ids]
        lines = lines_of(judging.store, found)
        for one, line in zip(found, lines, strict=True):
            if line is None:
                raise Failure(f"{one.kind} {one.id} is of no lineage.", USAGE)
        each = {(line.project, line.id): line for line in lines if line is not None}
        may: list[tuple[str, str]] = []
        for word, text in words:
            steer(judging.spool, each, word, text, author=author, id=uuid.uuid4().hex)
        if evolve:
            may = [key for key, line in each.items() if unlock or not (line.locked or lock)]
            steer(judging.spool, may, "evolve", reason, author=author, id=uuid.uuid4().hex)
    for key, line in each.items():
        said: list[str] = [word for word, _ in words]
        if evolve:
            said.append("evolve" if key in may else "not to be evolved: it is locked")
        output.line(f"lineage {line.id}: {', '.join(said)}")


def _words(
    directive: str | None, once: Sequence[str], *, lock: bool, unlock: bool, reason: str
) -> list[tuple[Word, str]]:
    words: list[tuple[Word, str]] = []
    if directive is not None:
        words.append(("directive", directive))
    again: Word = "once"
    words.extend((again, text) for text in once)
    if lock:
        words.append(("locked", reason))
    if unlock:
        words.append(("unlocked", reason))
    return words
