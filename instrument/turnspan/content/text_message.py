"""Frozen messages of nothing but a role and a text, as most are, without a dictionary.

The interpreter counts every container that is made and not freed: after 700 it looks for garbage
among the newest, and after some tens of thousands among all there are, which stops every thread of
the process for tens of milliseconds. A history of a thousand messages must not be a thousand
containers. In the compiled build a ``TextMessage`` is none (it holds two texts and so can be part
of no cycle), costs less than a copy of its dictionary, and compares with one as quickly. Only
there: the interpreter would compare it many times slower than it compares dictionaries.
"""

from __future__ import annotations

from typing import Any, Final, final

from turnspan.runtime.mypyc import mypyc_attr
from turnspan.runtime.type_guards import is_dict, kind_of

COMPILED: Final = not __file__.endswith(".py")


@final
@mypyc_attr(acyclic=True)
class TextMessage:
    """``{"role": role, "content": content}``, to which it is equal."""

    __slots__ = ("content", "role")

    def __init__(self, role: str, content: str) -> None:
        self.role = role
        self.content = content

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TextMessage):
            return self.content == other.content and self.role == other.role
        if not is_dict(other) or len(other) != 2:
            return False
        return bool(self.content == other.get("content") and self.role == other.get("role"))

    def __hash__(self) -> int:
        raise TypeError("messages have no hash")

    def __repr__(self) -> str:
        return repr(as_dict_message(self))


def lean(message: Any) -> TextMessage | None:
    """A message as a ``TextMessage``, where it is no more than one, its fields in that order."""
    if not COMPILED or kind_of(message) is not dict:
        return None
    fields: dict[str, Any] = message
    if len(fields) != 2:
        return None
    role, content = fields.get("role"), fields.get("content")
    if type(role) is not str or type(content) is not str:
        return None
    for name in fields:  # its own keys are the two now
        if name == "role":
            return TextMessage(role, content)
        break
    return None


def as_dict_message(message: Any) -> Any:
    """A frozen message as its provider writes it: a dictionary again, where it was one."""
    if isinstance(message, TextMessage):
        return {"role": message.role, "content": message.content}
    return message
