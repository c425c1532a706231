"""The policy of retention: what goes when, as a TOML file says it."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, get_args

from turnspan_clickhouse.files.toml_file import read_toml
from turnspan_clickhouse.store.dsn import data_folder
from turnspan_records.keeping.errors import PolicyError

Texts: TypeAlias = Literal["keep", "remove"]

TABLES: Final = (
    *("llm_call", "tool_call", "context_assembly", "context_item", "span", "artifact"),
    *("consortium", "consortium_iteration", "consortium_member", "llm_call_running"),
)
"""The tables whose rows retention takes; messages and definitions go with the last row of these."""
TTL_TABLES: Final = (
    *("llm_call", "turn_summary", "tool_call", "context_assembly", "context_item"),
    *("span", "message", "consortium", "consortium_iteration", "consortium_member"),
    "llm_call_running",
)
_MOST_DAYS: Final = 36_500


@dataclass(frozen=True, slots=True)
class Policy:
    """What retention takes, and when. ``archive`` is the folder that archives are made in."""

    window_days: float = 90.0
    summary_texts: Texts = "keep"
    content_days: float = 7.0
    tables: tuple[str, ...] = TABLES
    archive: Path | None = None
    ttl: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        """Raises ``PolicyError`` where something is not possible, or would lose what is flagged."""
        _number("window_days", self.window_days)
        _number("content_days", self.content_days)
        if self.summary_texts not in get_args(Texts):
            raise PolicyError(f'summary_texts is {self.summary_texts!r}: write "keep" or "remove".')
        for table in self.tables:
            _known(table, TABLES, "tables")
        for table, days in self.ttl.items():
            _known(table, TTL_TABLES, "ttl")
            _ttl(table, days, self.window_days)
        calls, messages = self.ttl.get("llm_call", 0), self.ttl.get("message", 0)
        if messages and (not calls or messages < calls):
            raise PolicyError(
                f"ttl.message is {messages} days, and the calls that read messages live "
                f"{f'{calls} days' if calls else 'without an end'}: give messages as many days "
                "more as a session may last."
            )

    @property
    def folder(self) -> Path:
        """Where archives are made."""
        return self.archive or data_folder() / "archives"

    def as_toml(self) -> str:
        """The policy as a file says it, with what each key means."""
        tables = ", ".join(f'"{table}"' for table in self.tables)
        ttl = "".join(f"{table} = {days}\n" for table, days in self.ttl.items())
        archive = str(self.folder).replace("\\", "\\\\").replace('"', '\\"')
        return _AS_TOML.format(
            window=f"{self.window_days:g}",
            texts=self.summary_texts,
            content=f"{self.content_days:g}",
            tables=tables,
            archive=archive,
            ttl=ttl or _NO_TTL,
        )


_AS_TOML: Final = """\
# Unflagged turns are deleted this many days after they start. The next pass archives and deletes
# turns flagged 1, and deletes turns flagged -1.
window_days = {window}

# Turn summaries stay. With "remove" they lose the user's message, the answer, error messages and
# the stop detail when their turn is deleted; else "keep".
summary_texts = "{texts}"

# Messages and definitions that no record refers to are deleted after this many days.
content_days = {content}

# Tables whose rows are deleted with their turn.
tables = [{tables}]

# The folder for archives.
archive = "{archive}"

# Days after which ClickHouse deletes a table's rows, flagged or not; 0 removes the TTL. Tables not
# named keep theirs.
[ttl]
{ttl}"""
_NO_TTL: Final = "# llm_call = 365\n"


def read_policy(path: Path) -> Policy:
    """The policy of a file. A relative ``archive`` is one beside it.

    Raises:
        PolicyError: it cannot be read, or says what is not understood.
    """
    try:
        said = read_toml(path)
    except ValueError as error:
        raise PolicyError(f"The policy {error}.") from None
    try:
        return policy_of(said, path.absolute().parent)
    except PolicyError as error:
        raise PolicyError(f"The policy {path}: {error}") from None


def policy_of(said: Mapping[str, Any], beside: Path) -> Policy:
    """The policy of what a file says. Raises ``PolicyError``."""
    known = {"window_days", "summary_texts", "content_days", "tables", "archive", "ttl"}
    for key in said:
        _known(key, sorted(known), "")
    values: dict[str, Any] = dict(said)
    if "tables" in values:
        values["tables"] = tuple(_texts(values["tables"]))
    if "archive" in values:
        values["archive"] = _path(values["archive"], beside)
    if "ttl" in values and not isinstance(values["ttl"], dict):
        raise PolicyError("ttl is a table: write [ttl], and below it llm_call = 365.")
    return Policy(**values)


def _texts(value: Any) -> list[str]:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):  # pyright: ignore[reportUnknownVariableType]
        return list(value)  # pyright: ignore[reportUnknownArgumentType]
    raise PolicyError(f"tables is {value!r}: write a list of names.")


def _path(value: Any, beside: Path) -> Path:
    if not isinstance(value, str) or not value:
        raise PolicyError(f"archive is {value!r}: write the name of a folder.")
    try:
        return beside / Path(value).expanduser()
    except RuntimeError:
        raise PolicyError(f"archive is {value!r}: the home folder is not known.") from None


def _known(name: str, names: Sequence[str], where: str) -> None:
    if name in names:
        return
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names)}."
    raise PolicyError(f"{name!r} is no {'table for ' + where if where else 'key'}: {hint}")


def _number(key: str, value: Any) -> None:
    fine = isinstance(value, int | float) and not isinstance(value, bool)
    if not fine or not math.isfinite(value) or not 0 <= value <= _MOST_DAYS:
        raise PolicyError(f"{key} is {value!r}: write a number of days from 0 to {_MOST_DAYS}.")


def _ttl(table: str, days: Any, window: float) -> None:
    if not isinstance(days, int) or isinstance(days, bool) or not 0 <= days <= _MOST_DAYS:
        raise PolicyError(f"ttl.{table} is {days!r}: write whole days from 0 to {_MOST_DAYS}.")
    if 0 < days < window:
        raise PolicyError(
            f"ttl.{table} is {days} days, fewer than the {window:g} of window_days: rows "
            "would be deleted before they can be flagged and archived."
        )
