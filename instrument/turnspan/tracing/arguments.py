"""What a decorated function was called with: names for its arguments, and the user's message."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

_MESSAGE_NAMES = (
    "user_message",
    "message",
    "prompt",
    "query",
    "question",
    "user_input",
    "user_prompt",
    "task",
    "input",
    "text",
    "instruction",
    "request",
    "content",
)


class Parameters:
    """The parameters of a function, read once when it is decorated."""

    __slots__ = ("_names", "_skip", "message_name")

    def __init__(self, func: Callable[..., Any]) -> None:
        names = _positional(func)
        self._skip = 1 if names and names[0] in ("self", "cls") else 0
        self._names = names
        self.message_name = next((n for n in _MESSAGE_NAMES if n in names), "")

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Name the arguments of one call; a method's ``self`` or ``cls`` is left out."""
        names, skip = self._names, self._skip
        if not args:
            return dict(kwargs)
        bound = dict(zip(names[skip:], args[skip:], strict=False))
        if len(args) > len(names):
            bound["args"] = list(args[max(len(names), skip) :])
        if kwargs:
            bound.update(kwargs)
        return bound

    def user_message(self, bound: Mapping[str, Any]) -> Any:
        """The argument that looks like the user's message; ``None`` when none does."""
        if self.message_name and self.message_name in bound:
            return bound[self.message_name]
        for name in _MESSAGE_NAMES:
            if name in bound:
                return bound[name]
        messages = bound.get("messages")
        if isinstance(messages, (list, tuple)):
            return _last_user_content(cast("Sequence[Any]", messages))
        return next((value for value in bound.values() if isinstance(value, str)), None)


def _last_user_content(messages: Sequence[Any]) -> Any:
    for message in reversed(messages):
        if isinstance(message, dict):
            fields = cast("dict[str, Any]", message)
            if fields.get("role") == "user":
                return fields.get("content")
    return None


def _positional(func: Callable[..., Any]) -> tuple[str, ...]:
    try:
        signature = inspect.signature(func)
    except (TypeError, ValueError):
        return ()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p.name for p in signature.parameters.values() if p.kind in kinds)


def name_of(func: Callable[..., Any]) -> str:
    """A function's name as a person would say it."""
    while isinstance(func, functools.partial):
        func = func.func
    name = getattr(func, "__name__", None)
    return name if isinstance(name, str) else type(func).__name__


def first_line(func: Callable[..., Any]) -> str:
    """The first line of a function's docstring, at most 500 characters."""
    text = getattr(func, "__doc__", None)
    if not isinstance(text, str) or isinstance(func, functools.partial):
        return ""
    return text.strip().split("\n", 1)[0].strip()[:500]
