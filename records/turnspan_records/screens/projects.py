"""The projects of a store."""

from __future__ import annotations

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask

_LIMIT = 200


def projects(store: Store) -> list[str]:
    """The names of the projects that have turns, those with the most first.

    Raises ``StoreError`` as ``Store.query``.
    """
    # A row that was stored twice changes no name.
    result = ask(store, "names/projects", {"final": 0}, limit=_LIMIT)
    return [str(row[0]) for row in result.rows]
