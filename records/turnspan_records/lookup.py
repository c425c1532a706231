"""What an id means: a session, a turn, a trace, a model call, a tool call, a context or another
span."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_records.sql import statement

SHORTEST_PREFIX = 6
"""Fewer characters than this are only taken as a whole id."""


@dataclass(frozen=True, slots=True, order=True)
class RecordRef:
    """A record that an id refers to. A turn's id is its span's id."""

    kind: str
    """``session``, ``turn``, ``trace``, ``call``, ``tool``, ``context`` or ``span``; ``attempt``,
    ``rollout``, ``lineage``, ``artifact`` or ``consortium``."""
    id: str
    project: str
    session_id: str = ""
    trace_id: str = ""
    turn_id: str = ""


_SOURCES: tuple[tuple[str, str, str, str], ...] = (
    # kind, table, id column, (session, trace, turn)
    ("session", "turn_summary", "session_id", "session_id, '', ''"),
    ("session", "llm_call", "session_id", "session_id, '', ''"),
    ("session", "tool_call", "session_id", "session_id, '', ''"),
    ("turn", "turn_summary", "turn_id", "session_id, trace_id, turn_id"),
    ("trace", "turn_summary", "trace_id", "'', trace_id, ''"),
    ("trace", "span", "trace_id", "'', trace_id, ''"),
    ("call", "llm_call", "span_id", "session_id, trace_id, turn_id"),
    ("tool", "tool_call", "span_id", "session_id, trace_id, turn_id"),
    ("context", "context_assembly", "assembly_id", "session_id, trace_id, turn_id"),
    ("attempt", "attempt", "attempt_id", "'', '', ''"),
    ("rollout", "rollout", "rollout_id", "'', '', ''"),
    ("lineage", "lineage", "lineage_id", "'', '', ''"),
    ("artifact", "artifact", "artifact_id", "session_id, trace_id, turn_id"),
    ("consortium", "consortium", "consortium_id", "session_id, trace_id, turn_id"),
    ("consortium", "llm_call", "consortium_id", "'', '', ''"),
)
_UNENDED = (
    ("session", "llm_call_running", "session_id", "session_id, '', ''"),
    ("trace", "llm_call_running", "trace_id", "'', trace_id, ''"),
    ("call", "llm_call_running", "span_id", "session_id, trace_id, turn_id"),
)
"""Of a model call that has not ended there is nothing else: asked where nothing else tells."""
_SPANS = ("span", "span", "span_id", "session_id, trace_id, turn_id")
"""Every call, tool, turn and context is a span too: asked apart, only where those do not tell."""

_DIGITS = {"turn_id": 16, "span_id": 16, "assembly_id": 16, "trace_id": 32}
"""How long ids are in OpenTelemetry: what is as long is no beginning of one."""

_IDS_INSIDE = re.compile(r"(?<![0-9a-z])(?:[0-9a-f]{32}|[0-9a-f]{16})(?![0-9a-z])")
_WORDS = re.compile(r"[^\s\"'`=,;()\[\]{}<>|/?&#]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_MAX_WORDS = 64
_MAX_TEXT, _MAX_INSIDE = 65_536, 8
"""How much of a pasted text is searched for ids, and how many of them are looked up."""


def find(store: Store, id_: str) -> list[RecordRef]:
    """Find the records that a text refers to.

    The text is an id, at least the first six characters of one, or an id as a table prints it
    (``…`` for the part left out). In a longer text, such as a ``traceparent`` header, a log line or
    a URL, the first id of a span or a trace counts, else a whole id that is a word of it. A whole
    id wins over a beginning. Raises
    ``StoreError`` as ``Store.query``."""
    id_ = id_.strip()
    if not id_:
        return []
    found = _with_id(store, id_)
    if found:
        return found
    # A span says more than its trace, and a text may name several of either.
    inside = sorted(dict.fromkeys(_IDS_INSIDE.findall(id_.lower()[:_MAX_TEXT])), key=len)
    for one in inside[:_MAX_INSIDE]:
        if one != id_ and (found := _with_id(store, one)):
            return found
    words = [one for one in dict.fromkeys(_WORDS.findall(id_[:_MAX_TEXT])) if one != id_]
    likely = sorted((one for one in words if _is_like_id(one)), key=len, reverse=True)
    ids = [*likely, *(one.replace("-", "") for one in likely if _UUID.fullmatch(one))]
    return _told_apart(_search(store, _SOURCES, "IN", ids[:_MAX_WORDS])) if ids else []


def _is_like_id(word: str) -> bool:
    """Whether a word of a text may be an id, and is hardly one of a language."""
    return len(word) >= SHORTEST_PREFIX and re.search(r"[\d_-]", word) is not None


def _with_id(store: Store, id_: str) -> list[RecordRef]:
    exact = _search(store, _SOURCES, "=", id_) or _search(store, _UNENDED, "=", id_)
    # The id of a trace or of a named span is that of no other span; a session's may be any text,
    # but hardly looks like a span's.
    span_like = len(id_) == _DIGITS["span_id"]
    if not exact or (span_like and all(one.kind == "session" for one in exact)):
        exact += _search(store, (_SPANS,), "=", id_)
    if exact or len(id_.replace("…", "")) < SHORTEST_PREFIX:
        return _told_apart(exact)
    sources = [one for one in (*_SOURCES, _SPANS) if len(id_) < _DIGITS.get(one[2], len(id_) + 1)]
    pattern = _pattern(id_)
    found = _search(store, sources, "LIKE", pattern) or _search(store, _UNENDED, "LIKE", pattern)
    named = {one.id for one in found if one.kind in ("turn", "call", "tool", "context")}
    return _told_apart(one for one in found if one.kind != "span" or one.id not in named)


def _told_apart(found: Iterable[RecordRef]) -> list[RecordRef]:
    """In order, without the traces whose id is a turn's: where nothing but the model calls tells of
    a turn, its first call's trace gives it its id. The turn says more. So does a consortium run's
    own row than its calls."""
    every = sorted(found)
    turns = {(one.project, one.id) for one in every if one.kind == "turn"}
    placed = {
        (one.project, one.id) for one in every if one.kind == "consortium" and _is_placed(one)
    }
    known = {"trace": turns, "consortium": placed}
    return [
        one
        for one in every
        if (one.kind == "consortium" and _is_placed(one))
        or (one.project, one.id) not in known.get(one.kind, ())
    ]


def _is_placed(one: RecordRef) -> bool:
    return bool(one.session_id or one.trace_id or one.turn_id)


def _pattern(id_: str) -> str:
    """A pattern of what begins so; of what has these parts in it where some are left out."""
    whole_end = "…" in id_ and not id_.endswith("…")
    escaped = re.sub(r"([\\%_])", r"\\\1", id_)
    return escaped.replace("…", "%") + ("" if whole_end else "%")


_TESTS = {"=": "= {id:String}", "LIKE": "LIKE {id:String}", "IN": "IN {id:Array(String)}"}


def _search(
    store: Store, sources: Sequence[tuple[str, str, str, str]], how: str, id_: str | list[str]
) -> list[RecordRef]:
    selects = [
        statement(
            "lookup/of_kind", kind=kind, column=column, table=table, place=place, test=_TESTS[how]
        )
        for kind, table, column, place in sources
    ]
    # Ids never differ between the versions of a row, so there is nothing to deduplicate.
    result = store.query(" UNION ALL ".join(selects), {"id": id_}, {"final": 0})
    return list({RecordRef(*map(str, row)) for row in result.rows})
