"""Tables: fitted to a terminal's width, or aligned and uncut for a pipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from turnspan_clickhouse.store.client import Result
from turnspan_console import styles, values
from turnspan_console.output import Output
from turnspan_console.panels import layout
from turnspan_console.panels.layout import Column

_NUMERIC = ("Int", "UInt", "Float", "Decimal")
_TEXTS = ("String", "Fixed", "Array", "Map", "Tuple", "JSON")
_LONG = ("message", "detail", "arguments", "comment", "text", "writer", "question", "remedy")
_IDS = ("session", "turn", "span", "trace")


def columns(result: Result, output: Output, *, exact: bool = False) -> list[Column]:
    """A result as columns. ``exact`` prints values as they are, else as people read them."""
    made: list[Column] = []
    for at, (name, type_name) in enumerate(zip(result.names, result.types, strict=True)):
        cells = [row[at] for row in result.rows]
        numeric = _bare(type_name).startswith(_NUMERIC)
        if exact:
            texts = [values.one_line(values.raw(cell)) for cell in cells]
        else:
            texts = _readable(cells, name, output)
        style: Callable[[str], str] | None = styles.BY_COLUMN.get(name)
        made.append(
            Column(
                name=name if exact else heading(name),
                cells=[Text(text, style=style(text) if style else "") for text in texts],
                right=numeric,
                long=_bare(type_name).startswith(_TEXTS) if exact else name.endswith(_LONG),
                kept=name.endswith(_IDS) or at == 0,
                ids=name.endswith(_IDS),
                whole=_bare(type_name).startswith("Date"),
            )
        )
    return made


def heading(name: str) -> str:
    """A column's name as a heading: the unit is in the values."""
    for ending in ("_seconds", "_usd", "_bytes"):
        name = name.removesuffix(ending)
    return name.replace("_", " ")


def useful(made: list[Column], output: Output) -> list[Column]:
    """The columns that hold anything; on a terminal not a project, or an agent, that is the same
    everywhere."""
    nothing = ("", values.UNKNOWN)
    shown = [one for one in made if any(cell.plain not in nothing for cell in one.cells)]
    if not output.terminal:
        return shown
    return [
        one
        for one in shown
        if one.name not in ("project", "agent") or len({cell.plain for cell in one.cells}) > 1
    ]


def print_table(
    made: Sequence[Column],
    output: Output,
    *,
    indent: int = 0,
    narrowest: int = layout.NARROWEST_TEXT,
) -> None:
    """Write a table: cut to the width on a terminal, whole on a pipe."""
    if not made:
        return
    if not output.terminal:
        fitted = layout.Fitted(list(made), [one.width for one in made])
    else:
        fitted = layout.fit(made, output.width - indent, narrowest=narrowest)
    margin = " " * indent
    for titles in fitted.headings():
        output.line(fitted.row([Text(one, styles.HEADING) for one in titles], margin))
    for at in range(len(made[0].cells)):
        output.line(fitted.row([one.cells[at] for one in fitted.columns], margin))
        for one in fitted.below:
            if one.cells[at].plain:
                below = Text(one.cells[at].plain, style=styles.FAINT)
                below = layout.cut(below, output.width - indent - 4)
                output.line(Text(" " * (indent + 4)).append_text(below))
    if fitted.hidden:
        names = ", ".join(one.name for one in fitted.hidden)
        told = Text(f"not shown for want of width: {names}", styles.FAINT)
        output.line(Text(margin).append_text(layout.cut(told, output.width - indent)))


def print_exact(made: Sequence[Column], output: Output) -> None:
    """Write a table of ``turnspan sql``: one value a line where the columns do not fit."""
    least = layout.NARROWEST_VALUE
    needed = sum(min(one.width, least if one.long else one.width) + layout.GAP for one in made)
    if not output.terminal or needed <= output.width:
        print_table(made, output, narrowest=least)
        return
    width = max(cell_len(one.name) for one in made)
    for at in range(len(made[0].cells)):
        label = f"── row {at + 1} "
        output.line(Text(label + "─" * (min(output.width, 72) - cell_len(label)), styles.FAINT))
        for one in made:
            room = output.width - width - layout.GAP
            line = Text(f"{one.name:{width}}{' ' * layout.GAP}", styles.HEADING)
            output.line(line.append_text(layout.cut(one.cells[at], room)))


def _readable(cells: Sequence[Any], name: str, output: Output) -> list[str]:
    texts = [values.one_line(values.human(cell, name)) for cell in cells]
    if not output.terminal:
        return texts
    times = [cell for cell in cells if isinstance(cell, datetime)]
    year = datetime.now(timezone.utc).year
    if times and all(time.year == year for time in times):
        return [text.removeprefix(f"{year}-") for text in texts]
    return values.short_ids(texts)


def _bare(type_name: str) -> str:
    for wrapper in ("LowCardinality(", "Nullable("):
        type_name = type_name.removeprefix(wrapper)
    return type_name
