"""The diagnostics: one ``.sql`` file each, with its title, its question and its remedy on top.

Every file takes the parameters ``project`` ('' means all), ``since``, ``until`` and ``limit``;
``{model}`` and ``{says_failure}`` are fragments (``turnspan_records.sql``), ``{turns}`` are the
turns, also those of which only a call runs (``turn_rows``), ``{chosen:COLUMN}`` is
the condition that a row is of that project and its time in that window (``_CHOSEN``).
Columns are named by what they hold: ``*_seconds`` are seconds, ``*_usd`` dollars, ``*_share`` and
``*_rate`` fractions of one, ``*time`` moments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.turn_rows import TURNS, turn_rows
from turnspan_records.access.window import Window, window_parameters
from turnspan_records.sql import with_fragments

_CHOSEN: Final = (
    "({project:String} = '' OR project = {project:String})",
    "({since:DateTime64(9, 'UTC')} <= '1970-01-01 00:00:00' OR AT >= {since:DateTime64(9, 'UTC')})",
    "({until:DateTime64(9, 'UTC')} >= '2200-01-01 00:00:00' OR AT < {until:DateTime64(9, 'UTC')})",
)
_TURNS: Final = "{turns}"
_CHOICE: Final = re.compile(r"^( *)(WHERE|AND) \{chosen:(\w+)\}", re.MULTILINE)

ORDER = (
    "how_turns_end",
    "early_stops",
    "unfinished_turns",
    "failing_tools",
    "loops",
    "silent_turns",
    "errors_by_type",
    "slow_calls",
    "expensive_calls",
    "usage_by_model_and_day",
    "tool_usage",
    "context_growth",
    "context_budget",
    "context_dropped",
    "context_outcomes",
    "context_bypassed",
    "duplicates",
    "versions",
    "insights",
)
"""The order in which they are shown; a file that is not named here comes after, by name."""

_FORMER: Final = {"premature_stops": "early_stops"}
"""Former names, which saved statements, scripts and addresses may have."""
_HEADER = re.compile(r"-- (title|question|remedy): (.+)")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One question with its SQL."""

    name: str
    title: str
    question: str
    remedy: str
    text: str
    """Its SQL but for ``{turns}``."""

    @property
    def sql(self) -> str:
        """Its SQL over the turns that have a row."""
        return self.text.replace(_TURNS, TURNS)

    def asked(
        self, store: Store, *, project: str = "", window: Window | None = None, limit: int = 20
    ) -> tuple[str, dict[str, object]]:
        """The SQL that a store is asked, and its parameters. Raises ``StoreError`` as
        ``Store.query``."""
        given = window_parameters(project, window, limit=limit)
        if _TURNS not in self.text:
            return self.text, given
        turns, of_calls = turn_rows(store, project)
        return self.text.replace(_TURNS, turns), given | of_calls

    def run(
        self, store: Store, *, project: str = "", window: Window | None = None, limit: int = 20
    ) -> Result:
        """Ask the question of a store. Raises ``StoreError`` as ``Store.query``."""
        return store.query(*self.asked(store, project=project, window=window, limit=limit))


@cache
def diagnostics() -> dict[str, Diagnostic]:
    """Every shipped diagnostic by name, in the order of presentation."""
    found = {
        file.name.removesuffix(".sql"): file.read_text(encoding="utf-8")
        for file in resources.files(__name__).iterdir()
        if file.name.endswith(".sql")
    }
    names = [name for name in ORDER if name in found]
    names += sorted(set(found) - set(names))
    return {name: read_diagnostic(name, found[name]) for name in names}


def find(name: str) -> Diagnostic:
    """The diagnostic of a name; ``-`` and ``_`` are the same, an unambiguous beginning is enough.

    Raises:
        KeyError: no diagnostic, or more than one, is meant.
    """
    wanted = name.strip().lower().replace("-", "_")
    wanted = _FORMER.get(wanted, wanted)
    known = diagnostics()
    if wanted in known:
        return known[wanted]
    meant = [key for key in known if wanted and key.startswith(wanted)]
    if len(meant) == 1:
        return known[meant[0]]
    raise KeyError(name)


def read_diagnostic(name: str, text: str, topic: str = "") -> Diagnostic:
    """A diagnostic of the text of its file; ``topic`` is the folder of its own fragments.

    Raises:
        ValueError: the text lacks its title, question, remedy or query.
    """
    header: dict[str, str] = {}
    lines = text.splitlines()
    while lines and (match := _HEADER.fullmatch(lines[0])):
        header[match[1]] = match[2].strip()
        del lines[0]
    sql = with_fragments("\n".join(lines).strip(), topic, turns=_TURNS)
    sql = _CHOICE.sub(_choice, sql)
    if set(header) != {"title", "question", "remedy"} or not sql:
        raise ValueError(f"diagnostics/{name}.sql lacks its title, question, remedy or query")
    return Diagnostic(name, header["title"], header["question"], header["remedy"], sql)


def _choice(found: re.Match[str]) -> str:
    """The condition in a column's name, indented as what it stands in."""
    indent, word, column = found.groups()
    following = f"\n{indent}{'    ' * (word == 'WHERE')}AND "
    return f"{indent}{word} " + following.join(_CHOSEN).replace("AT ", f"{column} ")
