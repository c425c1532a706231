"""The list of consortium runs, newest first."""

from __future__ import annotations

from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.questions import ask
from turnspan_records.access.window import Window, window_parameters


def consortium_runs(
    store: Store, *, project: str = "", window: Window | None = None, limit: int = 20
) -> Result:
    """The runs that started in the window. Raises ``StoreError`` as ``Store.query``."""
    return ask(store, "consortium/runs", **window_parameters(project, window, limit=limit))


def sessions_of(store: Store, project: str, run: str) -> list[str]:
    """The sessions of a run's calls. Raises ``StoreError`` as ``Store.query``."""
    rows = ask(store, "consortium/sessions", {"final": 0}, project=project, run=run).rows
    return [str(row[0]) for row in rows]
