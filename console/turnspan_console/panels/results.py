"""A query's answer in the format that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from turnspan_clickhouse.store.client import Result
from turnspan_console import values
from turnspan_console.output import Output


def print_result(
    result: Result,
    format_: str,
    output: Output,
    *,
    exact: bool = False,
    raw: bool = False,
    indent: int = 0,
) -> None:
    """Write a result as ``table``, ``json`` (an array), ``jsonl`` or ``csv``.

    ``exact`` keeps a table's values as the store has them, which is what ``turnspan sql`` wants,
    ``raw`` the texts of csv, whatever a terminal or a spreadsheet makes of them.
    """
    if format_ == "table":
        from turnspan_console.panels import tables

        made = tables.columns(result, output, exact=exact)
        if exact:
            tables.print_exact(made, output)
        else:
            tables.print_table(tables.useful(made, output), output, indent=indent)
    elif format_ == "json":
        output.json(as_json(result, exact=exact))
    elif format_ == "jsonl":
        for row in as_json(result, exact=exact):
            output.json_line(row)
    else:
        output.csv([result.names if exact else [*map(values.id_name, result.names)]], raw=raw)
        output.csv(([values.raw(cell) for cell in row] for row in result.rows), raw=raw)


def print_rows(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    output: Output,
    format_: str = "table",
    *,
    indent: int = 2,
) -> None:
    """Write rows that no query gave; a column is of numbers, of times or of texts."""
    types: list[str] = []
    for at in range(len(names)):
        first = next((row[at] for row in rows if row[at] is not None), "")
        number = isinstance(first, (int, float))
        types.append(
            "Float64" if number else "DateTime" if isinstance(first, datetime) else "String"
        )
    print_result(Result(tuple(names), tuple(types), rows), format_, output, indent=indent)


def print_block(names: Sequence[str], rows: Sequence[Sequence[Any]], output: Output) -> None:
    """Write rows as ``print_rows``, after an empty line; nothing where there are none."""
    if rows:
        output.line()
        print_rows(names, rows, output)


def as_json(result: Result, *, exact: bool = False) -> list[dict[str, object]]:
    """A result's rows for a program: ids are called as the columns that they are of, unless the
    names are exact, which are then those of the SQL that was asked."""
    names = result.names if exact else [*map(values.id_name, result.names)]
    return [dict(zip(names, map(values.plain, row), strict=True)) for row in result.rows]
