"""Type guards for values of unknown origin, so that both type checkers follow."""

from __future__ import annotations

from typing import Any, TypeGuard


def kind_of(value: object) -> type[object]:
    """``type``, by a name that the type checkers narrow nothing by: what is of unknown type stays
    so. (Compiled it costs nothing; ``type`` under another name is called as any function.)"""
    return type(value)


def is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether this is a dictionary (of a JSON object, so its keys are taken to be text)."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether this is a list."""
    return isinstance(value, list)
