"""One consortium run: what each member answered, what the arbiter made of it, and what it cost.

Times are aware datetimes in UTC, durations seconds, money ``Decimal`` dollars (``None``: unknown).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row
from turnspan_records.access.times import utc
from turnspan_records.judging.history import JudgmentRecord, judgments
from turnspan_records.messages import load_definitions

MEMBER: Final = 0
"""The role of a member's call; an arbiter's is 1, and 2 where another iteration followed."""

_RUN: Final = """
SELECT * FROM consortium_run
WHERE project = {project:String} AND consortium_id = {run:String}
"""
_TEXTS: Final = """
SELECT lower(hex(prompt)) AS prompt_hash, lower(hex(final_text)) AS final_hash, error_message,
    attributes['turnspan.consortium.grouped_by'] AS grouped_by,
    toUInt32OrZero(attributes['turnspan.consortium.missing_rows']) AS missing
FROM consortium WHERE project = {project:String} AND consortium_id = {run:String}
"""
_MEMBERS: Final = """
SELECT iteration, member_id, model, instance, answer, started_at, m.duration AS duration,
    error_type, error_message
FROM consortium_member AS m
WHERE project = {project:String} AND consortium_id = {run:String}
"""
_DECISIONS: Final = """
SELECT iteration, arbiter_id, model, synthesis, ranking, confidence, reasoning, refinement_areas,
    needs_iteration, raw, started_at, i.duration AS duration, error_type, error_message
FROM consortium_iteration AS i
WHERE project = {project:String} AND consortium_id = {run:String}
"""
_CALLS: Final = """
SELECT span_id, attributes['turnspan.consortium.member'] AS named, consortium_role AS role,
    toUInt32OrZero(attributes['turnspan.consortium.iteration']) AS iteration,
    if(response_model != '', response_model, request_model) AS model, start_time,
    c.duration AS duration, input_tokens, output_tokens, c.cost_usd AS cost_usd, response_text,
    error_type, error_message
FROM llm_call AS c
WHERE project = {project:String} AND consortium_id = {run:String}
    AND start_time IN
    (
        SELECT start_time FROM llm_call
        WHERE project = {project:String} AND consortium_id = {run:String} SETTINGS final = 0
    )
ORDER BY start_time, span_id
"""
_INNER: Final = """
SELECT outer_member, argMin(consortium_id, started_at) AS inner_id FROM consortium
WHERE project = {project:String} AND outer_id = {run:String} AND outer_member != ''
GROUP BY outer_member
"""


@dataclass(slots=True)
class _WithCalls:
    """What members and arbiters have in common: which calls they made."""

    id: str
    """Of its span, or of its one call."""
    iteration: int
    model: str
    started_at: datetime
    duration: float = 0.0
    error_type: str = ""
    error_message: str = ""
    calls: list[str] = field(default_factory=list[str])
    """The ids of its model calls, the first first."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Decimal | None = None


@dataclass(slots=True)
class MemberAnswer(_WithCalls):
    """What a member answered in an iteration."""

    instance: str = ""
    answer: str = ""
    inner_run: str = ""
    """The run that it is itself."""
    label: str = ""
    """What rankings call it: the model, and which instance of it."""
    won: bool = False


@dataclass(slots=True)
class Decision(_WithCalls):
    """What an arbiter made of an iteration."""

    synthesis: str = ""
    ranking: list[str] = field(default_factory=list[str])
    confidence: float | None = None
    reasoning: str = ""
    refinement_areas: list[str] = field(default_factory=list[str])
    needs_iteration: bool | None = None
    raw: str = ""


@dataclass(slots=True)
class Iteration:
    """One round of answers. Of several ``decisions`` the last counts."""

    number: int
    members: list[MemberAnswer] = field(default_factory=list[MemberAnswer])
    decisions: list[Decision] = field(default_factory=list[Decision])

    @property
    def decision(self) -> Decision | None:
        """The one that counts."""
        return self.decisions[-1] if self.decisions else None


@dataclass(slots=True)
class ConsortiumRun:
    """A run, whole. ``agreement`` is how alike the last iteration's answers are, 0 to 1."""

    project: str
    consortium_id: str
    name: str
    strategy: str
    status: str
    source: str
    started_at: datetime
    duration: float
    session_id: str
    turn_id: str
    trace_id: str
    outer_id: str
    winner: str
    confidence: float | None
    agreement: float | None
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    longest_member: str
    longest_member_seconds: float
    error_type: str
    error_message: str = ""
    prompt: str = ""
    final_text: str = ""
    grouped_by: list[str] = field(default_factory=list[str])
    """The keys by which an import found its rows, the strongest first; none of one that was
    recorded as it happened."""
    missing: int = 0
    """How many of its rows that import did not find."""
    other_calls: list[str] = field(default_factory=list[str])
    """The ids of model calls that are no member's and no arbiter's."""
    iterations: list[Iteration] = field(default_factory=list[Iteration])
    judgments: list[JudgmentRecord] = field(default_factory=list[JudgmentRecord])
    """What was said of the run itself."""


def consortium_run(store: Store, project: str, run: str) -> ConsortiumRun:
    """Load a run.

    Raises:
        KeyError: there is none of this id.
        StoreError: as ``Store.query``.
    """
    asked = {"project": project, "run": run}
    rows = store.query(_RUN, asked).dicts()
    if not rows:
        raise KeyError(run)
    # The view's iterations are a number: here they are loaded below.
    began = utc(rows[0]["started_at"])
    made = of_row(ConsortiumRun, rows[0], started_at=began, iterations=list[Iteration]())
    for said in store.query(_TEXTS, asked).dicts():
        made.error_message = str(said["error_message"])
        made.grouped_by = [one for one in str(said["grouped_by"]).split(",") if one]
        made.missing = int(said["missing"])
        hashes = str(said["prompt_hash"]), str(said["final_hash"])
        bodies = load_definitions(store, project, hashes)
        made.prompt, made.final_text = (bodies.get(one, "") for one in hashes)
    blocks: dict[str, MemberAnswer | Decision] = {}
    for row in store.query(_MEMBERS, asked).dicts():
        id_, began = str(row["member_id"]), utc(row["started_at"])
        blocks[id_] = of_row(MemberAnswer, row, id=id_, started_at=began)
    for row in store.query(_DECISIONS, asked).dicts():
        blocks[str(row["arbiter_id"])] = _decision(row)
    _add_calls(made, blocks, store.query(_CALLS, asked).dicts())
    for outer, inner in store.query(_INNER, asked).rows:
        block = blocks.get(str(outer))
        if isinstance(block, MemberAnswer):
            block.inner_run = str(inner)
    _name(made.winner, blocks.values())
    made.iterations = _by_iteration(blocks.values())
    made.judgments = judgments(store, project, "consortium", run)
    return made


def _decision(row: Mapping[str, Any]) -> Decision:
    values = dict(row)
    values["started_at"] = utc(values["started_at"])
    for name in ("ranking", "refinement_areas"):
        values[name] = list(values[name])
    if values["needs_iteration"] is not None:
        values["needs_iteration"] = bool(values["needs_iteration"])
    return Decision(id=str(values.pop("arbiter_id")), **values)


def _add_calls(
    run: ConsortiumRun,
    blocks: dict[str, MemberAnswer | Decision],
    calls: Iterable[Mapping[str, Any]],
) -> None:
    """Give calls to whom they are of; those of whom nobody told make one."""
    answers: dict[str, str] = {}
    calls = list(calls)
    numbered = any(block.iteration for block in blocks.values()) or any(
        call["iteration"] for call in calls
    )
    for call in calls:
        span = str(call["span_id"])
        named = str(call["named"]) or span
        block = blocks.get(named)
        if block is None:
            # Of a consortium that is asked as a model is, what the run came to is a call as well.
            placed = call["named"] or call["iteration"] or not numbered
            if call["role"] is None or (call["role"] == MEMBER and not placed):
                run.other_calls.append(span)
                continue
            kind = MemberAnswer if call["role"] == MEMBER else Decision
            block = blocks[named] = kind(
                id=named,
                iteration=int(call["iteration"]),
                model=str(call["model"]),
                started_at=utc(call["start_time"]),
                duration=float(call["duration"]),
                error_type=str(call["error_type"]),
                error_message=str(call["error_message"]),
            )
        _count(block, call, span)
        if call["response_text"]:
            answers[named] = str(call["response_text"])
    for id_, block in blocks.items():
        if isinstance(block, MemberAnswer) and not block.answer:
            block.answer = answers.get(id_, "")


def _count(block: _WithCalls, call: Mapping[str, Any], span: str) -> None:
    block.calls.append(span)
    if not block.model:
        block.model = str(call["model"])
    for name in ("input_tokens", "output_tokens", "cost_usd"):
        known, more = getattr(block, name), call[name]
        if more is not None:
            setattr(block, name, more if known is None else known + more)


def _name(winner: str, blocks: Iterable[MemberAnswer | Decision]) -> None:
    """Say what rankings call each member, and who won: of a model without instances its name."""
    for block in blocks:
        if isinstance(block, MemberAnswer):
            model, instance = block.model, block.instance
            block.label = f"{model}#{instance}" if instance else model
            block.won = bool(winner) and winner in (block.label, model)


def _by_iteration(blocks: Iterable[MemberAnswer | Decision]) -> list[Iteration]:
    made: dict[int, Iteration] = {}
    for block in sorted(blocks, key=lambda one: (one.iteration, one.started_at, one.id)):
        iteration = made.setdefault(block.iteration, Iteration(block.iteration))
        if isinstance(block, MemberAnswer):
            iteration.members.append(block)
        else:
            iteration.decisions.append(block)
    return list(made.values())
