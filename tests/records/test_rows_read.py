"""How much of a store a list, its facets and a search read: rows of the store, not seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.screens.facets import facets, histogram
from turnspan_records.screens.turns import sessions_page, turns_page
from turnspan_records.sessions import list_rows
from turnspan_records.turn_filters import TurnListFilter, turn_filter

TURNS, WEEKS = 60_000, 20
WEEK = TURNS // WEEKS
FILL = f"""
INSERT INTO turn_summary (project, session_id, turn_id, trace_id, span_id, user_id, agent_name,
    start_time, status, stop_reason, user_message, cost_usd, written_at)
SELECT 'shop', concat('s', toString(intDiv(number, 4))), lower(hex(sipHash64(number))),
    lower(hex(sipHash128(number))), lower(hex(sipHash64(number))),
    concat('user', toString(number % 500)), concat('agent', toString(number % 7)),
    toDateTime64('2026-01-05 00:00:00', 9, 'UTC')
        + toIntervalSecond(intDiv(number * {WEEKS} * 604800, {TURNS})),
    'final', 'completed', 'what was said', toDecimal64(sipHash64(number) % 1000 / 1000, 12),
    now64(9)
FROM numbers({TURNS})
"""


@pytest.fixture
def filled(server_dsn: Dsn) -> Iterator[Store]:
    """Turns of 20 weeks, three thousand a week, on a server, which counts what it reads; no
    judgment, no tool."""
    with open_store(server_dsn) as store:
        migrate(store)
        store.command(FILL)
        yield store


def test_lists_read_what_they_show(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest are read of their weeks, also those that match a filter; another order reads what
    it is of from all turns, and the parts of the table with what is shown. Judgments that are
    nowhere are looked for in no turn."""
    monkeypatch.setitem(list_rows.__globals__, "_FEW", 0)
    query = filled.client.query
    counts: list[int] = []

    def counted(*args: Any, settings: dict[str, Any], **kwargs: Any) -> Any:
        result = query(*args, settings={**settings, "wait_end_of_query": 1}, **kwargs)
        counts.append(int(result.summary["read_rows"]))
        return result

    monkeypatch.setattr(filled.client, "query", counted)
    every = TurnListFilter()
    of_agent, of_user, of_none = (
        TurnListFilter(filter=turn_filter(text))
        for text in ("agent:agent3", "user:user7", "user:nobody")
    )
    page, cheap = (turns_page(filled, every, sort=sort, limit=20) for sort in ("", "cost"))
    session = sessions_page(filled, every, limit=20)
    # Of the two weeks of the last seven days: which they are, then they; and what says so.
    both = 4 * WEEK + 50
    for answer, most in (
        (lambda: turns_page(filled, every, limit=20), both),
        (lambda: turns_page(filled, every, after=page.next, limit=20), both),
        (lambda: turns_page(filled, of_agent, limit=20), both),
        (lambda: turns_page(filled, of_user, limit=20), both + 2 * 7 * WEEK),
        (lambda: turns_page(filled, of_user, limit=100), both + 3 * TURNS),
        (lambda: turns_page(filled, of_none, limit=20), both + 17 * WEEK + TURNS),
        (lambda: turns_page(filled, every, sort="cost", limit=20), 2 * TURNS),
        (lambda: turns_page(filled, every, sort="cost", after=cheap.next, limit=20), 2 * TURNS),
        (lambda: sessions_page(filled, every, limit=20), both),
        (lambda: sessions_page(filled, every, after=session.next, limit=20), both),
        (lambda: sessions_page(filled, every, sort="-cost", limit=20), 2 * TURNS),
        (lambda: facets(filled, every, names=("outcome",)), 0),
        (lambda: facets(filled, every, names=("agent", "outcome", "stop")), TURNS),
        (lambda: histogram(filled, every), 2 * TURNS),
    ):
        counts.clear()
        answer()
        assert sum(counts) <= most, (most, counts)
