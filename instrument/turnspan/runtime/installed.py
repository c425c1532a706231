"""What is installed beside Turnspan, asked in a way that a short-lived process can afford.

To tell a package's name or version the standard library parses all of its metadata, the description
included, as an e-mail: 1.5 ms each. For each group of entry points it reads those of every package.
To load what asks takes a quarter of ``import turnspan``, so it is loaded by the first question.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from importlib import metadata

_OPERATORS: Final = (">=", "<")

_Numbers = tuple[int, ...]
_known: tuple[object, Any] | None = None


def entry_points(group: str) -> list[metadata.EntryPoint]:
    """The entry points of a group. All are read once, and anew where a folder that packages are
    installed in has changed, by which the standard library knows it too."""
    from importlib import metadata

    global _known
    known, state = _known, [(folder, _changed(folder)) for folder in sys.path]
    if known is None or known[0] != state:
        _known = known = (state, metadata.entry_points())
    return [*known[1].select(group=group)]


def _changed(folder: str) -> int:
    try:
        return os.stat(folder or ".").st_mtime_ns
    except OSError:
        return 0


def version(distribution: str) -> str:
    """The version of a package by its distribution's name; empty where it is not installed."""
    from importlib import metadata

    try:
        return version_of(metadata.distribution(distribution))
    except metadata.PackageNotFoundError:
        return ""


def version_of(distribution: metadata.Distribution) -> str:
    """A distribution's version."""
    return _said(distribution, "version") or distribution.version


def name_of(distribution: metadata.Distribution) -> str:
    """A distribution's name, as it writes it itself."""
    return _said(distribution, "name") or distribution.metadata["Name"]


def _said(distribution: metadata.Distribution, field: str) -> str:
    """A line of the metadata's head; empty where there is no such line."""
    text = distribution.read_text("METADATA") or distribution.read_text("PKG-INFO") or ""
    for line in text.partition("\n\n")[0].split("\n"):
        name, _, value = line.partition(":")
        if name.lower() == field:
            return value.strip()
    return ""


def fits(requirement: str) -> bool:
    """Whether a package is installed in a version such as ``"openai >= 1.40, < 4"`` asks for.

    False also where that takes more than to compare numbers: other operators, and versions that are
    no release. ``packaging`` knows more; to load it takes 10 ms.
    """
    name, _, bounds = requirement.partition(" ")
    there = _numbers(version(name))
    for bound in bounds.split(","):
        operator, _, text = bound.strip().partition(" ")
        limit = _numbers(text)
        if operator not in _OPERATORS or there is None or limit is None:
            return False
        if (there < limit) is (operator == ">="):
            return False
    return True


def _numbers(text: str) -> _Numbers | None:
    """A release's numbers, without zeros at the end; None for what is no release."""
    parts = text.split(".")
    if not all(part.isascii() and part.isdigit() for part in parts):
        return None
    numbers = [int(part) for part in parts]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
