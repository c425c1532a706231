"""Where in a statement the thing is that the engine, or the guard, says is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

_AT = re.compile(r"failed at position (\d+) ")
_NAMED = (
    re.compile(r"[Ii]dentifier [`'](.+?)['`](?=[ ,.])"),
    re.compile(r"[Ff]unction with name [`'](.+?)['`]"),
    re.compile(r"Substitution [`'](.+?)['`] is not set"),
    re.compile(r"\A(\w+)\(\) is refused"),
    re.compile(r"\A(\S+) is not a table of the records"),
)
"""What a message calls by its name; it says nothing about where that stands."""
_MEANT = re.compile(r"Maybe you meant:? (?:\[(?P<several>.+?)\]|(?P<one>\S+?)\?(?=\s|\Z))")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")
_NO_NAME = re.compile(r"'(?:[^'\\]|\\.|'')*'|--[^\n]*|#[ !][^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"\w+|\S|\Z")


@dataclass(frozen=True, slots=True)
class StatementPart:
    """A part of a statement, from ``start`` to before ``end``; empty where something is missing.
    ``instead`` are names that may have been meant."""

    start: int
    end: int
    instead: list[str]


def place_of(sql: str, message: str) -> StatementPart | None:
    """What a message about ``sql`` is about, in characters; ``None`` where it does not say."""
    found: re.Match[str] | None = None
    if at := _AT.search(message):
        # The engine counts bytes, from 1.
        before = sql.encode("utf-8", "surrogatepass")[: int(at[1]) - 1]
        found = _WORD.search(sql, len(before.decode("utf-8", "replace")))
    elif name := next(filter(None, (named.search(message) for named in _NAMED)), None):
        # Where it stands first, outside of strings and comments.
        bare = _NO_NAME.sub(lambda text: " " * len(text[0]), sql)
        found = re.search(rf"(?<![\w.]){re.escape(name[1])}(?!\w)", bare, re.IGNORECASE)
    return None if found is None else StatementPart(found.start(), found.end(), _meant(message))


def _meant(message: str) -> list[str]:
    found = _MEANT.search(message)
    if found is None:
        return []
    return [found["one"]] if found["one"] else _QUOTED.findall(found["several"])
