"""Write ``turnspan_clickhouse/rows/columns.py``: the columns of the tables that calls land in.

make columns        (or: python .ci/row_columns.py)
"""

from __future__ import annotations

from pathlib import Path

from turnspan_clickhouse.rows.tables import (
    LlmCall,
    Located,
    MessageRow,
    Record,
    SpanRow,
    ToolCall,
    TurnSummary,
    columns,
)

TARGET = Path(__file__).parents[1] / "exporter/turnspan_clickhouse/rows/columns.py"
WRITTEN_OUT: tuple[type[Record], ...] = (LlmCall, SpanRow, ToolCall, MessageRow, TurnSummary)
"""The tables that take many rows; the others are read by name."""

HEAD = f'''"""Rows, column by column: every value of a column in a list of its own.

Written by ``.ci/row_columns.py`` from the classes of ``tables.py``. The names stand here once more
because of what it costs to read a column whose name is known only when it is read: six times as
much where this is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, cast

from turnspan_clickhouse.rows.tables import (
    {", ".join(sorted(kind.__name__ for kind in (*WRITTEN_OUT, Located, Record)))},
    columns,
)


def columns_of(kind: type[Record], rows: Sequence[Record]) -> list[list[Any]]:
    """The values of each column of a record class, in order."""
    known: Any = list(rows)
'''


def written() -> str:
    """The module, before it is formatted."""
    places = [name for name, _ in columns(Located)]
    text = HEAD
    for kind in WRITTEN_OUT:
        text += f"    if kind is {kind.__name__}:\n        return _{kind.table}(known)\n"
    text += "    return [list(map(attrgetter(name), rows)) for name, _ in columns(kind)]\n"
    text += _function("located", Located.__name__, places)
    for kind in WRITTEN_OUT:
        names = [name for name, _ in columns(kind)]
        located = issubclass(kind, Located) and names[: len(places)] == places
        text += _function(kind.table, kind.__name__, names[len(places) * located :], located)
    return text


def _function(table: str, kind: str, names: list[str], located: bool = False) -> str:
    lines = ['        *_located(cast("list[Located]", rows)),\n'] * located
    lines += [f"        [row.{name} for row in rows],\n" for name in names]
    return (
        f"\n\ndef _{table}(rows: list[{kind}]) -> list[list[Any]]:\n"
        f"    return [\n{''.join(lines)}    ]\n"
    )


if __name__ == "__main__":
    TARGET.write_text(written(), encoding="utf-8")
