"""The reviewed functions of ``functions.txt``: a name that is not in it is refused."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

_HEAD = re.compile(r"\[(allowed|refused)( aggregate| table)?(?:: (.+))?\]")

COMBINATORS = (
    *("SimpleState", "OrDefault", "Distinct", "Resample", "ForEach", "ArgMax", "ArgMin", "OrNull"),
    *("Tuple", "Merge", "State", "Array", "Null", "Map", "If"),
)
"""What an aggregate function's name may end with, by ``system.aggregate_function_combinators``."""


@dataclass(frozen=True, slots=True)
class Functions:
    """Names in lower case, as the engine takes most of them in any; of the refused ones why."""

    scalars: frozenset[str]
    aggregates: frozenset[str]
    tables: frozenset[str]
    refused: dict[str, str]
    refused_tables: dict[str, str]
    spelled: Mapping[str, str]
    """Names as they are written, by those in lower case."""

    def allows(self, name: str) -> bool:
        """Whether a query may call this function (not: read from it as from a table)."""
        name = name.lower()
        if name in self.refused:
            return False
        return name in self.scalars or self._aggregates(name)

    def allows_table(self, name: str) -> bool:
        """Whether a query may read from this table function."""
        return name.lower() in self.tables

    def is_table(self, name: str) -> bool:
        """Whether this is known as a table function."""
        return name.lower() in self.tables or name.lower() in self.refused_tables

    def reviewed(self, name: str) -> bool:
        """Whether somebody has looked at what this function does."""
        name = name.lower()
        return name in self.refused or name in self.scalars or name in self.aggregates

    def reason(self, name: str, *, table: bool) -> str:
        """Why it is refused."""
        why = (self.refused_tables if table else self.refused).get(name.lower())
        if why:
            return why
        allowed = self.tables if table else self.scalars | self.aggregates
        close = [self.spelled[one] for one in difflib.get_close_matches(name.lower(), allowed)]
        meant = f". Maybe you meant: {close}" if close else ""
        return f"is none that is known to do nothing but compute{meant}"

    def _aggregates(self, name: str) -> bool:
        if name in self.aggregates:
            return True
        return any(
            name.endswith(ending) and self._aggregates(name.removesuffix(ending))
            for ending in _ENDINGS
        )


_ENDINGS = tuple(ending.lower() for ending in COMBINATORS)


@cache
def functions() -> Functions:
    """What ``functions.txt`` says."""
    folder = resources.files("turnspan_records.sandbox")
    text = folder.joinpath("functions.txt").read_text(encoding="utf-8")
    # Names with the reason, by whether they are allowed or refused, and their kind.
    known: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    spelled: dict[str, str] = {}
    section, why = ("", ""), ""
    for line in text.splitlines():
        if head := _HEAD.fullmatch(line):
            section, why = (head[1], head[2] or ""), head[3] or ""
        elif line and not line.startswith("#"):
            spelled.update((name.lower(), name) for name in line.split())
            known[section].update((name.lower(), why) for name in line.split())
    return Functions(
        scalars=frozenset(known["allowed", ""]),
        aggregates=frozenset(known["allowed", " aggregate"]),
        tables=frozenset(known["allowed", " table"]),
        refused=known["refused", ""],
        refused_tables=known["refused", " table"],
        spelled=spelled,
    )
