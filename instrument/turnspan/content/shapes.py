"""Type guards for values of unknown origin, so that both type checkers follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeGuard

kind_of: Final[Callable[[object], type[object]]] = type
"""``type``, by a name that the type checkers narrow nothing by: what is of unknown type stays so.
(As a call it costs less than a look by ``isinstance`` or through the guards below.)"""


def is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether this is a dictionary (of a JSON object, so its keys are taken to be text)."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether this is a list."""
    return isinstance(value, list)
