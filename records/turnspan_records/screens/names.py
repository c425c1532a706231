"""Names that have a text in them: of sessions, agents, tools and models; those of projects."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.questions import ask
from turnspan_records.sql import statement

EACH = 5
"""Names of a kind at most, those that were used last."""
_PROJECTS = 200
_KINDS = (
    ("session", "session_id", "turn_summary"),
    ("agent", "agent_name", "turn_summary"),
    ("tool", "name", "tool_call"),
    ("model", "arrayJoin(models)", "turn_summary"),
)


@dataclass(frozen=True, slots=True)
class Named:
    """A name, and the project in which it was recorded."""

    kind: str
    """``session``, ``agent``, ``tool`` or ``model``."""
    name: str
    project: str


def names(store: Store, text: str, *, project: str = "", each: int = EACH) -> list[Named]:
    """The names that have this text in them, letters large or small; none of a blank text.

    Raises ``StoreError`` as ``Store.query``.
    """
    if not text.strip():
        return []
    sql = "UNION ALL".join(
        statement("names/of_kind", kind=kind, column=column, table=table)
        for kind, column, table in _KINDS
    )
    # A name never differs between the versions of a row, so there is nothing to deduplicate.
    given = {"text": text.strip(), "project": project, "each": each}
    found = [Named(*map(str, row)) for row in store.query(sql, given, {"final": 0}).rows]
    kinds = [kind for kind, _, _ in _KINDS]
    return sorted(found, key=lambda one: kinds.index(one.kind))


def projects(store: Store) -> list[str]:
    """The names of the projects that have turns, those with the most first.

    Raises ``StoreError`` as ``Store.query``.
    """
    # A row that was stored twice changes no name.
    result = ask(store, "names/projects", {"final": 0}, limit=_PROJECTS)
    return [str(row[0]) for row in result.rows]
