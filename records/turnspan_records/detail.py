"""Everything about one record: its facts, its texts, its messages, and the tables below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Final

from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import ask, ask_row
from turnspan_records.consortium.run_detail import consortium_run
from turnspan_records.contexts import contexts
from turnspan_records.conversation import MessageRecord
from turnspan_records.judging.history import JudgmentRecord, judgments
from turnspan_records.lookup import RecordRef
from turnspan_records.messages import (
    NONE,
    load_definitions,
    load_messages,
    message_of,
    prompt_text,
)
from turnspan_records.sessions import turns

_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "turn": ("user_message", "response_text"),
    "call": ("response_thoughts", "response_text"),
    "tool": ("arguments", "result"),
    "span": ("events", "links"),
    "attempt": ("input", "output"),
}
"""The columns of a kind that are texts."""
_TABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "turn": {"model calls": "turn_calls", "tool calls": "turn_tools"},
    "attempt": {"model calls": "attempt_calls"},
    "rollout": {"attempts": "rollout_attempts"},
    "lineage": {"rollouts": "lineage_rollouts"},
    "consortium": {
        "members": "consortium_members",
        "arbiters": "consortium_arbiters",
        "model calls": "consortium_calls",
    },
}
"""What is below a record of a kind, and the question in ``sql/show``."""


@dataclass(slots=True)
class SpanNode:
    """A span of a trace with what is below it. ``duration`` is in seconds."""

    span_id: str
    name: str
    kind: str
    start_time: datetime
    duration: float
    status_code: str
    status_message: str
    children: list[SpanNode] = field(default_factory=list["SpanNode"])


@dataclass(slots=True)
class Detail:
    """Everything that ``show`` prints about one record. Parts that the record lacks are empty."""

    kind: str
    id: str
    facts: dict[str, Any] = field(default_factory=dict[str, Any])
    texts: dict[str, str] = field(default_factory=dict[str, str])
    tables: dict[str, Result] = field(default_factory=dict[str, Result])
    input_messages: list[MessageRecord] = field(default_factory=list[MessageRecord])
    output_messages: list[MessageRecord] = field(default_factory=list[MessageRecord])
    spans: list[SpanNode] = field(default_factory=list[SpanNode])
    judgments: list[JudgmentRecord] = field(default_factory=list[JudgmentRecord])


def detail(store: Store, found: RecordRef) -> Detail:
    """Load everything about a record that ``lookup.find`` returned.

    Raises:
        KeyError: the record no longer exists.
        StoreError: as ``Store.query``.
    """
    result = _LOADERS.get(found.kind, _recorded)(store, found)
    if found.kind != "trace":
        result.judgments = judgments(store, found.project, found.kind, found.id)
    return result


def _recorded(store: Store, found: RecordRef, question: str = "") -> Detail:
    """A row with its texts and the tables below it; ``question`` is that of its kind."""
    parameters: dict[str, object] = {
        "project": found.project,
        "session": found.session_id,
        "turn": found.turn_id,
        "id": found.id,
    }
    facts = ask_row(store, f"show/{question or found.kind}", found.id, **parameters)
    if found.kind == "attempt":
        parameters["since"] = f"{facts['started_at']:%Y-%m-%d %H:%M:%S}"
    texts = {name: str(facts.pop(name)) for name in _TEXTS.get(found.kind, ())}
    tables = {
        name: ask(store, f"show/{question}", **parameters)
        for name, question in _TABLES.get(found.kind, {}).items()
    }
    return Detail(found.kind, found.id, facts, _known_texts(texts), tables)


def _known_texts(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in texts.items() if text}


def _session(store: Store, found: RecordRef) -> Detail:
    project, session = found.project, found.session_id
    rows = ask(store, "show/session", project=project, session=session).dicts()
    result = Detail("session", found.id, rows[0] if rows else {"project": project})
    result.tables["turns"] = turns(store, session=session, project=project, limit=10_000)
    return result


def _consortium(store: Store, found: RecordRef) -> Detail:
    run = consortium_run(store, found.project, found.id)
    result = _recorded(store, found)
    result.texts = _known_texts({"prompt": run.prompt, "final_text": run.final_text})
    return result


def _artifact(store: Store, found: RecordRef) -> Detail:
    result = _recorded(store, found)
    facts = result.facts
    hash_ = str(facts.pop("content_hash"))
    if facts["turn_id"] and not facts["call_id"]:
        call = ask(
            store,
            "show/artifact_call",
            project=found.project,
            session=facts["session_id"],
            turn=facts["turn_id"],
            created=f"{facts['created_at']:%Y-%m-%d %H:%M:%S.%f}",
        )
        facts["call_id"] = str(call.rows[0][0])
    bodies = load_definitions(store, found.project, [hash_])
    result.texts = _known_texts({"text": bodies.get(hash_, "")})
    return result


def _context(store: Store, found: RecordRef) -> Detail:
    loaded = contexts(store, found)
    if not loaded:
        raise KeyError(found.id)
    one = loaded[0]
    facts = {
        name: value
        for name, value in asdict(one).items()
        if name not in ("id", "text", "steps", "items", "context_hash")
    }
    result = Detail("context", found.id, facts, {"text": one.text} if one.text else {})
    result.tables["steps"] = Result(
        ("step", "duration_seconds", "error"),
        ("String", "Float64", "String"),
        [(step.name, step.duration, step.error_type) for step in one.steps],
    )
    result.tables["items"] = Result(
        ("item", "section", "source", "tokens", "score", "kept", "reason"),
        ("String", "String", "String", "UInt64", "Float64", "Bool", "String"),
        [(i.id, i.section, i.source, i.tokens, i.score, i.kept, i.reason) for i in one.items],
    )
    return result


def _call(store: Store, found: RecordRef) -> Detail:
    try:
        result = _recorded(store, found)
    except KeyError:  # it has not ended
        result = _recorded(store, found, "running_call")
    facts = result.facts
    inputs: list[bytes] = facts.pop("input_messages")
    outputs: list[bytes] = facts.pop("output_messages")
    hashes = {
        name: bytes(facts.pop(name)).hex()
        for name in ("system_prompt", "tool_definitions", "context_assembled")
    }
    known = load_messages(store, found.project, found.session_id or found.trace_id)
    bodies = load_definitions(store, found.project, hashes.values())
    result.input_messages = [message_of(one.hex(), known) for one in inputs]
    result.output_messages = [message_of(one.hex(), known) for one in outputs]
    if any(message.recorded for message in result.output_messages):
        # The messages say the same in full.
        result.texts.clear()
        facts.pop("tool_calls")
    for name, hash_ in hashes.items():
        if hash_ != NONE:
            body = bodies.get(hash_)
            text = f"(content not in the store, hash {hash_})" if body is None else body
            result.texts[name] = prompt_text(text) if name == "system_prompt" else text
    return result


def _trace(store: Store, found: RecordRef) -> Detail:
    of = {"project": found.project, "trace": found.trace_id}
    rows = ask(store, "show/trace_spans", **of).dicts()
    result = Detail("trace", found.id, {"project": found.project, "spans": len(rows)})
    nodes = {str(row["span_id"]): of_row(SpanNode, row) for row in rows}
    roots: list[SpanNode] = []
    for row in rows:
        node = nodes[row["span_id"]]
        parent = nodes.get(row["parent_span_id"])
        (roots if parent is None or parent is node else parent.children).append(node)
    result.spans = roots
    result.tables["turns"] = ask(store, "show/trace_turns", **of)
    return result


_LOADERS: Final[Mapping[str, Callable[[Store, RecordRef], Detail]]] = {
    "session": _session,
    "trace": _trace,
    "call": _call,
    "context": _context,
    "consortium": _consortium,
    "artifact": _artifact,
}
"""What loads a record of a kind that is more than a row."""
