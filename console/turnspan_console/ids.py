"""The one record that an id on the command line means, and the one diagnostic that a name does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnspan_console.failures import FINDING, USAGE, Failure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnspan_clickhouse.store.client import Store
    from turnspan_records.diagnostics import Diagnostic
    from turnspan_records.lookup import RecordRef


def one(store: Store, id_: str, *, prefer: Sequence[str] = ()) -> RecordRef:
    """What an id means; a kind that is preferred wins over the others.

    Raises:
        Failure: nothing has the id, or several records have it.
    """
    from turnspan_records.access.absence import why_nothing
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


def two_calls(store: Store, before: str, after: str) -> tuple[RecordRef, RecordRef]:
    """Two model calls of one project, by their ids. Raises ``Failure`` as ``one``."""
    first, second = (one(store, id_, prefer=("call",)) for id_ in (before, after))
    for each in (first, second):
        if each.kind != "call":
            raise Failure(f"{each.id!r} is a {each.kind}: diff needs two model calls.", USAGE)
    if first.project != second.project:
        raise Failure("The two calls are of different projects: diff needs one.", USAGE)
    return first, second


def diagnostic(name: str, remedy: str) -> Diagnostic:
    """The diagnostic of a name. Raises ``Failure``, which ends with the remedy."""
    import difflib

    from turnspan_records.diagnostics import diagnostics, find

    try:
        return find(name)
    except KeyError:
        near = difflib.get_close_matches(name.replace("-", "_"), diagnostics(), 1, 0.4)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise Failure(f"There is no diagnostic {name!r}.{meant} {remedy}", USAGE) from None
