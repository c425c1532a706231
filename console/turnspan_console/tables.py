"""Tables: fitted to a terminal's width, or aligned and uncut for a pipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from turnspan_clickhouse.stores import Result
from turnspan_console import styles, values
from turnspan_console.output import Output

GAP = 2
NARROWEST_TEXT = 18
"""A text column that would get less moves to a line of its own below its row."""

_NUMERIC = ("Int", "UInt", "Float", "Decimal")
_LONG = ("message", "detail", "error", "arguments", "comment", "text", "writer", "remedy")


@dataclass(slots=True)
class Column:
    """One column of a table to be laid out. ``long`` text takes the width that is left."""

    name: str
    cells: list[Text]
    right: bool = False
    long: bool = False

    @property
    def width(self) -> int:
        """The width of the widest cell, the heading included."""
        return max([cell_len(self.name), *(cell_len(cell.plain) for cell in self.cells)])


def columns(result: Result, output: Output, *, exact: bool = False) -> list[Column]:
    """A result as columns. ``exact`` prints values as they are, else as people read them."""
    made: list[Column] = []
    for at, (name, type_name) in enumerate(zip(result.names, result.types, strict=True)):
        cells = [row[at] for row in result.rows]
        numeric = _bare(type_name).startswith(_NUMERIC)
        if exact:
            texts = [values.one_line(values.raw(cell)) for cell in cells]
        else:
            texts = [_readable(cell, name, output) for cell in cells]
        made.append(
            Column(
                name=name if exact else heading(name),
                cells=[_styled(text, name) for text in texts],
                right=numeric,
                long=not numeric and (exact or _is_long(name)),
            )
        )
    return made


def heading(name: str) -> str:
    """A column's name as a heading: the unit is in the values."""
    for ending in ("_seconds", "_usd", "_bytes"):
        name = name.removesuffix(ending)
    return name.replace("_", " ")


def useful(made: list[Column]) -> list[Column]:
    """The columns that hold anything at all."""
    blank = ("", values.UNKNOWN)
    return [one for one in made if any(cell.plain not in blank for cell in one.cells)]


def print_table(made: Sequence[Column], output: Output, *, indent: int = 0) -> None:
    """Write a table: cut to the width on a terminal, whole on a pipe."""
    if not made:
        return
    margin = " " * indent
    if output.terminal:
        inline, below = _fit(made, output.width - indent)
    else:
        inline, below = [(one, one.width) for one in made], []
    titles = [Text(one.name, style=styles.HEADING) for one, _ in inline]
    output.line(_row(inline, titles, margin))
    for at in range(len(made[0].cells)):
        output.line(_row(inline, [one.cells[at] for one, _ in inline], margin))
        for one in below:
            _print_below(one.cells[at], output, indent + 4)


def _fit(made: Sequence[Column], width: int) -> tuple[list[tuple[Column, int]], list[Column]]:
    fixed = [one for one in made if not one.long]
    long = [one for one in made if one.long]
    left = width - sum(one.width + GAP for one in fixed)
    wanted = {id(one): one.width + GAP for one in long}
    inline: list[Column] = list(fixed)
    below: list[Column] = []
    for at, one in enumerate(sorted(long, key=lambda c: wanted[id(c)])):
        share = left // (len(long) - at)
        given = min(wanted[id(one)], share)
        if given < min(wanted[id(one)], NARROWEST_TEXT + GAP) and fixed:
            below.append(one)
            continue
        wanted[id(one)] = given
        left -= given
        inline.append(one)
    order = {id(one): at for at, one in enumerate(made)}
    inline.sort(key=lambda one: order[id(one)])
    below.sort(key=lambda one: order[id(one)])
    return [(one, wanted[id(one)] - GAP if one.long else one.width) for one in inline], below


def _row(inline: Sequence[tuple[Column, int]], cells: Sequence[Text], margin: str) -> Text:
    line = Text(margin)
    for at, ((column, width), cell) in enumerate(zip(inline, cells, strict=True)):
        text = cut(cell, width)
        blanks = " " * (width - cell_len(text.plain))
        if column.right:
            line.append(blanks)
            line.append_text(text)
        else:
            line.append_text(text)
            line.append("" if at == len(inline) - 1 else blanks)
        line.append("" if at == len(inline) - 1 else " " * GAP)
    line.rstrip()
    return line


def cut(text: Text, width: int) -> Text:
    """The text, shortened to a width with an ellipsis."""
    if cell_len(text.plain) <= width:
        return text
    return Text(set_cell_size(text.plain, max(0, width - 1)).rstrip() + "…", style=text.style)


def _print_below(cell: Text, output: Output, indent: int) -> None:
    if cell.plain:
        text = cut(Text(cell.plain, style=styles.FAINT), output.width - indent)
        output.line(Text(" " * indent).append_text(text))


def _readable(value: Any, name: str, output: Output) -> str:
    text = values.one_line(values.human(value, name))
    return values.short_id(text) if output.terminal else text


def _styled(text: str, name: str) -> Text:
    style: Callable[[str], str] | None = styles.BY_COLUMN.get(name)
    return Text(text, style=style(text) if style else "")


def _bare(type_name: str) -> str:
    for wrapper in ("LowCardinality(", "Nullable("):
        type_name = type_name.removeprefix(wrapper)
    return type_name


def _is_long(name: str) -> bool:
    return name.endswith(_LONG)
