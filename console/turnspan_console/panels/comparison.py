"""Answers side by side on the screen, with the words that differ marked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from rich.cells import cell_len, chop_cells
from rich.text import Text

from turnspan_console import styles, values
from turnspan_console.control_characters import visible
from turnspan_console.output import Output
from turnspan_console.panels.layout import GAP, beside
from turnspan_records.loop.comparison import Answer, Comparison

_NARROWEST = 24
_MAX_WORDS = 4_000
"""Longer texts are not looked at word by word."""
_TEXTS = ("asked", "system_prompt", "text")
_FACTS = ("version", "models", "parameters", "tools", "agent", "status")
_NUMBERS = ("score", "calls", "input_tokens", "output_tokens", "cost_usd", "duration")
_TITLES = {"text": "answer", "system_prompt": "system prompt", "cost_usd": "cost"}

Word = tuple[str, str]
"""A word and its style."""


def print_comparison(comparison: Comparison, output: Output) -> None:
    """Write answers for a person: side by side where the terminal is wide enough, else one below
    the other."""
    answers = comparison.answers
    columns = _Columns(output, len(answers))
    columns.row("", [[(f"{one.kind} {one.id[:12]}", styles.TITLE)] for one in answers])
    for name in (*_FACTS, *_NUMBERS):
        shown = [_fact(one, name) for one in answers]
        if any(shown):
            differs = name in comparison.differing
            style = styles.WARN if differs else ""
            columns.row(name, [[(text or values.UNKNOWN, style)] for text in shown])
    why = comparison.why_no_pairs
    told = f"no pairs to train with: {why}" if why else "pairs to train with: yes, one prompt"
    if not why and not comparison.same_prompt:
        told = "pairs to train with: of some, since not all answer one prompt"
    output.line(Text(values.one_line(told), styles.WARN if why else styles.FAINT))
    for name in _TEXTS:
        texts = [visible(getattr(one, name)) for one in answers]
        if not any(texts):
            continue
        output.line()
        if name in comparison.differing:
            columns.row(name, [_marked(texts[0], text) for text in texts])
        else:
            columns.alone(f"{name} of all", texts[0])


def print_texts(asked: str, one: tuple[str, str], other: tuple[str, str], output: Output) -> None:
    """Write two answers to one question side by side; each is its title and its text."""
    columns = _Columns(output, 2)
    columns.alone("asked of all", visible(asked))
    output.line()
    columns.row("", [[(title, styles.TITLE)] for title, _ in (one, other)])
    first, second = visible(one[1]), visible(other[1])
    columns.row("text", [_marked(second, first), _marked(first, second)])


def _fact(answer: Answer, name: str) -> str:
    value: Any = getattr(answer, name)
    if name == "score":
        return "" if value is None else f"{value:.1f}"
    if name in ("version", "tools"):
        return values.one_line(str(value))[:12]
    if name == "models":
        return ", ".join(map(values.one_line, answer.models))
    if value is None or value == "":
        return ""
    return values.one_line(values.human(value, name))


def _marked(first: str, text: str) -> list[Word]:
    """The words of a text; those that the first one does not have there are marked."""
    before, after = first.split(), text.split()
    if text is first or max(len(before), len(after)) > _MAX_WORDS:
        return [(word, "") for word in after]
    made: list[Word] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, _, _, start, end in matcher.get_opcodes():
        style = "" if kind == "equal" else styles.WARN
        made += [(word, style) for word in after[start:end]]
    return made


class _Columns:
    """Columns of one width behind a label, or blocks one below the other."""

    def __init__(self, output: Output, count: int) -> None:
        self._output = output
        self._label = 15
        room = output.width - self._label
        self._width = (room - GAP * (count - 1)) // count
        self._beside = self._width >= _NARROWEST

    def row(self, name: str, cells: Sequence[Sequence[Word]]) -> None:
        """One row of cells, each wrapped to its width."""
        title = _TITLES.get(name, name.replace("_", " "))
        if not self._beside:
            for number, cell in enumerate(cells, 1):
                lines = list(_lines(cell, self._output.width - self._label))
                self._labelled(f"{number} {title}".rstrip(), lines or [Text()])
            return
        wrapped = [list(_lines(cell, self._width)) for cell in cells]
        self._labelled(title, beside(wrapped, self._width))

    def alone(self, name: str, text: str) -> None:
        """A text that is the same of all."""
        title = _TITLES.get(name.removesuffix(" of all"), name.removesuffix(" of all"))
        self._output.line(Text(f"{title.replace('_', ' ')}, the same of all", styles.FAINT))
        for line in _lines([(word, "") for word in text.split()], self._output.width - 2):
            self._output.line(Text("  ").append_text(line))

    def _labelled(self, label: str, lines: Iterable[Text]) -> None:
        for at, line in enumerate(lines):
            shown = Text(f"{label if at == 0 else '':{self._label}}", styles.FAINT)
            self._output.line(shown.append_text(line))


def _lines(words: Sequence[Word], width: int) -> Iterator[Text]:
    """Words wrapped to a width; those that are too long are cut."""
    line, used = Text(), 0
    for word, style in words:
        for piece in chop_cells(word, width):
            needed = cell_len(piece)
            if used and used + 1 + needed > width:
                yield line
                line, used = Text(), 0
            if used:
                line.append(" ")
                used += 1
            line.append(piece, style=style or None)
            used += needed
    if used:
        yield line
