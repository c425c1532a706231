"""Consortium runs: who said what in which iteration, what the arbiter made of it, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta

from turnspan_clickhouse.store.client import Store
from turnspan_console.web.api.refusals import refusing
from turnspan_console.web.api.window import window_of
from turnspan_console.web.endpoints import Endpoint
from turnspan_records.consortium.run_detail import (
    ConsortiumRun,
    Decision,
    MemberAnswer,
    consortium_run,
)
from turnspan_records.consortium.runs import consortium_runs, consortium_runs_sql
from turnspan_records.lookup import find
from turnspan_records.loop.lineages import AmbiguousError
from turnspan_records.rows import utc


@dataclass(frozen=True, slots=True)
class RunsQuery:
    """Which runs."""

    project: str = ""
    since: str = ""
    until: str = ""
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in the list."""

    time: datetime
    project: str
    name: str
    run: str
    status: str
    iterations: int
    members: int
    arbiter: str
    winner: str
    confidence: float | None
    agreement: float | None
    calls: int
    cost_usd: float | None
    seconds: float
    error: str


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs, the newest first."""

    runs: list[RunRow]
    sql: str


@dataclass(frozen=True, slots=True)
class RunQuery:
    """Which run, by its id or its beginning."""

    run: str
    project: str = ""


@dataclass(frozen=True, slots=True)
class RunMember:
    """What a member answered."""

    id: str
    model: str
    instance: str
    label: str
    """What rankings call it."""
    answer: str
    seconds: float
    cost_usd: float | None
    input_tokens: int | None
    output_tokens: int | None
    calls: list[str]
    inner_run: str
    error_type: str
    error_message: str


@dataclass(frozen=True, slots=True)
class RunDecision:
    """What an arbiter made of an iteration."""

    id: str
    model: str
    synthesis: str
    ranking: list[str]
    confidence: float | None
    reasoning: str
    refinement_areas: list[str]
    needs_iteration: bool | None
    raw: str
    seconds: float
    cost_usd: float | None
    calls: list[str]
    error_type: str
    error_message: str


@dataclass(frozen=True, slots=True)
class RunIteration:
    """One round of answers; of several decisions the last counts."""

    number: int
    members: list[RunMember]
    decisions: list[RunDecision]


@dataclass(frozen=True, slots=True)
class Run:
    """A run, whole. ``agreement`` is how alike the last answers are, 0 to 1."""

    project: str
    run: str
    name: str
    strategy: str
    status: str
    source: str
    started_at: datetime
    seconds: float
    session: str
    turn: str
    outer: str
    winner: str
    confidence: float | None
    agreement: float | None
    calls: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    longest_member: str
    longest_seconds: float
    error_type: str
    error_message: str
    prompt: str
    final_text: str
    other_calls: list[str]
    iterations: list[RunIteration]


def _runs(store: Store, query: RunsQuery) -> Runs:
    window = window_of(query.since, query.until)
    found = consortium_runs(store, project=query.project, window=window, limit=query.limit)
    sql = consortium_runs_sql(project=query.project, window=window, limit=query.limit)
    return Runs([_row(row) for row in found.dicts()], sql)


def _row(row: Mapping[str, Any]) -> RunRow:
    names = ("project", "name", "run", "status", "iterations", "members", "arbiter", "winner")
    return RunRow(
        **{name: row[name] for name in (*names, "confidence", "agreement", "calls", "error")},
        time=utc(row["time"]),
        cost_usd=_dollars(row["cost_usd"]),
        seconds=float(row["duration_seconds"]),
    )


def _dollars(value: Any) -> float | None:
    return None if value is None else float(value)


def _run(store: Store, query: RunQuery) -> Run:
    with refusing("consortium run"):
        places = {
            (one.project, one.id)
            for one in find(store, query.run)
            if one.kind == "consortium" and query.project in ("", one.project)
        }
        if not places:
            raise KeyError(query.run)
        if len(places) > 1:
            raise AmbiguousError(", ".join(f"{id_} of {of}" for of, id_ in sorted(places)))
        ((project, id_),) = places
        return _whole(consortium_run(store, project, id_))


def _whole(run: ConsortiumRun) -> Run:
    names = (
        *("project", "name", "strategy", "status", "source", "started_at", "winner"),
        *("confidence", "agreement", "calls", "input_tokens", "output_tokens", "longest_member"),
        *("error_type", "error_message", "prompt", "final_text", "other_calls"),
    )
    values: dict[str, Any] = {name: getattr(run, name) for name in names}
    return Run(
        **values,
        run=run.consortium_id,
        seconds=run.duration,
        session=run.session_id,
        turn=run.turn_id,
        outer=run.outer_id,
        cost_usd=_dollars(run.cost_usd),
        longest_seconds=run.longest_member_seconds,
        iterations=[
            RunIteration(
                one.number,
                [_member(member) for member in one.members],
                [_decision(decision) for decision in one.decisions],
            )
            for one in run.iterations
        ],
    )


def _member(one: MemberAnswer) -> RunMember:
    return RunMember(
        id=one.id,
        model=one.model,
        instance=one.instance,
        label=one.label,
        answer=one.answer,
        seconds=one.duration,
        cost_usd=_dollars(one.cost_usd),
        input_tokens=one.input_tokens,
        output_tokens=one.output_tokens,
        calls=one.calls,
        inner_run=one.inner_run,
        error_type=one.error_type,
        error_message=one.error_message,
    )


def _decision(one: Decision) -> RunDecision:
    return RunDecision(
        id=one.id,
        model=one.model,
        synthesis=one.synthesis,
        ranking=one.ranking,
        confidence=one.confidence,
        reasoning=one.reasoning,
        refinement_areas=one.refinement_areas,
        needs_iteration=one.needs_iteration,
        raw=one.raw,
        seconds=one.duration,
        cost_usd=_dollars(one.cost_usd),
        calls=one.calls,
        error_type=one.error_type,
        error_message=one.error_message,
    )


ENDPOINTS = (
    Endpoint("GET", "/api/consortium", RunsQuery, Runs, _runs, "The consortium runs."),
    Endpoint("GET", "/api/consortium/run", RunQuery, Run, _run, "One consortium run."),
)
