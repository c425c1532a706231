"""One consortium run: what each member answered, what the arbiter made of it, and what it cost.

Times are aware datetimes in UTC, durations seconds, money ``Decimal`` dollars (``None``: unknown).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.fields import of_row, utc
from turnspan_records.access.questions import ask, ask_row
from turnspan_records.access.window import Window, window_parameters
from turnspan_records.judging.history import JudgmentRecord, judgments
from turnspan_records.messages import load_definitions

MEMBER: Final = 0
"""The role of a member's call; an arbiter's is 1, and 2 where another iteration followed."""


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
    """A whole run. ``agreement`` is how similar the last iteration's answers are, from 0 to 1."""

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
        KeyError: no run has this id.
        StoreError: as ``Store.query``.
    """
    asked = {"project": project, "run": run}
    row = ask_row(store, "consortium/run", run, **asked)
    # The view's iterations are a number: here they are loaded below.
    made = of_row(ConsortiumRun, row, iterations=list[Iteration]())
    for said in ask(store, "consortium/texts", **asked).dicts():
        made.error_message = str(said["error_message"])
        made.grouped_by = [one for one in str(said["grouped_by"]).split(",") if one]
        made.missing = int(said["missing"])
        hashes = str(said["prompt_hash"]), str(said["final_hash"])
        bodies = load_definitions(store, project, hashes)
        made.prompt, made.final_text = (bodies.get(one, "") for one in hashes)
    blocks: dict[str, MemberAnswer | Decision] = {}
    for row in ask(store, "consortium/members", **asked).dicts():
        blocks[row["member_id"]] = of_row(MemberAnswer, row, id=row["member_id"])
    for row in ask(store, "consortium/decisions", **asked).dicts():
        blocks[row["arbiter_id"]] = of_row(Decision, row, id=row["arbiter_id"])
    _add_calls(made, blocks, ask(store, "consortium/calls", **asked).dicts())
    for outer, inner in ask(store, "consortium/inner", **asked).rows:
        block = blocks.get(str(outer))
        if isinstance(block, MemberAnswer):
            block.inner_run = str(inner)
    for block in blocks.values():
        if isinstance(block, MemberAnswer):  # what rankings call it; without instances its name
            model, instance = block.model, block.instance
            block.label = f"{model}#{instance}" if instance else model
            block.won = bool(made.winner) and made.winner in (block.label, model)
    made.iterations = _by_iteration(blocks.values())
    made.judgments = judgments(store, project, "consortium", run)
    return made


def _add_calls(
    run: ConsortiumRun,
    blocks: dict[str, MemberAnswer | Decision],
    calls: Sequence[Mapping[str, Any]],
) -> None:
    """Give calls to whom they are of; those of whom nobody told make one."""
    answers: dict[str, str] = {}
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
                *(named, call["iteration"], call["model"], utc(call["start_time"])),
                *(call["duration"], call["error_type"], call["error_message"]),
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


def _by_iteration(blocks: Iterable[MemberAnswer | Decision]) -> list[Iteration]:
    made: dict[int, Iteration] = {}
    for block in sorted(blocks, key=lambda one: (one.iteration, one.started_at, one.id)):
        iteration = made.setdefault(block.iteration, Iteration(block.iteration))
        if isinstance(block, MemberAnswer):
            iteration.members.append(block)
        else:
            iteration.decisions.append(block)
    return list(made.values())


def consortium_runs(
    store: Store, *, project: str = "", window: Window | None = None, limit: int = 20
) -> Result:
    """The runs that started in the window. Raises ``StoreError`` as ``Store.query``."""
    return ask(store, "consortium/runs", **window_parameters(project, window, limit=limit))


def sessions_of(store: Store, project: str, run: str) -> list[str]:
    """The sessions of a run's calls. Raises ``StoreError`` as ``Store.query``."""
    rows = ask(store, "consortium/sessions", {"final": 0}, project=project, run=run).rows
    return [str(row[0]) for row in rows]
