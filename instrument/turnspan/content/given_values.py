"""What an application gave where a word or a number is asked for: it may have given anything."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from opentelemetry import trace

from turnspan.content.snapshot import freeze
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import guard, warn_once
from turnspan.runtime.inspection import looking

Words = tuple[str, ...] | frozenset[str]
_PLAIN = (str, int, float, bool, type(None))


def text_of(value: Any) -> str:
    """A text that an application gave, which may have given anything; empty where it is none."""
    if type(value) is str:
        return value
    if value is None:
        return ""
    with guard("text"), looking:
        return str.__str__(str(value))
    return ""


def frozen_of(value: Any) -> Any:
    """A copy of what an application gave, that no later change reaches; a marker of what cannot be
    read."""
    if type(value) in _PLAIN:
        return value
    with guard("freeze"):
        return freeze(value)
    return f"<unreadable {type(value).__name__}>"


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
        with guard("attributes", "The argument attributes="), looking:
            if not hasattr(given, "items"):
                raise ConfigError(f"it takes a mapping, not {type(given).__name__}")
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


def refused(name: str, wanted: str, given: Any) -> ConfigError:
    """The error of a value that is not what it must be."""
    return ConfigError(f"{name} is {wanted}: not {label_of(given)!r}")


def finite(name: str, value: Any) -> float:
    """A number that must be one, or else a ``ConfigError``."""
    try:
        with looking:
            number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise refused(name, "a finite number", value)
    return number


def warn_of_near_misses(
    where: str, given: Iterable[str], known: Words, kept: str = "argument as an attribute"
) -> None:
    """Say once of a word that is kept as it is, such as a keyword that becomes an attribute, that
    it all but is one that we know."""
    what, _, place = kept.partition(" ")
    for name in given:
        if near := "" if name in known else nearest(name, known):
            text = f"{where} has no {what} {name!r}: it is kept {place}. Is {near!r} meant?"
            warn_once(text)


@lru_cache(1_000)
def nearest(name: str, known: Words) -> str:
    """The known word that this one all but is; empty where there is none."""
    import difflib

    return next(iter(difflib.get_close_matches(name.lower(), known, 1, 0.8)), "")


def mistaken(error: Exception, *, harmless: bool = False) -> None:
    """A mistake in the code that calls us: an error, which its author sees. Inside of what is
    recorded, where it would hit whoever is served, it is a line in the log, once; so is one that is
    harmless.

    Raises:
        Exception: the error, outside of every recorded span.
    """
    if not harmless and not trace.get_current_span().get_span_context().is_valid:
        raise error
    warn_once(str(error))
