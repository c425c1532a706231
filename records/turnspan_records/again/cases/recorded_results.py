"""Finished attempts as the store has them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import dollars, of_row, utc
from turnspan_records.access.questions import ask
from turnspan_records.again.cases.scores import CaseResult, UsedTool, parsed


def recorded_results(
    store: Store, project: str, lineage_id: str, attempt_ids: Sequence[str] = ()
) -> list[CaseResult]:
    """The attempts of a lineage that succeeded or failed, oldest first: those with these ids, or
    all. Attempts that were interrupted are none.

    Raises ``StoreError`` as ``Store.query``.
    """
    of: dict[str, Any] = {"project": project, "lineage": lineage_id, "ids": list(attempt_ids)}
    rows = ask(store, "cases/attempts", **of).dicts()
    if not rows:
        return []
    of["ids"] = [str(row["attempt_id"]) for row in rows]
    of["since"] = _time(utc(rows[0]["started_at"]))
    calls = {row["attempt_id"]: row for row in ask(store, "cases/calls", **of).dicts()}
    ends = {row["attempt_id"]: row for row in ask(store, "cases/ends", **of).dicts()}
    scores: dict[str, dict[str, float | None]] = {}
    for id_, scorer, score in ask(store, "cases/scores", **of).rows:
        value = None if score is None else float(score)
        scores.setdefault(str(id_), {})[str(scorer)] = value
    traces = [str(row["trace_id"]) for row in rows if row["trace_id"]]
    tools: dict[str, list[UsedTool]] = {}
    for row in ask(store, "cases/tools", **of, traces=traces).dicts():
        used = UsedTool(str(row["name"]), parsed(str(row["arguments"])), bool(row["failed"]))
        tools.setdefault(str(row["trace_id"]), []).append(used)
    results: list[CaseResult] = []
    for row in rows:
        id_ = row["attempt_id"]
        whole = row | calls.get(id_, {}) | ends.get(id_, {})
        used_by_it = tuple(tools.get(str(row["trace_id"]), ()))
        own = {"scores": scores.get(id_, {}), "cost_usd": dollars(whole.get("cost_usd"))}
        results.append(of_row(CaseResult, whole, tools=used_by_it, **own))
    return results


def spent(store: Store, project: str, lineage_id: str, since: datetime) -> float:
    """The known cost, in dollars, of a lineage's calls that began since.

    Raises ``StoreError`` as ``Store.query``."""
    of = {"project": project, "lineage": lineage_id, "since": _time(since)}
    return dollars(ask(store, "cases/cost", **of).rows[0][0]) or 0.0


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"
