"""Which arbiters belong to which output: the final one by what it says, the others by histories."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from turnspan_llm.grouping.arbiters import AnswerBlock, ArbiterRow
from turnspan_llm.grouping.matches import settle
from turnspan_llm.grouping.rows import LogRow
from turnspan_llm.grouping.texts import KnownText

Allowed = Callable[[LogRow, "LogRow | None"], bool]
"""Whether a reviewer lets a row be in an output's run; of no output: in a run without one."""


@dataclass(slots=True)
class Chain:
    """The arbiters of an output's run, by iteration."""

    output: LogRow
    arbiters: dict[int, ArbiterRow]
    count: int
    """Iterations, as far as it is known."""
    final: ArbiterRow | None
    """``None`` where it was not logged, or where it cannot be said which one it is."""
    stand_in: ArbiterRow | None = None
    """In its place: what the output tells of the last iteration's answers."""


@dataclass(slots=True)
class Chains:
    """All chains, and what could not be put into one."""

    by_output: dict[LogRow, Chain] = field(default_factory=dict["LogRow", Chain])
    unpaired: dict[LogRow, list[ArbiterRow]] = field(
        default_factory=dict["LogRow", "list[ArbiterRow]"]
    )
    """Outputs without a final arbiter, with those that it may be."""
    unclear: dict[ArbiterRow, list[ArbiterRow]] = field(
        default_factory=dict["ArbiterRow", "list[ArbiterRow]"]
    )
    """Arbiters that are in a chain, with those of which one is before it."""
    of: dict[ArbiterRow, LogRow] = field(default_factory=dict["ArbiterRow", LogRow])
    """Their outputs."""


def chains(outputs: Iterable[LogRow], arbiters: list[ArbiterRow], allowed: Allowed) -> Chains:
    """Find the chains."""
    wanted: dict[LogRow, list[ArbiterRow]] = {output: [] for output in outputs}
    for arbiter in arbiters:
        for output in arbiter.finals:
            if output in wanted and allowed(arbiter.row, output):
                wanted[output].append(arbiter)
    finals = settle(wanted)
    found = Chains()
    for output in wanted:
        if output in finals.taken:
            (final,) = finals.taken[output]
            found.by_output[output] = Chain(output, {}, 0, final)
        else:
            found.unpaired[output] = finals.open.get(output, [])
            count = output.json.iterations if output.json is not None else None
            found.by_output[output] = Chain(output, {}, count or 1, None)
    _go_back(found, arbiters, allowed)
    return found


def stand_in(found: Chains, members: Iterable[LogRow]) -> None:
    """Let outputs without a final arbiter say themselves which answers it saw."""
    lonely = [chain for chain in found.by_output.values() if chain.final is None]
    wanted = {
        answer.text
        for chain in lonely
        if chain.output.json is not None
        for answer in chain.output.json.answers
    }
    by_text: dict[KnownText, list[LogRow]] = {}
    for row in members if wanted else ():
        if row.answer in wanted:
            by_text.setdefault(row.answer, []).append(row)
    for chain in lonely:
        output = chain.output
        if output.json is None or output.question is None:
            continue
        blocks = [
            AnswerBlock(
                answer.model, answer.failed, answer.text, 0, tuple(by_text.get(answer.text, ()))
            )
            for answer in output.json.answers
        ]
        chain.stand_in = ArbiterRow(output, output.question.digest, [output], blocks=blocks)


def _go_back(found: Chains, arbiters: list[ArbiterRow], allowed: Allowed) -> None:
    ends = {chain.final for chain in found.by_output.values() if chain.final is not None}
    ends.update(arbiter for several in found.unpaired.values() for arbiter in several)
    wanted: dict[ArbiterRow, list[ArbiterRow]] = {}
    for arbiter in arbiters:
        before = [
            (other, number)
            for other, number in arbiter.before
            if other not in ends and _may_share(arbiter, other, allowed)
        ]
        last = max((number for _, number in before), default=0)
        wanted[arbiter] = [other for other, number in before if number == last]
    settled = settle(wanted)
    for chain in found.by_output.values():
        if chain.final is None:
            continue
        _fill(chain, chain.final, settled.taken)
        first = chain.arbiters[min(chain.arbiters)]
        if first in settled.open and min(chain.arbiters) > 1:
            found.unclear[first] = settled.open[first]
            found.of[first] = chain.output


def _may_share(one: ArbiterRow, other: ArbiterRow, allowed: Allowed) -> bool:
    """Whether two arbiters can be of the same run."""
    if not one.outputs and not other.outputs:
        return True
    common = [output for output in one.outputs if output in other.outputs]
    return any(allowed(one.row, output) and allowed(other.row, output) for output in common)


def _fill(chain: Chain, final: ArbiterRow, before: dict[ArbiterRow, list[ArbiterRow]]) -> None:
    """Put the arbiters before the final one into their iterations."""
    told = chain.output.json
    count = told.iterations if told is not None else None
    chain.count = count if count is not None else final.number + 1
    # A model that is used again in the same process keeps the history of its earlier runs.
    earlier_runs = final.number + 1 - chain.count
    chain.arbiters[chain.count] = final
    arbiter = final
    numbers = {id(other): number for other, number in arbiter.before}
    while arbiter in before:
        (other,) = before[arbiter]
        iteration = numbers[id(other)] - earlier_runs
        if iteration < 1 or iteration in chain.arbiters or chain.output not in other.outputs:
            return
        chain.arbiters[iteration] = other
        arbiter = other
        numbers = {id(each): number for each, number in arbiter.before}
