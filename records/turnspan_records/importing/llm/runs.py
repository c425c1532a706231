"""Consortium runs that are found in a log -> the facts that runs are told by as they happen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from turnspan.content.model import as_list
from turnspan.tracing.consortium_facts import (
    FINISHED,
    IMPORT,
    ArbiterDecided,
    ConsortiumPlace,
    ConsortiumTold,
    MemberAnswered,
)
from turnspan.tracing.content_store import Fact
from turnspan_records.consortium.grouping import group
from turnspan_records.consortium.grouping_prompts import between_tags
from turnspan_records.consortium.grouping_types import Attached, Grouping, RowAt, RunFound
from turnspan_records.importing import ids
from turnspan_records.importing.llm.calls import Call
from turnspan_records.importing.llm.source import Row, Source
from turnspan_records.importing.llm.turns import KIND, RESOURCE
from turnspan_records.importing.llm.values import as_text, is_read, read_json
from turnspan_records.llm_logs.generations import RESPONSES
from turnspan_records.llm_logs.messages import MessageTree


def found_runs(sources: Sequence[Source]) -> Grouping | None:
    """The runs of a log and of llm-consortium's own file beside it; ``None`` where there is nothing
    of a consortium.

    Raises:
        LogsError: one of them cannot be read.
    """
    tables = ("consortium_configs", "consortium_runs")
    if not any(source.layout.has(table) for source in sources for table in tables):
        return None
    own = sources[1].path if len(sources) > 1 else None
    return group(sources[0].path, consortium_db=own)


class Runs:
    """The runs of a log, by the rows that they have."""

    def __init__(self, sources: Sequence[Source], grouping: Grouping | None) -> None:
        self._sources = sources
        self._grouping = grouping
        runs = grouping.runs if grouping is not None else ()
        self._by_output = {run.output.row.id: run for run in runs}
        self._told = next((one for one in sources if one.layout.has("consortium_members")), None)
        self._trees: dict[int, MessageTree] = {}

    def place(self, call: Call) -> tuple[str, int, int] | None:
        """The run, role and iteration of a call."""
        return None if self._grouping is None else self._grouping.of(call.id)

    def rows(self) -> Iterator[list[RowAt]]:
        """The rows of each run."""
        for run in self._by_output.values():
            yield [attached.row for attached in run.rows()]

    def facts(self, output: Call, span_id: str, turn_id: str, trace_id: str) -> list[Fact]:
        """The facts of the run that a call is the output of."""
        run = self._by_output.get(output.id)
        if run is None:
            return []
        place = ConsortiumPlace(
            RESOURCE.attributes, run.consortium_id, output.session, turn_id, trace_id
        )
        told = _Told(self._told, run.source_id)
        facts: list[Fact] = [
            ConsortiumTold(
                place,
                name=run.name,
                strategy=told.strategy,
                prompt=output.said or None,
                started_at=output.start,
                status=FINISHED,
                final_text=output.text or None,
                iterations=max([each.number for each in run.iterations] + [told.iterations]),
                source=IMPORT,
                outer_id=run.parent or "",
                outer_member=span_of_call(run.output.row.id) if run.parent else "",
                span_id=span_id,
                duration=(output.end - output.start) / 1e9,
            )
        ]
        facts += self._members(run, place, told, output.start)
        facts += self._arbiters(run, place, told, output.start)
        return facts

    def _members(
        self, run: RunFound, place: ConsortiumPlace, told: _Told, when: int
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
        self, run: RunFound, place: ConsortiumPlace, told: _Told, when: int
    ) -> Iterator[Fact]:
        found = {each.number: each.arbiter for each in run.iterations if each.arbiter is not None}
        for number in sorted({*found, *told.decisions}):
            arbiter = found.get(number)
            said = self._reply(arbiter) if arbiter is not None else ""
            decided = _decided(said, told.decisions.get(number, {}))
            id_ = arbiter.row.id if arbiter is not None else as_text(decided.id)
            yield ArbiterDecided(
                place,
                number,
                span_of_call(id_ or f"{run.consortium_id}/{number}"),
                arbiter.row.model if arbiter is not None else told.arbiter,
                _began(arbiter.row, when) if arbiter is not None else when,
                synthesis=decided.synthesis,
                ranking=decided.ranking,
                confidence=decided.confidence,
                reasoning=between_tags(said, "analysis"),
                refinement_areas=decided.areas,
                needs_iteration=decided.needs_iteration,
                duration=_seconds(arbiter.row) if arbiter is not None else 0.0,
            )

    def _reply(self, attached: Attached) -> str:
        """What an arbiter answered."""
        row = attached.row
        source = self._sources[row.database]
        if row.table == RESPONSES:
            found = source.select(
                'SELECT response FROM "responses" WHERE rowid = ?', (row.position,)
            )
            return as_text(found[0][0]) if found else ""
        tree = self._trees.get(row.database)
        if tree is None:
            tree = self._trees[row.database] = source.tree()
        chain = source.select(
            'SELECT parent_message_hash, tip_message_hash FROM "turns" WHERE rowid = ?',
            (row.position,),
        )
        return tree.reply(*chain[0]).text if chain else ""


@dataclass(frozen=True, slots=True)
class _Decision:
    id: str
    synthesis: str | None
    confidence: float | None
    ranking: tuple[str, ...]
    areas: tuple[str, ...]
    needs_iteration: bool | None


def _decided(said: str, row: Row) -> _Decision:
    """What an arbiter decided: as it said it, and as the tables have it where they do."""
    areas = _texts(row.get("refinement_areas")) or _lines(between_tags(said, "refinement_areas"))
    needs = between_tags(said, "needs_iteration")
    confidence = row.get("confidence")
    if not isinstance(confidence, (int, float)):
        confidence = _number(between_tags(said, "confidence"))
    return _Decision(
        as_text(row.get("response_id")),
        between_tags(said, "synthesis") or as_text(row.get("synthesis")) or None,
        confidence,
        _texts(row.get("ranking_json")),
        areas,
        None if needs is None else needs.lower() in ("true", "yes", "1"),
    )


class _Told:
    """What llm-consortium's own tables say of a run."""

    def __init__(self, source: Source | None, run: str | None) -> None:
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


def by_database(rows: Sequence[RowAt]) -> dict[int, list[str]]:
    """The ids of rows, by the database that they are in."""
    found: dict[int, list[str]] = defaultdict(list)
    for row in rows:
        found[row.database].append(row.id)
    return found


def _began(row: RowAt, otherwise: int) -> int:
    return row.began * 1_000 if row.began >= 0 else otherwise


def _seconds(row: RowAt) -> float:
    return max(0, row.ended - row.began) / 1e6 if row.began >= 0 else 0.0


def _texts(value: object) -> tuple[str, ...]:
    """A JSON list of texts, as the tables have them; lines in one text are several."""
    read = read_json(as_text(value)) if value is not None else None
    items = as_list(read) if is_read(read) else None
    return tuple(line for item in items or [] for line in _lines(as_text(item)))


def _lines(text: str | None) -> tuple[str, ...]:
    return tuple(line.strip() for line in (text or "").splitlines() if line.strip())


def _number(text: str | None) -> float | None:
    """A confidence: of 0 to 1, or in per cent."""
    with suppress(ValueError):
        number = float((text or "").strip().rstrip("%"))
        if 0 <= number <= 1:
            return number
        return number / 100 if 1 < number <= 100 else None
    return None


def _whole(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**31 else 0
