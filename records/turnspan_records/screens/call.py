"""One model call: its facts, the messages of its request and of its answer, its neighbours."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.questions import ask, ask_row
from turnspan_records.conversation import CallFacts
from turnspan_records.messages import known_hash, load_messages
from turnspan_records.screens.cost import CostParts, cost_of_row
from turnspan_records.screens.outline_types import Head
from turnspan_records.screens.previews import head_of


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A column or attribute with its value as text."""

    name: str
    value: str


@dataclass(slots=True)
class CallScreen(CallFacts):
    """A model call. ``number`` is its place among the ``calls`` of its session, from 1; ``before``
    and ``after`` are its neighbours there, empty where there is none. ``system``, ``tools`` and
    ``context`` are hashes of definitions."""

    project: str
    session_id: str
    cache_write_tokens: int | None
    tokens_estimated: bool
    response_text: str
    response_thoughts: str
    request_parameters: str
    inputs: tuple[Head, ...]
    outputs: tuple[Head, ...]
    system: str
    tools: str
    context: str
    number: int
    calls: int
    before: str
    after: str
    cost: CostParts
    facts: tuple[NamedValue, ...]
    attributes: tuple[NamedValue, ...]


_FACTS = (
    *("operation", "request_model", "response_model", "response_id", "stream", "stream_outcome"),
    *("agent_version", "service", "environment", "scope_name", "consortium_id", "lineage_id"),
    *("rollout_id", "attempt_id"),
)


def call_screen(store: Store, project: str, span_id: str) -> CallScreen:
    """A model call.

    Raises:
        KeyError: there is no such call.
        StoreError: as ``Store.query``.
    """
    row = ask_row(store, "call/call", span_id, project=project, span=span_id)
    scope = str(row["session_id"] or row["trace_id"])
    known = load_messages(store, project, scope, [*row["inputs"], *row["outputs"]])
    of = {"project": project, "session": row["session_id"], "trace": row["trace_id"]}
    order = list(ask(store, "call/order", **of).rows[0][0])
    at = order.index(span_id)
    return of_row(
        CallScreen,
        row,
        model=str(row["response_model"] or row["request_model"]),
        inputs=tuple(head_of(one, known.get(one)) for one in row["inputs"]),
        outputs=tuple(head_of(one, known.get(one)) for one in row["outputs"]),
        system=known_hash(row["system"]),
        tools=known_hash(row["tools"]),
        context=known_hash(row["context"]),
        number=at + 1,
        calls=len(order),
        before=order[at - 1] if at else "",
        after=order[at + 1] if at + 1 < len(order) else "",
        cost=cost_of_row(row),
        facts=tuple(
            NamedValue(name, str(row[name])) for name in _FACTS if row[name] not in ("", None)
        ),
        attributes=tuple(NamedValue(str(k), str(v)) for k, v in sorted(row["attributes"].items())),
    )
