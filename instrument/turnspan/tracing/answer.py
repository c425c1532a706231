"""What an agent answers with, where that is no text.

A request's model is frozen as it goes on the wire, by the fields that were set; an answer is frozen
by all its fields, as they are named, those with defaults included.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import uuid
from typing import Any, Final

from turnspan.content.snapshot import freeze
from turnspan.runtime.type_guards import is_dict, is_list, kind_of

_DEPTH: Final = 8
"""Levels that are looked through for models; below, they are frozen like anything else."""
_TIMES: Final = (datetime.date, datetime.time)  # a datetime is a date


def freeze_answer(value: Any, depth: int = 0) -> Any:
    """A copy of an answer that no later change reaches: models and dataclasses by their fields."""
    kind = kind_of(value)
    if value is None or kind in (str, int, float, bool, bytes):
        return value
    if depth >= _DEPTH:
        return freeze(value)
    depth += 1
    if isinstance(value, enum.Enum):
        return freeze_answer(value.value, depth)
    if is_dict(value):
        return {_name(key): freeze_answer(item, depth) for key, item in value.items()}
    if is_list(value) or kind is tuple:
        return [freeze_answer(item, depth) for item in value]
    if hasattr(kind, "__pydantic_fields_set__"):
        extra: dict[str, Any] = getattr(value, "__pydantic_extra__", None) or {}
        fields: dict[str, Any] = {**value.__dict__, **extra}
        return {name: freeze_answer(item, depth) for name, item in fields.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: freeze_answer(getattr(value, field.name), depth)
            for field in dataclasses.fields(value)
        }
    if isinstance(value, _TIMES):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return str(value)
    return freeze(value)


def _name(key: Any) -> Any:
    return key if isinstance(key, str) else str(freeze_answer(key, _DEPTH))
