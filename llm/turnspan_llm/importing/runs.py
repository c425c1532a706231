"""Consortium runs that are found in a log -> the facts that runs are told by as they happen."""

from __future__ import annotations

import pickle
import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.consortium_facts import (
    FINISHED,
    IMPORT,
    ArbiterDecided,
    ConsortiumPlace,
    ConsortiumTold,
    MemberAnswered,
)
from turnspan.tracing.content_store import Fact
from turnspan_llm.grouping.arbiter_replies import Decided, of_json, of_reply, of_table
from turnspan_llm.grouping.model import AttachedRow, Grouping, MatchKey, RowAt, RowPlace, RunFound
from turnspan_llm.importing.call_fields import LoggedCall
from turnspan_llm.importing.source import LogTables, Row
from turnspan_llm.importing.turns import KIND, RESOURCE
from turnspan_llm.logs.logged import as_text
from turnspan_llm.logs.messages import UnresolvedError, resolved
from turnspan_records.importing import ids


def has_runs(sources: Sequence[LogTables]) -> bool:
    """Whether there is anything of a consortium in a log or in llm-consortium's own file."""
    tables = ("consortium_configs", "consortium_runs")
    return any(source.layout.has(table) for source in sources for table in tables)


def _keys(run: RunFound) -> tuple[str, ...]:
    """The keys by which the rows of a run were found, the strongest first. That it was written into
    the log before is none where there are others: the log itself says as much as it did then."""
    used = {key for each in run.rows() for key in each.keys}
    found = [key.value for key in MatchKey if key in used and key is not MatchKey.ASSIGNED]
    return tuple(found or [key.value for key in used])


class RunRecords:
    """The runs of a log, by the rows that they have."""

    def __init__(self, sources: Sequence[LogTables], verdicts: Verdicts) -> None:
        self._sources = sources
        self._verdicts = verdicts
        self._told = next((one for one in sources if one.layout.has("consortium_members")), None)

    def place(self, call: LoggedCall) -> RowPlace | None:
        """Where a call was put."""
        return self._verdicts.place(call.id)

    def facts(self, output: LoggedCall, span_id: str, turn_id: str, trace_id: str) -> list[Fact]:
        """The facts of the run that a call is the output of."""
        run = self._verdicts.run(output.id)
        if run is None:
            return []
        place = ConsortiumPlace(
            RESOURCE.attributes, run.consortium_id, output.session, turn_id, trace_id
        )
        told = _RunTables(self._told, run.source_id)
        facts: list[Fact] = [
            ConsortiumTold(
                place,
                name=run.name,
                strategy=told.strategy,
                prompt=output.user_text or None,
                started_at=output.start,
                status=FINISHED,
                final_text=output.text or None,
                iterations=max([each.number for each in run.iterations] + [told.iterations]),
                source=IMPORT,
                outer_id=run.parent or "",
                outer_member=span_of_call(run.output.row.id) if run.parent else "",
                span_id=span_id,
                duration=(output.end - output.start) / 1e9,
                grouped_by=_keys(run),
                missing=sum(each.missing for each in run.iterations),
            )
        ]
        facts += self._members(run, place, told, output.start)
        facts += self._arbiters(run, place, told, output.start)
        return facts

    def _members(
        self, run: RunFound, place: ConsortiumPlace, told: _RunTables, when: int
    ) -> Iterator[Fact]:
        known: set[str] = set()
        for iteration in run.iterations:
            asked: Counter[str] = Counter()
            for member in iteration.members:
                row = member.row
                known.add(row.id)
                asked[row.model] += 1
                yield MemberAnswered(
                    place, iteration.number, span_of_call(row.id), row.model,
                    str(asked[row.model]) if asked[row.model] > 1 else "",
                    _began(row, when), duration=_seconds(row),
                )  # fmt: skip
        for number, id_, model in told.members:
            if id_ not in known:  # its call was never logged
                yield MemberAnswered(place, number, span_of_call(id_), model, "", when)

    def _arbiters(
        self, run: RunFound, place: ConsortiumPlace, told: _RunTables, when: int
    ) -> Iterator[Fact]:
        found = {each.number: each.arbiter for each in run.iterations if each.arbiter is not None}
        last = max((each.number for each in run.iterations), default=0)
        for number in sorted({*found, *told.decisions}):
            arbiter = found.get(number)
            row = told.decisions.get(number, {})
            decided = self._decided(run, arbiter, row, number == last)
            id_ = arbiter.row.id if arbiter is not None else as_text(row.get("response_id"))
            yield ArbiterDecided(
                place,
                number,
                span_of_call(id_ or f"{run.consortium_id}/{number}"),
                arbiter.row.model if arbiter is not None else told.arbiter,
                _began(arbiter.row, when) if arbiter is not None else when,
                **asdict(decided),
                duration=_seconds(arbiter.row) if arbiter is not None else 0.0,
            )

    def _decided(self, run: RunFound, arbiter: AttachedRow | None, row: Row, last: bool) -> Decided:
        """By the tables, else by the arbiter's reply. Where llm has not logged that, the run's
        output tells what its last arbiter decided."""
        said = self._reply(arbiter) if arbiter is not None else ""
        decided = of_table(row).filled(of_reply(said))
        if last and not said and not row:
            decided = of_json(self._told_by(run.output.row))
        return decided

    def _told_by(self, output: RowAt) -> Any:
        logged = self._sources[output.database].response(output.table, output.position)
        try:
            said = None if logged is None else resolved(logged.response_json, logged.texts)
        except UnresolvedError:
            return None
        return said.get("synthesis") if is_dict(said) else None

    def _reply(self, attached: AttachedRow) -> str:
        """What an arbiter answered."""
        row = attached.row
        logged = self._sources[row.database].response(row.table, row.position)
        return "" if logged is None else logged.response


class _RunTables:
    """What llm-consortium's own tables say of a run."""

    def __init__(self, source: LogTables | None, run: str | None) -> None:
        self.strategy = ""
        self.iterations = 0
        self.arbiter = ""
        self.members: list[tuple[int, str, str]] = []
        self.decisions: dict[int, Row] = {}
        if source is None or run is None:
            return
        for row in source.rows("consortium_runs", "id", [run]):
            self.strategy = as_text(row.get("strategy"))
            self.iterations = _whole(row.get("iteration_count"))
        for row in source.rows("consortium_members", "run_id", [run]):
            role, id_ = as_text(row.get("role")), as_text(row.get("response_id"))
            if role != "arbiter" and id_:
                self.members.append((_whole(row.get("iteration")), id_, role))
        for row in source.rows("arbiter_decisions", "run_id", [run]):
            self.decisions[_whole(row.get("iteration"))] = row


def span_of_call(row_id: str) -> str:
    """The span id of a row's call, as records have it."""
    return f"{ids.span_id(KIND, row_id):016x}"


def _began(row: RowAt, otherwise: int) -> int:
    return row.began * 1_000 if row.began >= 0 else otherwise


def _seconds(row: RowAt) -> float:
    return max(0, row.ended - row.began) / 1e6 if row.began >= 0 else 0.0


def _whole(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**31 else 0


_SCHEMA: Final = """
PRAGMA journal_mode = OFF;
CREATE TABLE place (id TEXT PRIMARY KEY, run TEXT, role INTEGER, iteration INTEGER) WITHOUT ROWID;
CREATE TABLE run (output TEXT PRIMARY KEY, told BLOB);
"""


class Verdicts:
    """Runs by their outputs, and places by rows."""

    def __init__(self) -> None:
        self._scratch = sqlite3.connect("", isolation_level=None)
        self._scratch.executescript(_SCHEMA)

    def close(self) -> None:
        """Forget them."""
        self._scratch.close()

    def add(self, grouping: Grouping) -> None:
        """Add what was found in a stretch of the log."""
        self._scratch.execute("BEGIN")
        self._scratch.executemany(
            "INSERT OR REPLACE INTO place VALUES (?, ?, ?, ?)",
            ((id_, *place) for id_, place in grouping.places.items()),
        )
        self._scratch.executemany(
            "INSERT OR REPLACE INTO run VALUES (?, ?)",
            ((run.output.row.id, pickle.dumps(run)) for run in grouping.runs),
        )
        self._scratch.execute("COMMIT")

    def place(self, row_id: str) -> RowPlace | None:
        """Where a row was put; ``None`` of one that is in no run."""
        found = self._scratch.execute(
            "SELECT run, role, iteration FROM place WHERE id = ?", (row_id,)
        ).fetchone()
        return None if found is None else RowPlace(*found)

    def run(self, output: str) -> RunFound | None:
        """The run that a row is the output of."""
        found = self._scratch.execute("SELECT told FROM run WHERE output = ?", (output,)).fetchone()
        run: RunFound | None = None if found is None else pickle.loads(found[0])
        return run
