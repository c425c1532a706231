"""``turnspan steer``: what is to become of lineages."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import USAGE, Failure
from turnspan_console.judgment_command import Judging, author_option
from turnspan_console.options import flag, optional, several, store_option, text_option
from turnspan_console.output import Output

if TYPE_CHECKING:
    from turnspan_records.loop.directives import Word

_ANSWERS = ("lineage", "attempt", "rollout", "artifact", "turn", "call")


@click.command("steer", short_help="Steer lineages: directives, locks, evolve.")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@optional(
    "--directive",
    "TEXT",
    "What to do differently in every cycle from now on; '' withdraws the directive.",
)
@several("--once", "TEXT", "What to do differently in the next cycle. Repeatable.")
@flag("--lock", "Keep the lineage as it is.")
@flag("--unlock", "Allow it to evolve again.")
@flag("--evolve", "Allow the next version of unlocked lineages.")
@text_option("--reason", "TEXT", "The reason, with a lock or --evolve.")
@author_option("Who decides.  [default: you]")
@store_option
def command(
    ids: tuple[str, ...],
    directive: str | None,
    once: tuple[str, ...],
    lock: bool,
    unlock: bool,
    evolve: bool,
    reason: str,
    author: str,
) -> None:
    """Steer the lineages ID: their own ids, or ids of their attempts, rollouts, artifacts, turns or
    calls.

    The agent reads this before its next cycle, from `lineage_current` or
    `turnspan_records.experiment`. --evolve skips locked lineages.

    \b
      turnspan steer 5c1f0a9e --directive "name every source" --evolve
      turnspan steer 5c1f0a9e --lock --reason "the best so far"
    """
    from turnspan_clickhouse.rows.loop_tables import LineageEventRow
    from turnspan_records.loop.directives import lines_of, steer

    if lock and unlock:
        raise Failure("Choose either --lock or --unlock.", USAGE)
    words: list[tuple[Word, str]] = []
    if directive is not None:
        words.append(("directive", directive))
    words.extend(("once", text) for text in once)
    if lock or unlock:
        words.append(("locked" if lock else "unlocked", reason))
    if not words and not evolve:
        raise Failure("Say --directive, --once, --lock, --unlock or --evolve.", USAGE)
    output = Output()
    with Judging(None, "", LineageEventRow) as judging:
        assert judging.store is not None
        found = [judging.record(id_, prefer=_ANSWERS) for id_ in ids]
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
