"""The tables and views of a store, for whoever writes SQL of their own."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import migrations
from turnspan_records.access.questions import ask
from turnspan_records.sandbox.functions import functions

_TOLD = 160
"""Characters of what is said of a function."""
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@dataclass(frozen=True, slots=True)
class ColumnOf:
    """A column."""

    name: str
    type: str
    comment: str


@dataclass(frozen=True, slots=True)
class TableOf:
    """A table or a view, and what a row of it is."""

    name: str
    about: str
    columns: list[ColumnOf]


def schema(store: Store) -> list[TableOf]:
    """Every table and view of the store, by name. Raises ``StoreError`` as ``Store.query``."""
    found: dict[str, list[ColumnOf]] = {}
    rows = ask(store, "schema/columns", {"final": 0}, database=store.database).rows
    for table, name, kind, comment in rows:
        found.setdefault(str(table), []).append(ColumnOf(str(name), str(kind), str(comment)))
    about = _about()
    return [TableOf(name, about.get(name, ""), columns) for name, columns in found.items()]


def _about() -> dict[str, str]:
    """How the file of each table and view begins: the comment before its statement."""
    found: dict[str, str] = {}
    for one in migrations():
        lines = itertools.takewhile(lambda line: line.startswith("--"), one.template.splitlines())
        found[one.name] = " ".join(line.removeprefix("--").strip() for line in lines)
    return found


@dataclass(frozen=True, slots=True)
class FunctionOf:
    """A function of the engine: how it is called, and the first sentences about it."""

    name: str
    syntax: str
    about: str


def functions_of(store: Store) -> list[FunctionOf]:
    """The functions that may be called in the sandbox, under their own names. Raises ``StoreError``
    as ``Store.query``."""
    known = functions()
    return [
        FunctionOf(str(name), str(syntax).strip(), _beginning(str(about)))
        for name, syntax, about in ask(store, "schema/functions").rows
        if known.allows(str(name))
    ]


def _beginning(text: str) -> str:
    plain = _LINK.sub(r"\1", text.strip().partition("\n\n")[0]).replace("`", "")
    paragraph = " ".join(plain.split())
    return paragraph if len(paragraph) <= _TOLD else f"{paragraph[:_TOLD].rstrip()} …"
