"""Which members belong to which arbiter: those whose answers stand in its prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from turnspan_llm.grouping.arbiters import AnswerBlock, ArbiterRow
from turnspan_llm.grouping.chains import Allowed, Chain
from turnspan_llm.grouping.matches import Settled, settle, settle_apart
from turnspan_llm.grouping.rows import SLACK, LogRow
from turnspan_llm.grouping.texts import KnownText

_INSTANT: Final = 200
"""Microseconds that two clocks may differ by."""


class Seat(NamedTuple):
    """The places of one answer in one arbiter's prompt; equal answers of one model are alike."""

    arbiter: ArbiterRow
    model: str
    text: KnownText


@dataclass(slots=True, eq=False)
class MemberIteration:
    """An arbiter in its run, or outside of any."""

    arbiter: ArbiterRow
    chain: Chain | None
    number: int
    since: int
    """When its members began at the earliest."""
    before: ArbiterRow | None
    until: int
    """When the last of them was logged at the latest."""


@dataclass(slots=True)
class Members:
    """What was found."""

    of: dict[ArbiterRow, list[LogRow]] = field(default_factory=dict["ArbiterRow", "list[LogRow]"])
    open: list[tuple[MemberIteration, list[LogRow]]] = field(
        default_factory=list["tuple[MemberIteration, list[LogRow]]"]
    )
    """Rows that may be of several iterations, with each of these."""
    missing: dict[ArbiterRow, int] = field(default_factory=dict["ArbiterRow", int])
    """How many answers of an arbiter's prompt have no row, or none that is certain."""


def iterations(
    chains: Iterable[Chain], arbiters: list[ArbiterRow], window: int
) -> list[MemberIteration]:
    """All arbiters, in their runs and outside."""
    found: list[MemberIteration] = []
    placed: set[ArbiterRow] = set()
    for chain in chains:
        for number, arbiter in sorted(chain.arbiters.items()):
            before = chain.arbiters.get(number - 1)
            since = chain.output.began if before is None else before.row.until
            found.append(MemberIteration(arbiter, chain, number, since, before, arbiter.row.since))
            placed.add(arbiter)
        if chain.stand_in is not None:
            began, until = chain.output.began, chain.output.until
            found.append(MemberIteration(chain.stand_in, chain, chain.count, began, None, until))
    for arbiter in arbiters:
        if arbiter not in placed:
            since = arbiter.row.began - window
            until = arbiter.row.since
            found.append(MemberIteration(arbiter, None, arbiter.number + 1, since, None, until))
    return found


def members(places: list[MemberIteration], models: set[str], allowed: Allowed) -> Members:
    """Find the members of all iterations at once: a row is of one only."""
    by_arbiter = {place.arbiter: place for place in places}
    wanted: dict[Seat, list[LogRow]] = {}
    needs: dict[Seat, int] = {}
    for place in places:
        blocks = [block for block in place.arbiter.blocks or [] if not block.failed]
        fitting = {id(block): _fitting(place, block, models, allowed) for block in blocks}
        prompts = _prompts(fitting.values())
        aliased = {block.text for block in blocks if block.model not in models}
        for block in blocks:
            # An alias and a model's own name may mean the same: their equal answers are alike.
            model = "" if block.text in aliased else block.model
            seat = Seat(place.arbiter, model, block.text)
            rows = [row for row in fitting[id(block)] if not prompts or row.prompt in prompts]
            wanted[seat] = [*wanted.get(seat, []), *rows]
            needs[seat] = needs.get(seat, 0) + 1
    _leave_to_earlier(wanted, by_arbiter)
    settled = settle(wanted, needs)
    settle_apart(settled, needs, _apart)
    return _found(settled, needs, by_arbiter)


def _fitting(
    place: MemberIteration, block: AnswerBlock, models: set[str], allowed: Allowed
) -> list[LogRow]:
    output = place.chain.output if place.chain is not None else None
    arbiter = place.arbiter
    first = (
        place.number == 1
        if place.chain
        else arbiter.iteration_text is None or arbiter.iteration_text.before is None
    )
    synthesis = (
        place.before.iteration_text.synthesis
        if place.before and place.before.iteration_text
        else None
    )
    return [
        row
        for row in block.rows
        # A name that no row has is an alias: the log has the model's own name.
        if (row.model == block.model or block.model not in models)
        and place.since - SLACK <= row.since
        and row.until <= place.until + SLACK
        and (output is None or row.within(output))
        and row is not output
        and _asked(row, first, arbiter.question, synthesis)
        and allowed(row, output)
    ]


def _asked(row: LogRow, first: bool, question: bytes | None, synthesis: KnownText | None) -> bool:
    """Whether a member was asked what the arbiter was asked about."""
    asked = row.member
    if asked is None or asked.first != first:
        return False
    return any(
        each.digest == question
        and (first or None in (earlier, synthesis) or earlier == (synthesis and synthesis.digest))
        for each, earlier in asked.questions
    )


def _apart(seat: Seat, row: LogRow, other_seat: Seat, other: LogRow) -> bool:
    """Whether two rows cannot be members of one iteration: one was still busy with the first when
    the second began, and its members were asked one after the other."""
    if seat.arbiter is not other_seat.arbiter or not seat.arbiter.sequential:
        return False
    first, second = sorted((row, other), key=lambda each: (each.since, each.until))
    return second.since < first.until - _INSTANT


def _prompts(fitting: Iterable[list[LogRow]]) -> set[bytes]:
    """The prompts that most of an iteration's answers answer: all its members had the same one."""
    count = Counter(prompt for rows in fitting for prompt in {row.prompt for row in rows})
    most = max(count.values(), default=0)
    return {prompt for prompt, times in count.items() if times == most}


def _leave_to_earlier(
    wanted: dict[Seat, list[LogRow]], places: dict[ArbiterRow, MemberIteration]
) -> None:
    """An arbiter without an output does not compete for what a run had that was over before."""
    over: dict[LogRow, int] = {}
    for seat, rows in wanted.items():
        chain = places[seat.arbiter].chain
        if chain is not None:
            for row in rows:
                over[row] = min(over.get(row, chain.output.ended), chain.output.ended)
    for seat, rows in wanted.items():
        if places[seat.arbiter].chain is None:
            began = seat.arbiter.row.began
            wanted[seat] = [row for row in rows if row not in over or over[row] >= began - SLACK]


def _found(
    settled: Settled[Seat, LogRow],
    needs: dict[Seat, int],
    places: dict[ArbiterRow, MemberIteration],
) -> Members:
    found = Members()
    for seat, need in needs.items():
        rows = settled.taken.get(seat, [])
        found.of.setdefault(seat.arbiter, []).extend(rows)
        open_ = settled.open.get(seat, [])
        if open_:
            found.open.append((places[seat.arbiter], open_))
        if len(rows) < need:
            lost = found.missing.get(seat.arbiter, 0) + need - len(rows)
            found.missing[seat.arbiter] = lost
    for rows in found.of.values():
        rows.sort(key=lambda row: row.order)
    return found
