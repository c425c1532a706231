"""A query's answer in the format that was asked for."""

from __future__ import annotations

import csv
import json
import sys

from turnspan_clickhouse.stores import Result
from turnspan_console import values
from turnspan_console.output import Output


def print_result(
    result: Result, format_: str, output: Output, *, exact: bool = False, indent: int = 0
) -> None:
    """Write a result as ``table``, ``json`` (an array), ``jsonl`` or ``csv``.

    ``exact`` keeps a table's values as the store has them, which is what ``turnspan sql`` wants.
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
            output.line(json.dumps(_plain(result, row), ensure_ascii=False))
    else:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(result.names)
        for row in result.rows:
            writer.writerow([values.raw(cell) for cell in row])


def _plain(result: Result, row: object) -> dict[str, object]:
    return {
        name: values.plain(cell)
        for name, cell in zip(result.names, row, strict=True)  # type: ignore[call-overload]
    }
