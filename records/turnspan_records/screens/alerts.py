"""A question asked again and again: what its answer says that is too much, or too little."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Final

import orjson

from turnspan_clickhouse.store.client import Result
from turnspan_records.access.window import Window, window_parameters

MOST_ROWS: Final = 1_000
"""Rows of a diagnostic's answer that are looked at."""
_TEXT: Final = re.compile(r"(LowCardinality\()?(Nullable\()?(String|UUID|Enum|FixedString|Bool)")
_NUMBER: Final = re.compile(r"(LowCardinality\()?(Nullable\()?(U?Int|Float|Decimal|BFloat)")
_PARAMETER: Final = re.compile(r"\{(\w+):[^{}]+\}")


@dataclass(frozen=True, slots=True)
class Condition:
    """When a value is worth telling; one of the two bounds."""

    above: float | None = None
    below: float | None = None

    def holds(self, value: float) -> bool:
        """Whether a value is beyond the bound."""
        return (self.above is not None and value > self.above) or (
            self.below is not None and value < self.below
        )

    def __str__(self) -> str:
        return f"> {self.above:g}" if self.above is not None else f"< {self.below:g}"


@dataclass(frozen=True, slots=True)
class Watched:
    """What is looked at in an answer: the value of a column in each row, or the number of rows."""

    column: str
    """Empty: the number of rows."""
    by: tuple[str, ...]
    """The columns that say what a row is about."""

    def values(self, result: Result) -> dict[tuple[str, ...], float]:
        """The value of each thing that the rows are about; of several rows the largest."""
        if not self.column:
            return {(): float(len(result.rows))}
        if not result.rows:
            return {}
        found: dict[tuple[str, ...], float] = {}
        at = result.names.index(self.column)
        places = [result.names.index(name) for name in self.by]
        for row in result.rows:
            value = row[at]
            if value is None or isinstance(value, str):
                continue
            key = tuple(str(row[place]) for place in places)
            found[key] = max(float(value), found.get(key, float("-inf")))
        return found


def watched(result: Result, column: str = "", by: Sequence[str] = ()) -> Watched:
    """What to look at: the column that is named, else the only number, else the number of rows.

    Without ``by`` a row is about the texts before its first number.

    Raises:
        ValueError: there is no such column, or it holds no numbers; the message names those there
            are.
    """
    if not result.names:  # the engine names no columns of an answer without rows
        return Watched(column, tuple(by))
    names = dict(zip(result.names, result.types, strict=True))
    numbers = [name for name, kind in names.items() if _NUMBER.match(kind)]
    for name in by:
        if name not in names:
            raise ValueError(f"there is no column {name!r}: the answer has {', '.join(names)}")
    if column and column not in numbers:
        raise ValueError(
            f"there is no column of numbers {column!r}: the answer has {', '.join(numbers)}"
        )
    others = [name for name in names if name not in numbers]
    if not column and len(numbers) == 1 and all(_TEXT.match(names[name]) for name in others):
        column = numbers[0]
    if not column:
        return Watched("", ())
    if not by:
        before = list(names)[: list(names).index(numbers[0])]
        by = [name for name in before if _TEXT.match(names[name])]
    return Watched(column, tuple(by))


def asked(project: str, period: timedelta | None) -> dict[str, object]:
    """The parameters of the question now."""
    since = None if period is None else Window(datetime.now(timezone.utc) - period)
    return window_parameters(project, since, limit=MOST_ROWS)


def grafana_rules(
    title: str,
    sql: str,
    watched: Watched,
    condition: Condition,
    *,
    every: timedelta,
    project: str,
    period: timedelta | None,
    uid: str,
) -> dict[str, Any]:
    """The same question as provisioned alert rules of Grafana, over the data source ``turnspan``
    of ``deploy/grafana``.

    Raises:
        ValueError: the SQL takes a parameter that has no value here.
    """
    ago = 0 if period is None else int(period.total_seconds())
    literals: Mapping[str, str] = {
        "project": "'" + project.replace("\\", "\\\\").replace("'", "\\'") + "'",
        "since": f"toDateTime64(now() - INTERVAL {ago} SECOND, 9, 'UTC')"
        if ago
        else "toDateTime64('1970-01-01 00:00:00', 9, 'UTC')",
        "until": "toDateTime64('2200-01-01 00:00:00', 9, 'UTC')",
        "limit": str(MOST_ROWS),
    }

    def literal(found: re.Match[str]) -> str:
        if found[1] not in literals:
            raise ValueError(f"the SQL takes {{{found[1]}}}, which has no value: write it in")
        return literals[found[1]]

    inner = _PARAMETER.sub(literal, sql)
    columns = [f"toString(`{name}`) AS `{name}`" for name in watched.by]
    value = f"toFloat64(`{watched.column}`)" if watched.column else "toFloat64(count())"
    chosen = ", ".join((*columns, f"{value} AS value"))
    bound, kind = (
        (condition.above, "gt") if condition.above is not None else (condition.below, "lt")
    )
    seconds = max(60, int(every.total_seconds()))
    rule = {
        "uid": uid,
        "title": title,
        "condition": "beyond",
        "for": "0s",
        "noDataState": "OK",
        "execErrState": "Error",
        "annotations": {"summary": f"{watched.column or 'rows'} {condition}"},
        "labels": {"severity": "warning"},
        "data": [
            {
                "refId": "answer",
                "relativeTimeRange": {"from": ago or 86_400, "to": 0},
                "datasourceUid": "turnspan",
                "model": {
                    "refId": "answer",
                    "editorType": "sql",
                    "queryType": "table",
                    "format": 1,
                    "rawSql": f"SELECT {chosen} FROM ({inner}\n)",
                },
            },
            {
                "refId": "beyond",
                "datasourceUid": "__expr__",
                "model": {
                    "refId": "beyond",
                    "type": "threshold",
                    "expression": "answer",
                    "conditions": [{"evaluator": {"type": kind, "params": [bound]}}],
                },
            },
        ],
    }
    group = {
        "orgId": 1,
        "name": uid,
        "folder": "Turnspan",
        "interval": f"{seconds}s",
        "rules": [rule],
    }
    return {"apiVersion": 1, "groups": [group]}


@dataclass(frozen=True, slots=True)
class Change:
    """What has begun or ended to be beyond the bound."""

    state: str
    """``firing`` or ``resolved``."""
    labels: dict[str, str]
    value: float | None
    """``None``: there is no such row any more."""
    since: str
    """When it began, in UTC."""


def changes(
    known: Mapping[str, str],
    watched: Watched,
    condition: Condition,
    values: Mapping[tuple[str, ...], float],
) -> tuple[list[Change], dict[str, str]]:
    """What has begun and ended since ``known`` was told, and what is firing now.

    Both ``known`` and what is firing have the time (UTC) at which each began, by the JSON of its
    texts.
    """
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    current = {orjson.dumps(texts).decode(): value for texts, value in values.items()}
    firing = {key: known.get(key, now) for key in current if condition.holds(current[key])}
    begun = [("firing", key, now) for key in firing if key not in known]
    ended = [("resolved", key, since) for key, since in known.items() if key not in firing]
    made = [
        Change(state, dict(zip(watched.by, orjson.loads(key), strict=False)), current.get(key), at)
        for state, key, at in (*begun, *ended)
    ]
    return made, firing
