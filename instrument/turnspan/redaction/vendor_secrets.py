"""Values without a shape of their own that are secrets where their vendor's name stands before.

``datadog_api_key = "<40 letters and digits>"``: the name, at most twenty characters, something
that joins (``=``, ``:``, ``=>``, ``,``, ``|``, ``>``), and a value of exactly the vendor's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from turnspan.redaction.found import encoded, has_rare_pair
from turnspan.redaction.secret_shapes import NAMED
from turnspan.runtime.later import later

_BACK: Final = 110
_REACH: Final = 45
_TAIL: Final = later(r"[\w \t.,\-]+", re.ASCII)
"""A name, read backwards."""
_GAP: Final = " \t\r\n\v\f'\"`\\=:>|,?(["
_JOINS: Final = frozenset("=:>|,")
_ENCODED: Final = frozenset("%&\\\x1b")

_DECODE: Final = later(
    r"(?:\x1b|\\+(?:u001[bB]|x1[bB]|033|e))\[[\d;]*m"
    r"|\\+u00(?P<u>[0-9a-fA-F]{2})|%(?:25){0,3}(?P<p>[2-7][0-9a-fA-F]|0[aAdD9])"
    r"|&(?:amp;)?(?:quot|apos|#3[49]|#x2[27]);|&(?:amp;)?(?P<gt>gt);|\\+[nrt\"'/]"
)
_LEAD: Final = later(r"(?<=\\)(?:u00[0-9a-fA-F]{2}|x[0-9a-fA-F]{2}|[nrtbf])|(?<=[\[;])\d{0,3}m")
_SPLIT: Final = later(r"(?:=|%(?:25){0,3}[0-9a-fA-F]{2})+")


def _by_letter(names: Iterable[str]) -> str:
    letters: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        letters.setdefault(name[0], []).append(name[1:])
    return "|".join(f"{letter}(?:{'|'.join(rest)})" for letter, rest in letters.items())


_NAME: Final = later(_by_letter(name for _, names, _ in NAMED for name in names.split("|")))
Values = tuple[tuple[str, re.Pattern[str]], ...]


@cache
def _rules() -> tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]:
    """Rule, name and value; compiled when a vendor is first named."""
    return tuple(
        (
            rule,
            later(rf"(?:{names})(?=,?[ \t\w.-]{{0,20}}\Z)", re.ASCII),
            later(f"(?:{encoded(value)})(?![A-Za-z0-9_-])", re.ASCII | re.IGNORECASE),
        )
        for rule, names, value in NAMED
    )


@lru_cache(maxsize=4096)
def vendor_values(name: str) -> Values:
    """What a value looks like behind this name: (rule, pattern) of the vendors named in it."""
    name = name.lower()
    if _NAME.search(name) is None:
        return ()
    return tuple((rule, value) for rule, names, value in _rules() if names.search(name) is not None)


def _decoded(found: re.Match[str]) -> str:
    code = found["u"] or found["p"]
    if code:
        return chr(int(code, 16))
    return ">" if found["gt"] else '"' if found.group()[0] == "&" else ""


def decoded(text: str) -> str:
    """A piece of text without colours and escapes, as it was before it was quoted."""
    return text if _ENCODED.isdisjoint(text) else _DECODE.sub(_decoded, text)


def named_before(text: str, position: int) -> str:
    """What stands joined before a position, as far as it can be a name; empty for nothing."""
    before = decoded(text[max(0, position - _BACK) : position])
    name = before.rstrip(_GAP)
    if len(name) == len(before) or _JOINS.isdisjoint(before[len(name) :]):
        return ""
    back = _TAIL.match(name[: -_REACH - 1 : -1])
    return "" if back is None else back.group()[::-1]


def vendor_secret(text: str, start: int, stop: int) -> tuple[int, int, str] | None:
    """The vendor's secret that a run of characters is or ends with, as (start, end, rule)."""
    starts = [start]
    if start and text[start - 1] in ":|":
        before = text[max(0, start - 18) : start - 1]
        at = start - 1 - len(before) + len(before.rstrip("0123456789"))
        starts.append(at + 4 if text[max(0, at - 2) : at] == "\\u" else at)
    lead = _LEAD.match(text, start) if start else None
    if lead is not None:
        starts.append(lead.end())
    for split in _SPLIT.finditer(text, start, stop):
        starts.append(split.end())
        signs = split.group()
        if signs[-1] in "=dD":  # the value's own signs, or what joins it
            starts += [split.start() + at for at in range(len(signs)) if at][-9:]
        elif signs[-1] in "fFbB":
            starts += [split.end() - 3, split.end() - 6]
        if len(starts) > 16:
            break
    for at in starts:
        if stop - at < 14:
            break
        name = named_before(text, at)
        if name:
            found = longest_value(text, at, vendor_values(name))
            if found is not None and not is_listed(text, at, found[1]):
                return found
    return None


def longest_value(text: str, at: int, values: Values) -> tuple[int, int, str] | None:
    """The longest value of a vendor that begins at a position."""
    best: tuple[int, int, str] | None = None
    for rule, value in values:
        found = value.match(text, at)
        if found is not None and (best is None or found.end() > best[1]):
            best = (at, found.end(), rule)
    return best


def is_listed(text: str, at: int, end: int) -> bool:
    """Whether a word stands in a list of words."""
    value = text[at:end]
    return value.isalpha() and "," in text[max(0, at - 4) : at] and not has_rare_pair(value)
