"""What an id or a name on the command line means, and the records that are shown of it. Commands
and the tools of ``turnspan mcp`` ask here, so both refuse in the same words."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Generator, Sequence

from turnspan_clickhouse.store.client import Store
from turnspan_console.failures import FINDING, USAGE, Failure
from turnspan_records.access.absence import why_nothing
from turnspan_records.consortium.run_detail import ConsortiumRun, consortium_run, sessions_of
from turnspan_records.conversation import Conversation
from turnspan_records.detail import Detail, detail
from turnspan_records.diagnostics import Diagnostic, diagnostics
from turnspan_records.diagnostics import find as diagnostic_named
from turnspan_records.lookup import SHORTEST_PREFIX, RecordRef, find
from turnspan_records.replay import replay
from turnspan_records.screens.difference import Difference, diff
from turnspan_records.screens.turn_end import TurnEnd, turn_end
from turnspan_records.sessions import session_of_trace


def record_of(store: Store, id_: str, *, prefer: Sequence[str] = ()) -> RecordRef:
    """What an id means; a kind that is preferred wins over the others.

    Raises:
        Failure: nothing has the id, or several records have it.
    """
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


@contextlib.contextmanager
def still_there(kind: str) -> Generator[None]:
    """Turn a ``KeyError``, of a record that was found a moment ago, into a failure."""
    try:
        yield
    except KeyError as error:
        raise Failure(f"The {kind} {error.args[0]} has just been removed.", FINDING) from None


@contextlib.contextmanager
def experiment_named(store: Store, name: str, hint: str) -> Generator[None]:
    """Turn the errors of an experiment that is looked up by its name into failures; the hint ends
    the sentence that there is none."""
    from turnspan_records.loop.lineages import AmbiguousError

    try:
        yield
    except KeyError:
        raise Failure(f"Nothing in {store.dsn} is an experiment {name!r}{hint}", FINDING) from None
    except AmbiguousError as error:
        several = f"Several projects have an experiment {name!r} ({error})"
        raise Failure(f"{several}: name one with --project.", USAGE) from None


def detail_of(store: Store, record: RecordRef) -> Detail:
    """Everything about a record. Raises ``Failure`` where it has just been removed."""
    with still_there(record.kind):
        return detail(store, record)


def turn_end_of(store: Store, id_: str) -> TurnEnd:
    """Why the turn stopped that an id means. Raises ``Failure`` as ``one``, or without a turn."""
    record = record_of(store, id_, prefer=("turn", "session"))
    try:
        return turn_end(store, record)
    except KeyError:
        raise Failure(
            f"The {record.kind} {record.id} has no turn: give the id of a turn, or of a session, a "
            "model call or a tool call in one.",
            FINDING,
        ) from None


def difference_of(store: Store, before: str, after: str) -> Difference:
    """What changed between two model calls of one project. Raises ``Failure`` as ``one``."""
    first, second = (record_of(store, id_, prefer=("call",)) for id_ in (before, after))
    for record in (first, second):
        if record.kind != "call":
            raise Failure(f"{record.id!r} is a {record.kind}: diff needs two model calls.", USAGE)
    if first.project != second.project:
        raise Failure("The two calls are of different projects: diff needs one.", USAGE)
    with still_there("call"):
        return diff(store, first.project, first.id, second.id)


def run_of(store: Store, id_: str) -> ConsortiumRun:
    """The consortium run of an id. Raises ``Failure`` as ``one``, or where it is of none."""
    record = record_of(store, id_, prefer=("consortium",))
    if record.kind != "consortium":
        raise Failure(
            f"{id_!r} is a {record.kind} and no consortium run: `turnspan consortium` lists those.",
            FINDING,
        )
    with still_there("run"):
        return consortium_run(store, record.project, record.id)


def conversation_of(store: Store, record: RecordRef) -> Conversation:
    """The conversation that a record is of. Raises ``Failure`` where there is none, or several."""
    conversation = replay(store, record.project, record.session_id, record.trace_id)
    sessions: list[str] = []
    if not conversation.steps and not record.session_id and record.trace_id:
        # The trace of a session: all of it.
        sessions = [session_of_trace(store, record.project, record.trace_id)]
    if not conversation.steps and record.kind == "consortium":
        sessions = sessions_of(store, record.project, record.id)
    if len(sessions) == 1 and sessions[0]:
        conversation = replay(store, record.project, sessions[0])
    if len(sessions) > 1:
        raise Failure(
            f"The calls of consortium {record.id} are in {len(sessions):,} sessions: `turnspan "
            f"consortium {record.id}` shows their answers.",
            FINDING,
        )
    if not conversation.steps:
        raise Failure(f"Nothing is recorded in {record.kind} {record.id} to replay.", FINDING)
    return conversation


def diagnostic(name: str, remedy: str) -> Diagnostic:
    """The diagnostic of a name. Raises ``Failure``, which ends with the remedy."""
    try:
        return diagnostic_named(name)
    except KeyError:
        near = difflib.get_close_matches(name.replace("-", "_"), diagnostics(), 1, 0.4)
        meant = f" Did you mean {near[0]}?" if near else ""
        raise Failure(f"There is no diagnostic {name!r}.{meant} {remedy}", USAGE) from None
