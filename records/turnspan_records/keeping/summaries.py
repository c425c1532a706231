"""What is to be known of a session when nothing else of it is left: who, what was asked, how each
turn ended, what it cost, what became of it.

It is made of the turns, their judgments and the artifacts, which retention keeps; so it can be
made at any time, to the same result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final, TypeVar

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import of_row, utc
from turnspan_records.access.window import Window, window_parameters
from turnspan_records.sql import statement

Number = TypeVar("Number", int, Decimal)

SESSIONS: Final = 200
"""How many sessions are read at once."""
ASKED: Final = 600
"""How many characters of a question are read: a summary shows its beginning."""


@dataclass(slots=True)
class JudgmentSummary:
    """What was judged of a turn or a session, as far as it was."""

    outcome: str = ""
    training_flag: int | None = None
    score: float | None = None


@dataclass(slots=True)
class SessionTurn:
    """A root turn. Nested turns are only counted."""

    turn_id: str
    start_time: datetime
    duration: float
    """Seconds."""
    user_id: str
    agent_name: str
    asked: str
    """The beginning of what the user said; empty where that is not recorded or was pruned."""
    ended: str
    """The stop reason, or the life state of a turn that has not ended."""
    detail: str
    error_type: str
    rounds: int
    calls: int
    tools: int
    tool_errors: int
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    models: list[str]
    verdict: JudgmentSummary = field(default_factory=JudgmentSummary)


@dataclass(slots=True)
class SessionSummary:
    """A summary of a session. Times are in UTC. Sums skip turns whose value is unknown, and are
    ``None`` if it is unknown for all."""

    project: str
    session_id: str
    turns: list[SessionTurn] = field(default_factory=list[SessionTurn])
    nested: int = 0
    """Turns that other turns began; calls, tools, tokens and cost of theirs are in those."""
    targets: list[str] = field(default_factory=list[str])
    """What the agents wrote: pages, files."""
    verdict: JudgmentSummary = field(default_factory=JudgmentSummary)

    @property
    def began(self) -> datetime:
        """The start of its first turn."""
        return min(turn.start_time for turn in self.turns)

    @property
    def ended(self) -> datetime:
        """The end of its last turn."""
        return max(turn.start_time + timedelta(seconds=turn.duration) for turn in self.turns)

    @property
    def users(self) -> list[str]:
        """The users of the session."""
        return sorted({turn.user_id for turn in self.turns} - {""})

    @property
    def agents(self) -> list[str]:
        """The agents that answered."""
        return sorted({turn.agent_name for turn in self.turns} - {""})

    @property
    def models(self) -> list[str]:
        """The models that the agents called."""
        return sorted({model for turn in self.turns for model in turn.models} - {""})

    @property
    def calls(self) -> int:
        """Model calls."""
        return sum(turn.calls for turn in self.turns)

    @property
    def tools(self) -> int:
        """Tool calls."""
        return sum(turn.tools for turn in self.turns)

    @property
    def tool_errors(self) -> int:
        """Tool calls that failed."""
        return sum(turn.tool_errors for turn in self.turns)

    @property
    def input_tokens(self) -> int | None:
        """Tokens sent to the models."""
        return _sum(turn.input_tokens for turn in self.turns)

    @property
    def output_tokens(self) -> int | None:
        """Tokens the models wrote."""
        return _sum(turn.output_tokens for turn in self.turns)

    @property
    def cost_usd(self) -> Decimal | None:
        """The cost of the calls whose price is known."""
        return _sum(turn.cost_usd for turn in self.turns)


def _sum(numbers: Iterable[Number | None]) -> Number | None:
    known = [number for number in numbers if number is not None]
    return sum(known[1:], known[0]) if known else None


@dataclass(frozen=True, slots=True)
class Sessions:
    """A choice of sessions: a project, ids, a window with a turn in it. Empty means all."""

    project: str = ""
    ids: tuple[str, ...] = ()
    window: Window = field(default_factory=Window)

    @property
    def parameters(self) -> dict[str, object]:
        """The choice as parameters of a query."""
        return window_parameters(self.project, self.window, sessions=list(self.ids))


def number_of(store: Store, which: Sessions) -> int:
    """How many sessions these are. Raises ``StoreError`` as ``Store.query``."""
    return int(store.query(statement("summaries/number"), which.parameters).rows[0][0])


def summaries(store: Store, which: Sessions | None = None) -> Iterator[SessionSummary]:
    """A summary of each session, ordered by project and id. Only a few are in memory at a time.

    Skips turns without a session. Raises ``StoreError`` as ``Store.query``."""
    parameters = (which or Sessions()).parameters
    after = ("", "")
    while True:
        place = {"after_project": after[0], "after": after[1], "limit": SESSIONS}
        rows = store.query(statement("summaries/names"), {**parameters, **place}).rows
        named = [(str(row[0]), str(row[1])) for row in rows]
        for one in dict.fromkeys(project for project, _ in named):
            yield from _of_project(store, one, [id_ for project, id_ in named if project == one])
        if len(named) < SESSIONS:
            return
        after = named[-1]


def _of_project(store: Store, project: str, ids: list[str]) -> Iterator[SessionSummary]:
    found = {id_: SessionSummary(project, id_) for id_ in ids}
    nested: dict[str, list[SessionTurn]] = {id_: [] for id_ in ids}
    parameters = {"project": project, "sessions": ids}
    for row in store.query(statement("summaries/turns"), {**parameters, "asked": ASKED}).dicts():
        session = found[str(row["session_id"])]
        if row["parent_turn_id"]:
            session.nested += 1
            nested[session.session_id].append(_turn(row))
        else:
            session.turns.append(_turn(row))
    for session in found.values():
        if not session.turns:  # what began them was of another session, or is gone
            session.turns, session.nested = nested[session.session_id], 0
    for id_, targets in store.query(statement("summaries/artifacts"), parameters).rows:
        found[str(id_)].targets = sorted(map(str, targets))
    _judge(store, project, list(found.values()))
    # Between the two questions a session may have been forgotten.
    yield from (session for session in found.values() if session.turns)


def _turn(row: dict[str, Any]) -> SessionTurn:
    final = row["status"] == "final"
    return of_row(
        SessionTurn,
        row,
        start_time=utc(row["start_time"]),
        ended=row["stop_reason"] if final else row["status"] or row["stop_reason"],
        detail=row["stop_detail"],
        models=list(row["models"]),
    )


def _judge(store: Store, project: str, sessions: Sequence[SessionSummary]) -> None:
    """Put what was judged where it belongs."""
    verdicts = {("session", one.session_id): one.verdict for one in sessions}
    verdicts |= {("turn", turn.turn_id): turn.verdict for one in sessions for turn in one.turns}
    ids = sorted({id_ for _, id_ in verdicts})
    rows = store.query(statement("summaries/judgments"), {"project": project, "ids": ids}).rows
    for kind, subject, what, outcome, flag, score in rows:
        verdict = verdicts.get((kind, subject))
        if verdict is None:  # a turn and a session of one id
            continue
        if what == "outcome":
            verdict.outcome = outcome
        elif what == "training_flag":
            verdict.training_flag = flag
        else:
            verdict.score = score
