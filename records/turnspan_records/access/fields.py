"""One dataclass made of another, or of a row of the store, by the names of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


def copied(kind: type[T], source: object, /, **others: object) -> T:
    """A ``kind`` with the attributes of ``source`` of its fields' names, and with others."""
    names = _names(cast("Any", kind))
    return kind(**{name: getattr(source, name) for name in names if name not in others}, **others)


def of_row(kind: type[T], row: Mapping[str, Any], /, **others: object) -> T:
    """A ``kind`` with the columns of its fields' names, and with others. A field that neither has
    keeps its default."""
    names = _names(cast("Any", kind))
    return kind(**({name: row[name] for name in names if name in row} | others))


@cache  # a session has thousands of rows
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))
