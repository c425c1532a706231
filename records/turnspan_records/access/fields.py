"""One dataclass made of another, or of a row of the store, by the names of its fields; and what a
question selects for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime, timedelta, timezone
from functools import cache
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import orjson

from turnspan_clickhouse.rows.record import Record, columns

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def utc(value: Any) -> datetime:
    """A ``DateTime64(9, 'UTC')`` value as an aware datetime (the driver gives naive ones)."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=timezone.utc)
    return _EPOCH + timedelta(microseconds=int(value) // 1000)


T = TypeVar("T", bound="DataclassInstance")


def dollars(amount: Any) -> float | None:
    """An amount of money as a number; ``None`` where it is not known."""
    return None if amount is None else float(amount)


def parsed(text: str | bytes) -> Any:
    """The JSON value that a text is, else the text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "bool": bool,
    "datetime": utc,
    "float": float,
    "list": list,
    "tuple": tuple,
}
"""What makes the value of a column that of a field, by the field's type. Of other fields it is the
value, and so is ``None``."""


def copied(kind: type[T], source: object, /, **others: object) -> T:
    """A ``kind`` with the attributes of ``source`` of its fields' names, and with others."""
    names = _names(cast("Any", kind))
    return kind(**{name: getattr(source, name) for name in names if name not in others}, **others)


def of_row(kind: type[T], row: Mapping[str, Any], /, **others: object) -> T:
    """A ``kind`` with the columns of its fields' names, and with others. A field that neither has
    keeps its default."""
    names = _names(cast("Any", kind))
    values = {name: row[name] for name in names if name in row} | others
    for name, read in _readers(cast("Any", kind)):
        if name not in others and row.get(name) is not None:
            values[name] = read(row[name])
    return kind(**values)


def selected(kind: type[T], record: type[Record], /, *others: str) -> str:
    """The columns of a table that are fields of ``kind`` as well, as ``SELECT`` has them; without
    ``others``, which a question selects in its own way."""
    names = {*_names(cast("Any", kind))}.difference(others)
    return fill(", ".join(name for name, _ in columns(record) if name in names), 96)


@cache  # a session has thousands of rows
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


@cache
def _readers(kind: Any) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    types = {one.name: str(one.type).removesuffix(" | None") for one in fields(kind)}
    known = ((name, type_.partition("[")[0]) for name, type_ in types.items())
    return tuple((name, _READERS[type_]) for name, type_ in known if type_ in _READERS)
