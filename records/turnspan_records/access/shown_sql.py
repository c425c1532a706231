"""A question's SQL as somebody may read, change and run it: with the values in their places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast

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
