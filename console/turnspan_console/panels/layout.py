"""How columns share a width: who is whole, who is cut, who goes below its row, who is left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

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
    out, ``whole`` is never cut, ``right`` is aligned right (and never cut). Different ``ids`` stay
    different where they are cut."""

    name: str
    cells: list[Text]
    right: bool = False
    long: bool = False
    kept: bool = False
    whole: bool = False
    ids: bool = False

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


def beside(columns: Sequence[Sequence[Text]], width: int) -> Iterator[Text]:
    """Lines of blocks side by side, each of this width."""
    for pieces in zip_longest(*columns, fillvalue=Text()):
        line = Text()
        for number, piece in enumerate(pieces):
            line.append(" " * GAP if number else "")
            line.append_text(piece)
            line.append(" " * (width - cell_len(piece.plain)))
        line.rstrip()
        yield line


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
    inline = [(one, widths[id(one)]) for one in columns if id(one) in widths]
    order = {id(one): at for at, one in enumerate(columns)}
    below.sort(key=lambda column: order[id(column)])
    told_apart = [_told_apart(one, width) for one, width in inline]
    return Fitted(told_apart, [width for _, width in inline], below, hidden)


def _told_apart(column: Column, width: int) -> Column:
    if not column.ids or column.content <= width:
        return column
    shown = distinct([cell.plain for cell in column.cells], width)
    pairs = zip(shown, column.cells, strict=True)
    return replace(column, cells=[Text(text, style=cell.style) for text, cell in pairs])


def _short_widths(short: Sequence[Column], width: int) -> list[int]:
    room = width - GAP * max(0, len(short) - 1)
    given = [one.width for one in short]
    if sum(given) > room:
        given = [one.narrow for one in short]
    while sum(given) > room:
        may_be_cut = [
            at
            for at, one in enumerate(short)
            if not (one.right or one.whole) and given[at] > NARROWEST_WORD
        ]
        if not may_be_cut:
            break
        given[max(may_be_cut, key=lambda at: given[at])] -= 1
    return given


def _broken(name: str, width: int) -> list[str]:
    lines: list[str] = []
    for word in name.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines or [""]


def distinct(ids: Sequence[str], width: int) -> list[str]:
    """The ids shortened to a width, so that different ones still differ: with an ellipsis in the
    middle, or on both sides of a part in which they do."""
    known = sorted(set(ids))
    for parts in _cuts(known, width):
        shown = {one: one if cell_len(one) <= width else _parted(one, *parts) for one in known}
        if len(set(shown.values())) == len(known):
            return [shown[one] for one in ids]
    return [cut(Text(one), width).plain for one in ids]


def _cuts(ids: Sequence[str], width: int) -> Iterator[tuple[int, int, int]]:
    """Ways to cut: cells of the beginning, where a middle part begins or -1, cells after that."""
    room = max(width - 1, 0)
    for tail in range(room // 2, room + 1):
        yield room - tail, -1, tail
    for head in range(room // 2, room):
        yield head + 1, -1, room - head - 1
    for start in range(max(map(len, ids), default=0)):
        yield 0, start, room - 1


def _parted(text: str, head: int, start: int, rest: int) -> str:
    if start >= 0:
        return f"…{_first(text[start:], rest)}…"
    return f"{_first(text, head)}…{_first(text[::-1], rest)[::-1]}"


def _first(text: str, width: int) -> str:
    """As many characters as fit a width."""
    used = 0
    for at, character in enumerate(text):
        used += cell_len(character)
        if used > width:
            return text[:at]
    return text


def cut(text: Text, width: int) -> Text:
    """The text, shortened to a width with an ellipsis."""
    if cell_len(text.plain) <= width:
        return text
    return Text(set_cell_size(text.plain, max(0, width - 1)).rstrip() + "…", style=text.style)
