"""``turnspan demo --wiki``: an agent that puts contexts together, and what went into them."""

from __future__ import annotations

from datetime import datetime, timezone
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from turnspan_console.failures import FINDING, USAGE, Failure
from turnspan_console.output import Output

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
    from turnspan_console.panels.demo_frame import recorded
    from wiki_agent import demonstration

    stamp = f"{datetime.now(timezone.utc):%H%M%S}"
    with recorded(store, service="wiki-agent", project=PROJECT):
        return demonstration.play(stamp)


def show(store: Store, dsn: Dsn, sessions: Sequence[str], begun: datetime, output: Output) -> None:
    """Show what the contexts were made of, one whole and all of them in the diagnostics; then what
    an editor made of the answers, as training data."""

    from turnspan_console.panels import demo_sets
    from turnspan_console.panels.context import print_context
    from turnspan_console.panels.demo_frame import print_next
    from turnspan_console.panels.diagnostic import print_answer
    from turnspan_records.access.window import Window
    from turnspan_records.contexts import contexts
    from turnspan_records.diagnostics import diagnostics
    from turnspan_records.lookup import RecordRef

    made = [
        one for id_ in sessions for one in contexts(store, RecordRef("session", id_, PROJECT, id_))
    ]
    title = f"Answered {len(sessions)} requests, for which {len(made)} contexts were assembled"
    output.title(title)
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
