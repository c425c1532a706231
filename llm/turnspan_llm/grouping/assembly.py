"""Makes runs and lists for review of what was matched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from turnspan_llm.grouping.arbiters import ArbiterRow
from turnspan_llm.grouping.chains import Chain, Chains
from turnspan_llm.grouping.members import Members
from turnspan_llm.grouping.model import (
    ARBITER,
    FINAL_ARBITER,
    MEMBER,
    AttachedRow,
    Grouping,
    IterationFound,
    MatchKey,
    ReviewRow,
    RowAt,
    RowCandidate,
    RowPlace,
    RunFound,
    Why,
    run_id,
)
from turnspan_llm.grouping.rows import Kind, LogRow, LogRows
from turnspan_llm.grouping.tables import Paired, TableRun


@dataclass(slots=True)
class AssembledRun:
    """All that was matched."""

    rows: list[LogRows]
    """By database."""
    pairs: Paired
    by_id: dict[str, LogRow]
    chains: Chains
    members: Members


@dataclass(slots=True)
class _Draft:
    """A run that is being put together."""

    output: LogRow
    name: str
    parts: list[tuple[LogRow, int, int, tuple[MatchKey, ...]]] = field(
        default_factory=list["tuple[LogRow, int, int, tuple[MatchKey, ...]]"]
    )
    """Rows with role, iteration and keys."""
    missing: dict[int, int] = field(default_factory=dict[int, int])
    nested: list[LogRow] = field(default_factory=list[LogRow])
    """Outputs of runs that were members of this one."""
    source_id: str | None = None
    keys: tuple[MatchKey, ...] = ()
    count: int = 0


def assembled(found: AssembledRun) -> Grouping:
    """The result of all that was matched."""
    drafts = [_of_tables(found, run, row) for run, row in found.pairs.outputs.items()]
    drafts += [_of_chain(found, chain) for chain in found.chains.by_output.values()]
    drafts.sort(key=lambda draft: draft.output.order)
    review: list[ReviewRow] = []
    runs = [_run(draft) for draft in drafts]
    runs = _with_parents(drafts, runs)
    runs = [_keeping_assigned(run, draft, review) for run, draft in zip(runs, drafts, strict=True)]
    places = {id_: place for run in runs for id_, place in run.places().items()}
    _add_assigned(found.rows, places)
    review += _reviewed(found, places)
    review.sort(key=lambda each: (each.row.began, each.row.id, each.why.value))
    seen = sum(rows.seen for rows in found.rows)
    return Grouping(tuple(runs), tuple(review), places, seen)


def at(row: LogRow) -> RowAt:
    """A row as results name it."""
    return RowAt(row.id, row.database, row.table, row.position, row.model, row.began, row.ended)


def _of_tables(found: AssembledRun, run: TableRun, output: LogRow) -> _Draft:
    draft = _Draft(
        output, output.model, source_id=run.id, keys=(MatchKey.TABLES, MatchKey.INTERVAL)
    )
    last = max((number for _, arbiter, number in run.members if arbiter), default=0)
    for id_, arbiter, number in run.members:
        row = found.by_id.get(id_)
        if row is None:
            draft.missing[number] = draft.missing.get(number, 0) + 1
        elif row.kind is Kind.OUTPUT:
            draft.nested.append(row)
        else:
            role = MEMBER if not arbiter else FINAL_ARBITER if number == last else ARBITER
            draft.parts.append((row, role, number, (MatchKey.TABLES,)))
    draft.count = max((number for _, _, number in run.members), default=0)
    return draft


def _of_chain(found: AssembledRun, chain: Chain) -> _Draft:
    output = chain.output
    draft = _Draft(output, output.model, count=chain.count)
    sure = (MatchKey.INTERVAL, MatchKey.QUESTION, MatchKey.MODELS)
    told = (MatchKey.ANSWERS,) if output.json is not None else ()
    final = chain.final.iteration_text if chain.final is not None else None
    spoken = (MatchKey.SYNTHESIS,) if final is not None and final.synthesis is not None else ()
    draft.keys = (*sure, *spoken, *told) if chain.final is not None else (MatchKey.MODELS,)
    for number in range(1, chain.count + 1):
        arbiter = chain.arbiters.get(number)
        if arbiter is not None:
            last = arbiter is chain.final
            keys = (*sure, *spoken, *told) if last else (*sure, MatchKey.HISTORY)
            draft.parts.append((arbiter.row, FINAL_ARBITER if last else ARBITER, number, keys))
            text = (MatchKey.TEXT, *(told if last else ()))
        else:
            draft.missing[number] = 1
            text = told
            arbiter = chain.stand_in if number == chain.count else None
        if arbiter is not None:
            for row in found.members.of.get(arbiter, []):
                if row.kind is Kind.OUTPUT:
                    draft.nested.append(row)
                else:
                    draft.parts.append((row, MEMBER, number, (*sure, *text)))
            lost = found.members.missing.get(arbiter, 0) if arbiter.blocks is not None else 1
            if lost:
                draft.missing[number] = draft.missing.get(number, 0) + lost
    return draft


def _run(draft: _Draft) -> RunFound:
    by_number: dict[int, list[tuple[LogRow, int, int, tuple[MatchKey, ...]]]] = {}
    for part in draft.parts:
        by_number.setdefault(part[2], []).append(part)
    iterations: list[IterationFound] = []
    for number in sorted(by_number.keys() | draft.missing.keys()):
        parts = by_number.get(number, [])
        parts.sort(key=lambda part: part[0].order)
        made = [AttachedRow(at(row), role, where, keys) for row, role, where, keys in parts]
        iterations.append(
            IterationFound(
                number,
                next((each for each in made if each.role != MEMBER), None),
                tuple(each for each in made if each.role == MEMBER),
                draft.missing.get(number, 0),
            )
        )
    return RunFound(
        run_id(draft.output.id, draft.output.began),
        draft.name,
        AttachedRow(at(draft.output), MEMBER, 0, draft.keys),
        tuple(iterations),
        source_id=draft.source_id,
        complete=not draft.missing,
    )


def _with_parents(drafts: list[_Draft], runs: list[RunFound]) -> list[RunFound]:
    parents = {
        row.id: run.consortium_id
        for draft, run in zip(drafts, runs, strict=True)
        for row in draft.nested
    }
    return [replace(run, parent=parents.get(run.output.row.id)) for run in runs]


def _keeping_assigned(run: RunFound, draft: _Draft, review: list[ReviewRow]) -> RunFound:
    """The run under the id that its rows already have."""
    rows = [draft.output, *(part[0] for part in draft.parts)]
    given = sorted({row.assigned for row in rows if row.assigned is not None})
    if len(given) > 1:
        reason = f"rows of its run were assigned to {len(given)} runs before: {', '.join(given)}"
        review.append(ReviewRow(at(draft.output), Why.CONFLICT, reason))
    if not given:
        return run
    kept = draft.output.assigned if draft.output.assigned is not None else given[0]
    return replace(run, consortium_id=kept)


def _add_assigned(databases: Iterable[LogRows], places: dict[str, RowPlace]) -> None:
    """What a row's own columns say holds, whatever was found."""
    for rows in databases:
        for row in rows.by_id.values():
            if row.assigned is None:
                continue
            found = places.get(row.id)
            role = row.assigned_role
            if role is None:
                role = found.role if found is not None else MEMBER
            iteration = found.iteration if found is not None else 0
            places[row.id] = RowPlace(row.assigned, role, iteration)


def _reviewed(found: AssembledRun, places: dict[str, RowPlace]) -> Iterator[ReviewRow]:
    open_ = _ambiguous(found)
    for row, candidates in open_.items():
        if row.id not in places:
            runs = len({each.output for each in candidates})
            reason = (
                f"it may belong to {runs} runs with the same question, texts and moment"
                if runs > 1
                else "several rows may have its place: same question, text and moment"
            )
            yield ReviewRow(at(row), Why.AMBIGUOUS, reason, tuple(candidates))
    for output, arbiters in found.chains.unpaired.items():
        yield _unpaired(output, arbiters)
    for run, rows in found.pairs.open.items():
        for row in rows:
            yield ReviewRow(
                at(row), Why.UNPAIRED, f"it may be the output of run {run.id} and of others"
            )
    for row in _left(found, places):
        if row not in open_:
            yield ReviewRow(at(row), Why.ORPHAN, _lonely(row))


def _ambiguous(found: AssembledRun) -> dict[LogRow, list[RowCandidate]]:
    open_: dict[LogRow, list[RowCandidate]] = {}
    for place, rows in found.members.open:
        for row in rows:
            several = open_.setdefault(row, [])
            if place.chain is not None:
                candidate = RowCandidate(place.chain.output.id, MEMBER, place.number)
                several += [candidate] if candidate not in several else []
    for arbiter, before in found.chains.unclear.items():
        chain = found.chains.by_output[found.chains.of[arbiter]]
        for other in before:
            number = min(chain.arbiters) - 1
            candidate = RowCandidate(chain.output.id, ARBITER, number)
            open_.setdefault(other.row, []).append(candidate)
    for output, arbiters in found.chains.unpaired.items():
        for arbiter in arbiters:
            count = output.json.iterations if output.json is not None else None
            candidate = RowCandidate(output.id, FINAL_ARBITER, count or 0)
            open_.setdefault(arbiter.row, []).append(candidate)
    return open_


def _unpaired(output: LogRow, arbiters: list[ArbiterRow]) -> ReviewRow:
    if arbiters:
        ids = ", ".join(arbiter.row.id for arbiter in arbiters)
        reason = f"several arbiters may have written it: {ids}"
    elif output.began < 0:
        reason = "it has no time that can be read"
    else:
        reason = "no arbiter in its time was asked its question and answered with its text"
    return ReviewRow(at(output), Why.UNPAIRED, reason)


def _left(found: AssembledRun, places: dict[str, RowPlace]) -> Iterator[LogRow]:
    for rows in found.rows:
        for row in (*rows.arbiters, *rows.members):
            if row.id not in places:
                yield row


def _lonely(row: LogRow) -> str:
    if row.began < 0:
        return "it has no time that can be read"
    what = "an arbiter" if row.kind is Kind.ARBITER else "a member"
    return f"{what} of a run that logged no output: it failed, or `llm consortium run` made it"
