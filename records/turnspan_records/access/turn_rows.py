"""The turns that readers list and count: the rows of turns, and turns of which only a call runs."""

from __future__ import annotations

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask
from turnspan_records.sql import statement

TURNS = "turn_summary"
"""The turns that have a row."""


def open_calls(store: Store, project: str = "") -> dict[tuple[str, str, str], str]:
    """Model calls whose turn has no row before they end, by project, session and span id:
    ``running`` or ``interrupted``. Of each turn its first call, of the newest 1,000 turns.

    Raises ``StoreError`` as ``Store.query``.
    """
    # Asked first, since it takes a fifth of the time, and mostly nothing runs.
    if not ask(store, "turns/any_running_row", {"final": 0}).rows:
        return {}
    rows = ask(store, "turns/open_calls", {"final": 0}, project=project).rows
    return {(str(of), str(session), str(span)): str(status) for of, session, span, status in rows}


def turn_rows(store: Store, project: str) -> tuple[str, dict[str, object]]:
    """The SQL of all turns, those of ``open_calls`` with the others, and its parameters. It has the
    columns of ``turn_summary``.

    Raises ``StoreError`` as ``Store.query``.
    """
    calls = open_calls(store, project)
    if not calls:
        return TURNS, {}
    columns = map(list, zip(*calls, strict=True))
    names = ("open_projects", "open_sessions", "open_spans")
    return statement("turns/with_open_calls"), dict(zip(names, columns, strict=True))
