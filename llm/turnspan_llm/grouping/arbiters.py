"""Reads the arbiters' prompts: which question, which answers, which iterations before."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from turnspan_llm.grouping.prompts import (
    ANSWERS,
    ANSWERS_END,
    NO_HISTORY,
    SHAPES,
    AnswerShape,
    IterationText,
    between_tags,
    guessed_question,
    history,
    last_number,
    one_after_the_other,
    question_starts,
    told_iteration,
)
from turnspan_llm.grouping.rows import SLACK, LogRow, LogRows, ToldAnswer
from turnspan_llm.grouping.texts import KnownText, digest, joined, known
from turnspan_llm.logs.responses import OpenedLog

_CROWD: Final = 1_000
"""So many rows at most are held to be what stands in one place."""
_EARLIER: Final = 1_000
_BRANCHES: Final = 64
"""So many readings of one prompt are tried where answers contain the template's own words."""


@dataclass(slots=True, eq=False)
class AnswerBlock:
    """An answer in an arbiter's prompt."""

    model: str
    failed: bool
    text: KnownText
    at: int
    rows: tuple[LogRow, ...]
    """Those whose answer stands there, of whichever model; none where there are too many."""


@dataclass(slots=True, eq=False)
class ArbiterRow:
    """An arbiter's row and what its prompt shows."""

    row: LogRow
    question: bytes | None = None
    outputs: list[LogRow] = field(default_factory=list[LogRow])
    """The outputs in whose time it is, with its question and arbiter."""
    finals: list[LogRow] = field(default_factory=list[LogRow])
    """Those of them whose last iteration it may be."""
    blocks: list[AnswerBlock] | None = None
    """``None`` where the answers could not be read apart."""
    iteration_text: IterationText | None = None
    before: list[tuple[ArbiterRow, int]] = field(default_factory=list["tuple[ArbiterRow, int]"])
    """The arbiters whose iterations its history tells, with their numbers."""
    number: int = 0
    """Of the last iteration in its history."""
    sequential: bool = False
    """Whether its members were asked one after the other."""


class _Open:
    """The outputs whose interval contains a moment, by their question."""

    def __init__(self, outputs: Iterable[LogRow]) -> None:
        self._coming = sorted(outputs, key=lambda row: row.order, reverse=True)
        self._ends: list[tuple[int, int, LogRow]] = []
        self.by_length: dict[int, dict[bytes, list[LogRow]]] = {}

    def move(self, moment: int) -> None:
        """Go on to a later moment."""
        while self._coming and self._coming[-1].began <= moment + SLACK:
            row = self._coming.pop()
            if row.question is None or row.began < 0:
                continue
            heapq.heappush(self._ends, (row.ended, id(row), row))
            self.by_length.setdefault(row.question.length, {}).setdefault(
                row.question.digest, []
            ).append(row)
        while self._ends and self._ends[0][0] < moment - SLACK:
            row = heapq.heappop(self._ends)[2]
            assert row.question is not None
            same = self.by_length[row.question.length]
            same[row.question.digest].remove(row)
            if not same[row.question.digest]:
                del same[row.question.digest]
            if not same:
                del self.by_length[row.question.length]


def read_arbiters(source: OpenedLog, rows: LogRows, window: int) -> list[ArbiterRow]:
    """Read each arbiter's prompt, in the order of their time."""
    open_ = _Open(rows.outputs)
    found: list[ArbiterRow] = []
    recent: dict[bytes, list[ArbiterRow]] = {}
    for row in rows.arbiters:
        arbiter = ArbiterRow(row)
        found.append(arbiter)
        logged = source.response(row.table, row.position)
        if logged is None or row.began < 0:
            continue
        open_.move(row.began)
        reading = _Reading(arbiter, logged.prompt, rows, window)
        reading.question(open_)
        end = reading.answers()
        synthesis = between_tags(logged.response, "synthesis")
        told = None if synthesis is None else known(synthesis)
        if arbiter.iteration_text is not None and end is not None:
            reading.history(end, told, recent.get(arbiter.question or b"", []))
        arbiter.sequential = one_after_the_other(logged.prompt)
        arbiter.finals = [out for out in arbiter.finals if _may_end(arbiter, told, out)]
        if told is not None and not arbiter.finals:
            arbiter.finals = [
                out for out in arbiter.outputs if out.json is None and out.answer == told
            ]
        if arbiter.question is not None and arbiter.iteration_text is not None:
            recent.setdefault(arbiter.question, []).append(arbiter)
    return found


def _may_end(arbiter: ArbiterRow, synthesis: KnownText | None, output: LogRow) -> bool:
    """Whether an arbiter that saw an output's last answers may have written it."""
    count = output.json.iterations if output.json is not None else None
    if count is not None and arbiter.iteration_text is not None and arbiter.number < count - 1:
        return False
    return synthesis is None or synthesis == output.answer


class _Reading:
    """One prompt, while it is read."""

    def __init__(self, arbiter: ArbiterRow, prompt: str, rows: LogRows, window: int) -> None:
        self._arbiter = arbiter
        self._prompt = prompt
        self._rows = rows
        self._since = arbiter.row.began - window
        self._starts: list[int] = []

    def question(self, open_: _Open) -> None:
        """Find the outputs whose question this is, and where the answers begin."""
        arbiter, prompt = self._arbiter, self._prompt
        longest = -1
        for start in question_starts(prompt):
            for length, by_digest in open_.by_length.items():
                # One that is the beginning of another: the longer one was asked.
                if length < longest or not prompt.startswith(ANSWERS, start + length):
                    continue
                asked = digest(prompt[start : start + length])
                outputs = [row for row in by_digest.get(asked, ()) if self._of(row)]
                if outputs:
                    longest = length
                    arbiter.question, arbiter.outputs = asked, outputs
                    self._starts = [start + length + len(ANSWERS)]
        if arbiter.outputs:
            self._since = min(row.began for row in arbiter.outputs) - SLACK
            return
        guess = guessed_question(prompt)
        if guess is not None:
            arbiter.question = guess[0].digest
            self._starts = [guess[1]]

    def _of(self, output: LogRow) -> bool:
        row = self._arbiter.row
        named = output.json.arbiter if output.json is not None else None
        # A name that no row has is an alias: the log has the model's own name.
        return row.within(output) and (
            named is None or named == row.model or named not in self._rows.models
        )

    def answers(self) -> int | None:
        """Find the members' answers; where they end."""
        arbiter = self._arbiter
        readings: list[tuple[int, list[AnswerBlock]]] = []
        for output in arbiter.outputs:
            if output.json is None:
                continue
            for start in self._starts:
                told = self._as_told(start, output.json.answers)
                if told is not None:
                    arbiter.finals.append(output)
                    readings.append(told)
                    break
        if not readings:
            for start in self._starts:
                readings += self._by_rows(start)
        reading = self._likeliest(readings)
        if reading is None:
            return None
        end, arbiter.blocks = reading
        arbiter.iteration_text = IterationText(None, joined(self._lines(arbiter.blocks)), None)
        return end

    def _likeliest(
        self, readings: list[tuple[int, list[AnswerBlock]]]
    ) -> tuple[int, list[AnswerBlock]] | None:
        """The one reading in which most answers are those of rows, if it is one.

        Several there are where an answer contains the template's own words: those that it quotes
        are nobody's answers.
        """
        strangers = {
            (end, tuple((block.at, block.text) for block in blocks)): (
                sum(not self._somebodys(block) for block in blocks),
                blocks,
            )
            for end, blocks in readings
        }
        least = min((count for count, _ in strangers.values()), default=0)
        best = [(end, blocks) for (end, _), (count, blocks) in strangers.items() if count == least]
        return best[0] if len(best) == 1 else None

    def _somebodys(self, block: AnswerBlock) -> bool:
        known_model = block.model in self._rows.models
        return block.failed or any(
            row.model == block.model or not known_model for row in block.rows
        )

    def _as_told(
        self, start: int, answers: tuple[ToldAnswer, ...]
    ) -> tuple[int, list[AnswerBlock]] | None:
        """Whether the answers that an output tells of stand here, one after the other."""
        for shape in SHAPES:
            at, blocks = start, list[AnswerBlock]()
            for number, answer in enumerate(answers):
                at += len(shape.between) if number else 0
                head = shape.head.match(self._prompt, at)
                if head is None or head["model"] != answer.model:
                    break
                if not answer.text.at(self._prompt, head.end()):
                    break
                blocks.append(self._block(answer.model, answer.failed, head.end(), answer.text))
                at = head.end() + answer.text.length
                if not self._prompt.startswith(shape.foot, at):
                    break
                at += len(shape.foot)
            else:
                if self._prompt.startswith(ANSWERS_END, at):
                    return at, blocks
        return None

    def _by_rows(self, start: int) -> list[tuple[int, list[AnswerBlock]]]:
        """The readings of the answers by the rows that are known."""
        for shape in SHAPES:
            if shape.head.match(self._prompt, start) is not None:
                return self._from(shape, start)
        return []

    def _from(self, shape: AnswerShape, start: int) -> list[tuple[int, list[AnswerBlock]]]:
        found: list[tuple[int, list[AnswerBlock]]] = []
        open_: list[tuple[int, tuple[AnswerBlock, ...]]] = [(start, ())]
        steps = 0
        while open_ and steps < 10_000 and len(open_) < _BRANCHES:
            steps += 1
            at, blocks = open_.pop()
            head = shape.head.match(self._prompt, at)
            if head is None:
                continue
            failed = head.groupdict().get("confidence") == "N/A"
            for text in self._texts(shape, head.end()):
                block = self._block(head["model"], failed, head.end(), text)
                end = head.end() + text.length + len(shape.foot)
                if self._prompt.startswith(ANSWERS_END, end):
                    found.append((end, [*blocks, block]))
                else:
                    open_.append((end + len(shape.between), (*blocks, block)))
        return found if not open_ else []

    def _texts(self, shape: AnswerShape, at: int) -> list[KnownText]:
        """What may be the answer that begins here: those of rows, else up to the next one."""
        texts = {
            row.answer
            for row in self._rows_at(at)
            if self._goes_on(shape, at + row.answer.length) and row.answer.at(self._prompt, at)
        }
        if texts:
            return sorted(texts, reverse=True)
        end = self._prompt.find(shape.foot, at)
        while end >= 0:
            if self._goes_on(shape, end):
                return [known(self._prompt[at:end])]
            end = self._prompt.find(shape.foot, end + 1)
        return []

    def _goes_on(self, shape: AnswerShape, end: int) -> bool:
        """Whether an answer may end here: the template's words follow."""
        if not self._prompt.startswith(shape.foot, end):
            return False
        end += len(shape.foot)
        if self._prompt.startswith(ANSWERS_END, end):
            return True
        after = end + len(shape.between)
        return (
            self._prompt.startswith(shape.between, end)
            and shape.head.match(self._prompt, after) is not None
        )

    def _rows_at(self, at: int) -> Iterator[LogRow]:
        until = self._arbiter.row.since + SLACK
        found = self._rows.index.at(self._prompt, at, self._since, until)
        yield from islice((row for row in found if row.until <= until), _CROWD)

    def _block(self, model: str, failed: bool, at: int, text: KnownText) -> AnswerBlock:
        rows = () if failed else tuple(row for row in self._rows_at(at) if row.answer == text)
        return AnswerBlock(model, failed, text, at, rows if len(rows) < _CROWD else ())

    def _lines(self, blocks: list[AnswerBlock]) -> Iterator[str]:
        """The answers as the next iteration's history tells them."""
        for number, block in enumerate(blocks):
            end = block.at + block.text.length
            said = "Error" if block.failed else self._prompt[block.at : end]
            yield "\n" if number else ""
            yield f"<model_response>{block.model}: {said}</model_response>"

    def history(self, end: int, synthesis: KnownText | None, earlier: list[ArbiterRow]) -> None:
        """Find the arbiters whose iterations this one's history tells."""
        arbiter = self._arbiter
        assert arbiter.iteration_text is not None
        found = history(self._prompt, end)
        if found is None:
            arbiter.iteration_text = None
            return
        start, stop = found
        before = None
        if self._prompt[start:stop] != NO_HISTORY:
            before = known(self._prompt[start:stop])
            arbiter.number = last_number(self._prompt, start, stop)
            for other in islice(reversed(earlier), _EARLIER):
                if other.row.began < self._since:
                    break
                if other.iteration_text is None or other.row.until > arbiter.row.since + SLACK:
                    continue
                number = told_iteration(self._prompt, start, stop, other.iteration_text)
                if number is not None:
                    arbiter.before.append((other, number))
        arbiter.iteration_text = IterationText(before, arbiter.iteration_text.lines, synthesis)
