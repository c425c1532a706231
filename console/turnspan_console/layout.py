"""How columns share a width: who is whole, who is cut, who goes below its row, who is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len, set_cell_size
from rich.text import Text

GAP = 2
NARROWEST_TEXT = 24
NARROWEST_VALUE = 10
NARROWEST_WORD = 12
"""A short text, such as a model's name, is not cut below this."""


@dataclass(slots=True)
class Column:
    """One column of a table. ``long`` text takes the width that is left, ``kept`` is never left
    out, ``whole`` is never cut, ``right`` is aligned right (and never cut)."""

    name: str
    cells: list[Text]
    right: bool = False
    long: bool = False
    kept: bool = False
    whole: bool = False

    @property
    def words(self) -> bool:
        """Whether it may be cut."""
        return not self.right and not self.whole

    @property
    def content(self) -> int:
        """The width of the widest cell."""
        return max((cell_len(cell.plain) for cell in self.cells), default=0)

    @property
    def width(self) -> int:
        """The width with the heading on one line."""
        return max(cell_len(self.name), self.content)

    @property
    def narrow(self) -> int:
        """The width with the heading broken at its blanks."""
        return max(self.content, *(cell_len(word) for word in self.name.split()), 1)


@dataclass(slots=True)
class Fitted:
    """Columns with their widths. ``below`` are printed under each row, ``hidden`` not at all."""

    columns: list[Column]
    widths: list[int]
    below: list[Column] = field(default_factory=list[Column])
    hidden: list[Column] = field(default_factory=list[Column])

    def headings(self) -> list[list[str]]:
        """The lines of the heading, the last one nearest to the cells."""
        pairs = zip(self.columns, self.widths, strict=True)
        broken = [_broken(one.name, width) for one, width in pairs]
        height = max((len(lines) for lines in broken), default=0)
        filled = [[""] * (height - len(lines)) + lines for lines in broken]
        return [list(line) for line in zip(*filled, strict=True)]

    def row(self, cells: Sequence[Text], margin: str) -> Text:
        """One line of cells, each cut to its width."""
        line = Text(margin)
        for at, (one, width, cell) in enumerate(zip(self.columns, self.widths, cells, strict=True)):
            text = cut(cell, width)
            blanks = " " * (width - cell_len(text.plain))
            line.append(blanks if one.right else "")
            line.append_text(text)
            line.append("" if one.right else blanks)
            line.append("" if at == len(self.columns) - 1 else " " * GAP)
        line.rstrip()
        return line


def natural(columns: Sequence[Column]) -> Fitted:
    """Every column as wide as it is."""
    return Fitted(list(columns), [one.width for one in columns])


def fit(columns: Sequence[Column], width: int, *, narrowest: int = NARROWEST_TEXT) -> Fitted:
    """Share out a width: break headings, cut words, leave out numbers from the right, and give
    long texts the rest; one that would get less than ``narrowest`` goes below its row."""
    short = [one for one in columns if not one.long]
    long = [one for one in columns if one.long]
    hidden: list[Column] = []
    given = _short_widths(short, width)
    while sum(given) + GAP * (len(short) - 1) > width:
        spare = [one for one in short if not one.kept]
        if not spare:
            break
        leaving = next((one for one in reversed(spare) if one.right), spare[-1])
        short.remove(leaving)
        hidden.insert(0, leaving)
        given = _short_widths(short, width)
    widths = {id(one): wide for one, wide in zip(short, given, strict=True)}
    left = width - sum(wide + GAP for wide in given)
    below: list[Column] = []
    for at, one in enumerate(sorted(long, key=lambda column: column.width)):
        share = left // (len(long) - at) - GAP * bool(short)
        if share < min(one.width, narrowest) and short:
            below.append(one)
            continue
        widths[id(one)] = min(one.width, share)
        left -= widths[id(one)] + GAP
    inline = [one for one in columns if id(one) in widths]
    order = {id(one): at for at, one in enumerate(columns)}
    below.sort(key=lambda column: order[id(column)])
    return Fitted(inline, [widths[id(one)] for one in inline], below, hidden)


def _short_widths(short: Sequence[Column], width: int) -> list[int]:
    room = width - GAP * max(0, len(short) - 1)
    given = [one.width for one in short]
    if sum(given) > room:
        given = [one.narrow for one in short]
    while sum(given) > room:
        widest = max(
            (at for at, one in enumerate(short) if one.words and given[at] > NARROWEST_WORD),
            key=lambda at: given[at],
            default=-1,
        )
        if widest < 0:
            break
        given[widest] -= 1
    return given


def _broken(name: str, width: int) -> list[str]:
    lines: list[str] = []
    for word in name.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


def cut(text: Text, width: int) -> Text:
    """The text, shortened to a width with an ellipsis."""
    if cell_len(text.plain) <= width:
        return text
    return Text(set_cell_size(text.plain, max(0, width - 1)).rstrip() + "…", style=text.style)
