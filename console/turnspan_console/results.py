"""A query's answer in the format that was asked for."""

from __future__ import annotations

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
        from turnspan_console import tables

        made = tables.columns(result, output, exact=exact)
        if exact:
            tables.print_exact(made, output)
        else:
            tables.print_table(tables.useful(made, output), output, indent=indent)
    elif format_ == "json":
        output.json([_plain(result, row) for row in result.rows])
    elif format_ == "jsonl":
        for row in result.rows:
            output.json_line(_plain(result, row))
    else:
        output.csv([result.names], raw=raw)
        output.csv(([values.raw(cell) for cell in row] for row in result.rows), raw=raw)


def _plain(result: Result, row: object) -> dict[str, object]:
    return {
        name: values.plain(cell)
        for name, cell in zip(result.names, row, strict=True)  # type: ignore[call-overload]
    }
