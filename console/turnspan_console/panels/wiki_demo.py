"""``turnspan demo --wiki``: an agent that puts contexts together, and what went into them."""

from __future__ import annotations

import shlex
from datetime import datetime, timezone
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from turnspan_console.failures import FINDING, USAGE, Failure
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnspan_clickhouse.store.client import Store
    from turnspan_clickhouse.store.dsn import Dsn
    from turnspan_records.contexts import AssembledContext

PROJECT: Final = "wiki"
_DIAGNOSTICS: Final = (
    "context_budget",
    "context_dropped",
    "context_bypassed",
    "context_outcomes",
)
_ROWS: Final = 8


def need_example() -> None:
    """Say where the example is, where it is not: it is no part of the package."""
    if find_spec("wiki_agent") is None:
        raise Failure(
            "The wiki agent is one of the examples, which a clone of the repository has: "
            "run `make demo ARGS=--wiki` there.",
            USAGE,
        )


def play(store: str) -> list[str]:
    """Have the wiki agent answer its requests, recorded; returns the sessions' ids."""
    import turnspan
    from wiki_agent import demonstration

    stamp = f"{datetime.now(timezone.utc):%H%M%S}"
    turnspan.configure(
        service_name="wiki-agent", project=PROJECT, store=store, exporters=["turnspan"]
    )
    turnspan.instrument()
    try:
        sessions = demonstration.play(stamp)
    finally:
        landed = turnspan.shutdown()
    if landed.remaining or landed.dropped:
        dropped = ", ".join(f"{reason} {n}" for reason, n in landed.dropped.items()) or "none"
        note(f"not everything landed at once: {landed.remaining} waiting, dropped: {dropped}")
    return sessions


def show(store: Store, dsn: Dsn, sessions: Sequence[str], begun: datetime, output: Output) -> None:
    """Show what the contexts were made of: one whole, and all of them in the diagnostics."""
    from rich.text import Text

    from turnspan_console import styles
    from turnspan_console.commands.diagnose import print_answer
    from turnspan_console.panels.context import print_context
    from turnspan_records.contexts import contexts
    from turnspan_records.diagnostics import diagnostics
    from turnspan_records.lookup import Found
    from turnspan_records.window import Window

    made = [one for id_ in sessions for one in contexts(store, Found("session", id_, PROJECT, id_))]
    title = f"Answered {len(sessions)} requests, for which {len(made)} contexts were assembled"
    output.line(Text(title, style=styles.TITLE))
    output.line()
    if len(made) != len(sessions):
        raise Failure("Not every context that was assembled has landed.", FINDING)
    print_context(_telling(made), output)
    window = Window(since=begun)
    known = diagnostics()
    for name in _DIAGNOSTICS:
        one = known[name]
        result = one.run(store, project=PROJECT, window=window, limit=_ROWS + 1)
        print_answer(one, result, output, brief=True, first=False, limit=_ROWS)
    _print_next(dsn, made, output)


def _telling(made: Sequence[AssembledContext]) -> AssembledContext:
    """The context that shows most: of several sections, some of it dropped for the budget."""

    def rank(one: AssembledContext) -> tuple[bool, int]:
        trimmed = any(item.reason == "budget" for item in one.items)
        return trimmed, sum(section.kept > 0 for section in one.sections)

    return max(made, key=rank)


def _print_next(dsn: Dsn, made: Sequence[AssembledContext], output: Output) -> None:
    from rich.text import Text

    from turnspan_clickhouse.ship.first_run import typed
    from turnspan_console import styles

    output.line()
    output.line(Text("The records are in ", style=styles.TITLE).append(str(dsn)))
    output.line()
    output.line("Ask them more:")
    command = typed()
    hidden = "  # put the password back in" if dsn.password else ""
    for line in (
        f"export TURNSPAN_STORE={shlex.quote(str(dsn))}{hidden}",
        f"{command} context {made[0].id}",
        f"{command} replay {shlex.quote(made[0].session_id)}",
        f"{command} diagnose context_dropped",
    ):
        output.line(Text(f"  {line}", style=styles.FAINT))
