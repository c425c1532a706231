"""Rows, column by column. A compiled wheel has another form of this module: ``hatch_build.py``
writes the columns' names out, since reading one by its name costs six times as much there."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from turnspan_clickhouse.rows.record import Record, columns

_getters: dict[type[Record], list[attrgetter[Any]]] = {}


def columns_of(kind: type[Record], rows: Sequence[Record]) -> list[list[Any]]:
    """The values of each column of a record class, in order.

    Never by a tuple a row: each is a container more for the garbage collector, which then looks
    through the whole application (15 us a row).
    """
    getters = _getters.get(kind)
    if getters is None:
        getters = _getters[kind] = [attrgetter(name) for name, _ in columns(kind)]
    return [list(map(get, rows)) for get in getters]
