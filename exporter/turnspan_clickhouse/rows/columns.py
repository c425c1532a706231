"""Rows, column by column. A compiled wheel has another form of this module: ``hatch_build.py``
writes the columns' names out, since reading one by its name costs six times as much there."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from turnspan_clickhouse.rows.record import Record, columns

_values: dict[type[Record], attrgetter[tuple[Any, ...]]] = {}


def columns_of(kind: type[Record], rows: Sequence[Record]) -> list[Sequence[Any]]:
    """The values of each column of a record class, in order."""
    values = _values.get(kind)
    if values is None:
        values = _values[kind] = attrgetter(*(name for name, _ in columns(kind)))
    return list(zip(*map(values, rows), strict=True))
