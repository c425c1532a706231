"""Type guards for values of unknown origin, so that both type checkers follow."""

from __future__ import annotations

from typing import Any, TypeGuard


def is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether this is a dictionary (of a JSON object, so its keys are taken to be text)."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether this is a list."""
    return isinstance(value, list)
