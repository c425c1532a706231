"""What becomes one sample: a turn, a model call or a session, if the filters let it through."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import utc
from turnspan_records.access.whole_folders import ExportError
from turnspan_records.sandbox import RefusedError, Sandbox
from turnspan_records.training.counts import Counts
from turnspan_records.training.export_request import Filters, Unit
from turnspan_records.training.scopes import CallRow, ScopeGroup, TrainingScope


@dataclass(frozen=True, slots=True)
class Candidate:
    """One unit with its calls; ``subjects``: what judgments of it are about, the nearest first."""

    id: str
    kind: Unit
    session_id: str
    trace_id: str
    calls: tuple[CallRow, ...]
    subjects: tuple[tuple[str, str], ...]
    agent_name: str
    agent_version: str
    begun: Any
    """When it began, as the store gives it."""
    stop_reason: str = ""
    """Of its turn; of a session's last one."""
    ended: bool = True
    """Whether it is a turn that ended, or none."""
    attempt_id: str = ""
    """The one attempt that it is part of, or is."""

    @property
    def model(self) -> str:
        """The model that answered last."""
        return self.calls[-1].response_model or self.calls[-1].request_model

    @property
    def parts(self) -> set[tuple[str, str]]:
        """All that it is part of, and that is part of it, as what judgments are about."""
        found = set(self.subjects)
        for call in self.calls:
            for kind, id_ in (("call", call.span_id), ("turn", call.turn_id)):
                found |= {(kind, id_), ("span", id_)}
            found |= {("attempt", call.attempt_id), ("session", call.session_id)}
            found.add(("consortium", call.consortium_id))
        return {(kind, id_) for kind, id_ in found if id_}


class Units:
    """Finds the units of sessions, and asks the user's own condition of them."""

    def __init__(self, store: Store, unit: Unit, filters: Filters, counts: Counts) -> None:
        self._unit: Unit = unit
        self._filters = filters
        self._counts = counts
        self._sandbox = Sandbox(store) if filters.where else None

    def chosen(self, these: ScopeGroup) -> set[str] | None:
        """The ids for which the user's condition holds; ``None`` where there is none.

        The condition is one statement with the names of the sessions as a parameter, and runs where
        queries of people do: it may read the records and nothing else.

        Raises:
            ExportError: it is no condition, or does more than read records.
        """
        if self._sandbox is None:
            return None
        table, id_ = (
            ("llm_call", "span_id") if self._unit == "call" else ("turn_summary", "turn_id")
        )
        try:
            found = self._sandbox.query(
                f"SELECT DISTINCT {id_} FROM {table} WHERE {these.condition}"
                f" AND project = {{project:String}} AND ({self._filters.where}\n)",
                {"project": these.project, "scopes": list(these.ids)},
            )
        except RefusedError as error:
            raise ExportError(f"The SQL condition may only read records: {error}.") from None
        except QueryError as error:
            raise ExportError(f"The SQL condition cannot be asked of {table}: {error}") from None
        return {str(row[0]) for row in found.rows}

    def of(self, scope: TrainingScope, chosen: set[str] | None) -> Iterator[Candidate]:
        """The units of a session that the filters let through, in the order of time."""
        find = {"turn": _turns, "call": _calls, "session": _session}
        for one in find[self._unit](scope):
            if self._passes(one, scope, chosen):
                self._counts.looked_at += 1
                yield one

    def close(self) -> None:
        """Release what the condition was asked with."""
        if self._sandbox is not None:
            self._sandbox.close()

    def _passes(self, one: Candidate, scope: TrainingScope, chosen: set[str] | None) -> bool:
        filters = self._filters
        ids = {t.turn_id for t in scope.turns} if self._unit == "session" else {one.id}
        reason = one.stop_reason
        brief = reason.partition(":")[0]
        return (
            filters.window.since <= utc(one.begun) < filters.window.until
            and _among(one.agent_name, filters.agents)
            and _among(one.agent_version, filters.versions)
            and _among(one.model, filters.models)
            and (_among(reason, filters.stop_reasons) or _among(brief, filters.stop_reasons))
            and (chosen is None or not chosen.isdisjoint(ids))
        )


def _among(value: str, wanted: Sequence[str]) -> bool:
    return not wanted or value in wanted


def _turns(scope: TrainingScope) -> Iterator[Candidate]:
    calls: dict[str, list[CallRow]] = {}
    for call in scope.calls:
        calls.setdefault(call.turn_id, []).append(call)
    for turn in scope.turns:
        if own := calls.get(turn.turn_id):
            around = (("attempt", turn.attempt_id), ("session", turn.session_id))
            yield Candidate(
                *(turn.turn_id, "turn", turn.session_id, turn.trace_id, tuple(own)),
                (("turn", turn.turn_id), *around),
                *(turn.agent_name, turn.agent_version, turn.start_time, turn.stop_reason),
                *(turn.status == "final", turn.attempt_id),
            )


def _calls(scope: TrainingScope) -> Iterator[Candidate]:
    turns = {turn.turn_id: turn for turn in scope.turns}
    for call in scope.calls:
        turn = turns.get(call.turn_id)
        around = (("attempt", call.attempt_id), ("session", call.session_id))
        yield Candidate(
            *(call.span_id, "call", call.session_id, call.trace_id, (call,)),
            (("call", call.span_id), ("turn", call.turn_id), *around),
            call.agent_name or (turn.agent_name if turn else ""),
            call.agent_version or (turn.agent_version if turn else ""),
            call.start_time,
            turn.stop_reason if turn else "",
            attempt_id=call.attempt_id,
        )


def _session(scope: TrainingScope) -> Iterator[Candidate]:
    if not scope.calls:
        return
    first, last = scope.calls[0], scope.turns[-1] if scope.turns else None
    attempts = {call.attempt_id for call in scope.calls}
    attempt = attempts.pop() if len(attempts) == 1 else ""
    agent = last or first
    yield Candidate(
        *(scope.id, "session", first.session_id, first.trace_id, tuple(scope.calls)),
        (("session", scope.id), ("attempt", attempt)),
        *(agent.agent_name, agent.agent_version, first.start_time),
        last.stop_reason if last else "",
        attempt_id=attempt,
    )
