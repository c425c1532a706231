"""The one record that an id on the command line means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnspan_console.failures import FINDING, Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnspan_clickhouse.store.client import Store
    from turnspan_records.lookup import Found


def one(store: Store, id_: str, *, prefer: Sequence[str] = ()) -> Found:
    """What an id means; a kind that is preferred wins over the others.

    Raises:
        Failure: nothing has the id, or several records have it.
    """
    from turnspan_records.absence import why_nothing
    from turnspan_records.lookup import SHORTEST_PREFIX, find

    found = find(store, id_)
    for kind in prefer:
        if any(match.kind == kind for match in found):
            found = [match for match in found if match.kind == kind]
            break
    if len(found) == 1:
        return found[0]
    if not found:
        short = len(id_.strip()) < SHORTEST_PREFIX
        hint = f" (a beginning needs {SHORTEST_PREFIX} characters)" if short else ""
        reason = why_nothing(store)
        raise Failure(
            f"Nothing in {store.dsn} has the id {id_!r}{hint}{reason and f': {reason}'}.", FINDING
        )
    shown = [
        f"{match.kind} {match.id}" + (f" in project {match.project}" if match.project else "")
        for match in found[:8]
    ]
    more = f" and {len(found) - 8} more" if len(found) > 8 else ""
    raise Failure(f"{id_!r} means several: {', '.join(shown)}{more}; write more of it.", FINDING)
