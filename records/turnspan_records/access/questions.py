"""Asking a store one of the questions in ``turnspan_records.sql``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.sql import statement


def ask(
    store: Store, name: str, settings: Mapping[str, Any] | None = None, /, **parameters: object
) -> Result:
    """What a store answers to the question of this name. Raises as ``Store.query``."""
    return store.query(statement(name), parameters, settings)


def ask_row(store: Store, name: str, key: str, /, **parameters: object) -> dict[str, Any]:
    """The first row of an answer.

    Raises:
        KeyError: there is none; ``key`` is the record that was asked for.
        StoreError: as ``Store.query``.
    """
    rows = ask(store, name, **parameters).dicts()
    if not rows:
        raise KeyError(key)
    return rows[0]


def shown(name: str, /, **parameters: object) -> str:
    """The SQL of a question, for a person to read and run."""
    return shown_sql(statement(name), parameters)


_PARAMETER = re.compile(r"\{(\w+):((?:[^{}'()]|\([^{}]*\))+)\}")
_NUMBER = re.compile(r"U?Int\d+|Float\d+")


def shown_sql(sql: str, parameters: Mapping[str, object]) -> str:
    """The SQL with literals. It is shown, and run only in the sandbox, as what a person wrote."""
    return _PARAMETER.sub(lambda found: _literal(parameters[found[1]], found[2]), sql).strip()


def _literal(value: object, kind: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if _NUMBER.fullmatch(kind):
        return str(value)
    if kind.startswith("Array"):
        texts = cast("Sequence[object]", value)
        return f"[{', '.join(_quoted(str(one)) for one in texts)}]"
    if kind.startswith("DateTime64"):
        return f"toDateTime64({_quoted(str(value))}, 9, 'UTC')"
    return _quoted(str(value))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
