"""``turnspan demo --wiki``: an agent that puts contexts together, and what went into them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Final

from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.failures import FINDING, Failure
from turnspan_console.output import Output
from turnspan_console.panels import demo_sets
from turnspan_console.panels.context import print_context
from turnspan_console.panels.demo_frame import need_clone, print_next, recorded
from turnspan_console.panels.diagnostic import print_brief_answers
from turnspan_records.contexts import AssembledContext, contexts
from turnspan_records.lookup import RecordRef

PROJECT: Final = "wiki"
_DIAGNOSTICS: Final = ("budget", "dropped", "bypassed", "outcomes")
_ROWS: Final = 8


def need_example() -> None:
    """Say where the example is, where it is not."""
    need_clone("wiki_agent", "wiki agent", "--wiki")


def play(store: str) -> list[str]:
    """Have the wiki agent answer its requests, recorded; returns the sessions' ids."""
    from wiki_agent import demonstration

    stamp = f"{datetime.now(timezone.utc):%H%M%S}"
    with recorded(store, service="wiki-agent", project=PROJECT):
        return demonstration.play(stamp)


def show(store: Store, dsn: Dsn, sessions: Sequence[str], begun: datetime, output: Output) -> None:
    """Show what the contexts were made of, one whole and all of them in the diagnostics; then what
    an editor made of the answers, as training data."""
    made = [
        one for id_ in sessions for one in contexts(store, RecordRef("session", id_, PROJECT, id_))
    ]
    title = f"Answered {len(sessions)} requests, for which {len(made)} contexts were assembled"
    output.title(title)
    output.line()
    if len(made) != len(sessions):
        raise Failure("Not every context that was assembled has landed.", FINDING)
    print_context(_telling(made), output)
    rows = {f"context_{name}": _ROWS for name in _DIAGNOSTICS}
    print_brief_answers(store, rows, PROJECT, begun, output)
    demo_sets.show(store, dsn, PROJECT, begun, output)
    shown = made[0]
    commands = (
        *(("context", shown.id), ("replay", shown.session_id), ("diagnose", "context_dropped")),
        ("export", "preference", "--project", PROJECT, "--to", "sets/pairs"),
    )
    print_next(dsn, commands, output)


def _telling(made: Sequence[AssembledContext]) -> AssembledContext:
    """The context that shows most: of several sections, some of it dropped for the budget."""

    def rank(one: AssembledContext) -> tuple[bool, int]:
        trimmed = any(item.reason == "budget" for item in one.items)
        return trimmed, sum(section.kept > 0 for section in one.sections)

    return max(made, key=rank)
