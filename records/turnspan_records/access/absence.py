"""Why a reader finds nothing: the likeliest reason, in words that say what to do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from shutil import disk_usage

from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn, data_folder
from turnspan_records.access.fields import utc
from turnspan_records.access.questions import ask
from turnspan_records.access.spooled import writers
from turnspan_records.access.window import Window, window_parameters

_LITTLE_ROOM = 2 * 2**20
"""Bytes without which the engine takes no row."""
_UNFILTERED = {"final": 0}
"""Whether there is anything does not depend on how often it is there."""


def why_nothing(
    store: Store,
    *,
    project: str = "",
    window: Window | None = None,
    session: str = "",
    kind: str = "",
) -> str:
    """Why nothing is found; empty where something is recorded that the filters let through.

    ``kind`` is ``session`` or ``turn`` where a list of those was empty: then there is a reason for
    records that are neither. Raises ``StoreError`` as ``Store.query``.
    """
    counts = ask(store, "absence/counts", _UNFILTERED).dicts()[0]
    late = next(_unlanded(store.dsn), "")
    if not counts["turns"] and not counts["calls"]:
        return late or _neither(counts["spans"], counts["annotations"]) or why_empty(store.dsn)
    found = ask(
        store, "absence/matching", _UNFILTERED, **window_parameters(project, window)
    ).dicts()[0]
    if late and not (found["turns"] if kind else found["inside"]):
        return late
    if not found["found"]:
        names = [str(row[0]) or "''" for row in ask(store, "absence/projects", _UNFILTERED).rows]
        return f"nothing is recorded of project {project!r}, but of {', '.join(names)}"
    if not found["inside"]:
        newest = f"{utc(found['newest']):%Y-%m-%d %H:%M:%S} UTC"
        return f"nothing is recorded of that time; the newest began {newest}"
    if session:
        return f"there is no session {session!r} (`turnspan sessions` lists them)"
    if kind and not found["turns"]:
        return (
            f"{_recorded(found['inside'], 'model call')}, but in no turn: decorate the agent with "
            "@turnspan.agent; `turnspan diagnose` tells of the calls"
        )
    if kind == "session" and not found["with_session"]:
        return (
            f"{_recorded(found['turns'], 'turn')}, but in no session: "
            "`turnspan turns` lists them, `with turnspan.session(id):` names one"
        )
    return ""


def why_empty(dsn: Dsn) -> str:
    """Why a store holds no records, by what lies on this machine."""
    return next(_reasons(dsn))


def _reasons(dsn: Dsn) -> Iterator[str]:
    yield from _unlanded(dsn)
    dropped = Spool(dsn.spool).usage().dropped
    if dropped:
        lost = ", ".join(f"{reason} {count:,}" for reason, count in sorted(dropped.items()))
        yield f"what was recorded was lost ({lost}): `turnspan doctor` says more"
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        yield "OTEL_SDK_DISABLED is true here: nothing is recorded where it is"
    others = list(_others(dsn))
    if others:
        named = " and ".join(others)
        yield f"it is empty, but there are records in {named} (--store, TURNSPAN_STORE)"
    if writers(Spool(dsn.spool)).alive:
        yield "a process that records is running, but has recorded nothing yet"
    yield (
        "it is empty; a program records when it calls turnspan.configure() and "
        "turnspan.instrument(), here if its TURNSPAN_STORE is the same; `turnspan doctor` checks"
    )


def _unlanded(dsn: Dsn) -> Iterator[str]:
    """Why what was recorded may not be in the store: then no advice to record something helps."""
    spool = Spool(dsn.spool)
    usage = spool.usage()
    folders = [dsn.spool, *([dsn.path] if dsn.path else [])]
    for folder in {next(one for one in (f, *f.parents) if one.exists()) for f in folders}:
        if disk_usage(folder).free < _LITTLE_ROOM:
            yield f"the disk of {folder} is full, so that no record gets here: free some space"
    if usage.queued:
        yield f"{_many(usage.queued, 'record', 'wait')} in a running program: `turnspan doctor`"
    if usage.segments:
        yield (
            f"{_many(usage.rows, 'record', 'wait')} in the spool {spool.folder} and could not "
            "land: `turnspan ship` tries again, `turnspan doctor` shows why"
        )
    if usage.rejected:
        yield f"it refused {_many(usage.rejected_rows, 'record')}: `turnspan doctor` shows why"


def _others(dsn: Dsn) -> Iterator[str]:
    """The embedded stores in the user's data folder that hold or await records."""
    for name in ("store", "demo"):
        path = data_folder() / name
        if path != dsn.path and _holds(path):
            yield str(Dsn(scheme="chdb", path=path))


def _holds(path: Path) -> bool:
    usage = Spool(path / "spool").usage()
    return bool(usage.segments or sum(usage.shipped.values()))


def _neither(spans: int, annotations: int) -> str:
    if spans:
        return (
            f"{_recorded(spans, 'span')}, but no model call: `turnspan doctor` says whether the "
            "SDKs are instrumented"
        )
    if annotations:
        return (
            f"{_recorded(annotations, 'judgment')}, but nothing that was judged: "
            "`turnspan diagnose orphaned_annotations`"
        )
    return ""


def _recorded(number: int, noun: str) -> str:
    return f"{_many(number, noun)} {'is' if number == 1 else 'are'} recorded"


def _many(number: int, noun: str, verb: str = "") -> str:
    one = number == 1
    counted = f"{number:,} {noun}{'' if one else 's'}"
    return f"{counted} {verb}{'s' if one else ''}" if verb else counted
