"""What an application gave where a word or a number is asked for: it may have given anything."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, Final

from turnspan.content.snapshot import freeze
from turnspan.runtime.guard import guard

logger = logging.getLogger("turnspan")
_MOST_SEEN: Final = 1_000
_seen: set[tuple[str, str]] = set()

_PLAIN = (str, int, float, bool, type(None))


def text_of(value: Any) -> str:
    """A text that an application gave, which may have given anything; empty where it is none."""
    if type(value) is str:
        return value
    with guard("text"):
        return "" if value is None else str.__str__(str(value))
    return ""


def label_of(value: Any) -> Any:
    """What an application gave where a word or a number is asked for: plain, and readable."""
    if type(value) in _PLAIN:
        return value
    with guard("label"):
        found = freeze(value)
        return found if type(found) in _PLAIN else str(found)
    return f"<unreadable {type(value).__name__}>"


def attributes_of(given: Any) -> dict[str, Any]:
    """The attributes that an application gave for its spans, those that can be read."""
    found: dict[str, Any] = {}
    if given is not None:
        with guard("attributes"):
            for key, value in given.items():
                found[text_of(key)] = _attribute_of(value)
    return found


def _attribute_of(value: Any) -> Any:
    if type(value) in (list, tuple) and all(type(item) in _PLAIN for item in value):
        return tuple(value)
    return label_of(value)


def number_of(value: Any) -> Any:
    """A number that an application gave; anything else is none."""
    found = label_of(value)
    return found if isinstance(found, (int, float)) else None


def warn_of_near_misses(where: str, given: Iterable[str], known: tuple[str, ...]) -> None:
    """Say once of a keyword, which becomes an attribute, that it all but is one that we know."""
    for name in given:
        if (where, name) in _seen or len(_seen) >= _MOST_SEEN:
            continue
        _seen.add((where, name))
        import difflib

        near = difflib.get_close_matches(name.lower(), known, 1, 0.8)
        if near:
            logger.warning(
                "%s has no argument %r: it is kept as an attribute. Is %r meant?",
                *(where, name, near[0]),
            )
