"""The projects of a store."""

from __future__ import annotations

from turnspan_clickhouse.store.client import Store

_LIMIT = 200

_PROJECTS = """
SELECT project, count() AS turns
FROM turn_summary
GROUP BY project
ORDER BY turns DESC, project
LIMIT {limit:UInt32}
"""


def projects(store: Store) -> list[str]:
    """The names of the projects that have turns, those with the most first.

    Raises ``StoreError`` as ``Store.query``.
    """
    # A row that was stored twice changes no name.
    result = store.query(_PROJECTS, {"limit": _LIMIT}, {"final": 0})
    return [str(row[0]) for row in result.rows]
