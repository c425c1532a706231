"""Writes sessions as trajectories: a new folder with a file a session, complete or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import orjson

from turnspan import __version__, config, semconv
from turnspan.redaction.redactor import Redactor
from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import store_id
from turnspan_records.access import copies_registry as registry
from turnspan_records.access.whole_folders import ExportError, aside, hashed, page_name
from turnspan_records.access.window import window_parameters
from turnspan_records.coding.trajectories.agent_trace import trace_records
from turnspan_records.coding.trajectories.atif import trajectory
from turnspan_records.coding.trajectories.inspect_log import evaluation_log
from turnspan_records.conversation import Conversation
from turnspan_records.replay import RowsOfSession, replay, session_rows
from turnspan_records.sandbox import RefusedError, Sandbox
from turnspan_records.sql import statement
from turnspan_records.training.card import MANIFEST, as_text
from turnspan_records.training.export_request import Filters
from turnspan_records.training.files import write_text

TrajectoryFormat: TypeAlias = Literal["agent-trace", "atif", "inspect"]

_PAGE: Final = 500
_ALL: Final = Filters()
_FACTS: Final = (
    *(semconv.WORKING_DIRECTORY, semconv.VCS_REPOSITORY_URL, semconv.VCS_REPOSITORY_NAME),
    *(semconv.VCS_HEAD_NAME, semconv.VCS_HEAD_REVISION, semconv.CODING_TOOL),
)
"""Attributes of a turn that say where a session worked."""


@dataclass(slots=True)
class TrajectoryCounts:
    """What an export wrote. ``empty``: sessions that have nothing the format has a place for."""

    sessions: int = 0
    empty: int = 0


def export_trajectories(
    store: Store,
    folder: Path,
    format_: TrajectoryFormat,
    filters: Filters = _ALL,
    session: str = "",
) -> TrajectoryCounts:
    """Write sessions into a new folder, which is not made where there is nothing to write.

    Every text is redacted again by the active configuration. One session is in memory at a time.

    Args:
        store: an open store.
        folder: the new folder.
        format_: of the files.
        filters: which turns a session has one of; ``authors`` and ``only``, which are about
            judgments, are not looked at.
        session: the id of the only session; empty: all.

    Raises:
        ExportError: the folder exists, cannot be registered, or ``where`` is no condition.
        StoreError: as ``Store.query``.
    """
    try:
        registry.register("export", folder, store_id(store))
    except OSError as error:
        raise ExportError(
            f"The folder cannot be registered, so `turnspan forget` would miss it: {error}."
        ) from None
    counts = TrajectoryCounts()
    files: list[dict[str, Any]] = []
    redactor = Redactor(config.active())
    with aside(folder) as made:
        for place, facts in _sessions(store, filters, session):
            conversation = replay(store, place.project, place.session, place.trace)
            documents = _documents(store, place, conversation, facts, format_)
            texts = [redactor.json(orjson.dumps(one).decode(), format_) for one in documents]
            if texts:
                files.append(_write(made, conversation, format_, texts))
            else:
                counts.empty += 1
        counts.sessions = len(files)
        if not files:
            made.rmdir()
            return counts
        lines = sum(one["lines"] for one in files)
        said = {
            "turnspan": __version__,
            "query": {"kind": format_, "where": filters.where},
            "counts": {**asdict(counts), "lines": lines},
            "splits": {},
            "files": files,
        }
        write_text(made / MANIFEST, as_text(said))
    return counts


def _sessions(
    store: Store, filters: Filters, session: str
) -> Iterator[tuple[RowsOfSession, dict[str, str]]]:
    """The sessions, each with what its first turn says of where it worked."""
    sql = statement("coding/trajectory_sessions", where=filters.where or "1")
    chosen = {"session": session, "page": _PAGE}
    given = window_parameters(filters.project, filters.window, **chosen)
    for name in ("agents", "versions", "models", "stop_reasons"):
        given[name] = list(getattr(filters, name))
    after = ("", "", "")
    with Sandbox(store) as sandbox:
        ask = sandbox.query if filters.where else store.query
        while True:
            place = dict(zip(("after_project", "after_session", "after_trace"), after, strict=True))
            try:
                rows = ask(sql, {**given, **place}).rows
            except (RefusedError, QueryError) as error:
                if not filters.where:
                    raise
                raise ExportError(
                    f"The SQL condition cannot be asked of turn_summary: {error}"
                ) from None
            for project, session_id, trace, attributes in rows:
                after = (str(project), str(session_id), str(trace))
                known = {name: str(attributes[name]) for name in _FACTS if attributes.get(name)}
                yield RowsOfSession(*after), known
            if len(rows) < _PAGE:
                return


def _documents(
    store: Store,
    place: RowsOfSession,
    conversation: Conversation,
    facts: dict[str, str],
    format_: TrajectoryFormat,
) -> list[dict[str, Any]]:
    """The session in its format; nothing where the format has no place for what there is."""
    if format_ == "agent-trace":
        rows = session_rows(store, "replay/tools", place, columns="span_id, attributes")
        beside = {str(row["span_id"]): row["attributes"] for row in rows}
        return trace_records(conversation, facts, beside)
    document = (trajectory if format_ == "atif" else evaluation_log)(conversation, facts)
    return [document] if document else []


def _write(
    folder: Path, conversation: Conversation, format_: TrajectoryFormat, texts: list[str]
) -> dict[str, Any]:
    """Write the file of a session, a document a line; returns what the manifest says of it."""
    id_ = conversation.session_id or conversation.trace_id
    suffix = ".jsonl" if format_ == "agent-trace" else ".json"
    path = folder / page_name(conversation.project) / f"{page_name(id_)}{suffix}"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_text(path, "\n".join([*texts, ""]))
    source = {
        "project": conversation.project,
        "id": id_,
        "unit": "session",
        "session_id": conversation.session_id,
        "trace_id": conversation.trace_id,
        "turns": [turn.turn_id for turn in conversation.turns()],
        "calls": [call.span_id for call in conversation.calls()],
    }
    written = {"bytes": path.stat().st_size, "sha256": hashed(path), "source": source}
    return {"name": f"{path.parent.name}/{path.name}", "split": "", "lines": len(texts), **written}
