"""Consortium runs as typed records, and what their ids mean."""

from __future__ import annotations

from decimal import Decimal

import pytest

from support.consortium_rows import JURY, QUIET, asked, consortium_rows, made
from support.landing import insert
from support.rows import PROJECT, T0
from turnspan import semconv
from turnspan_clickhouse.rows import consortium_tables as tables
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.store.client import Store
from turnspan_records import window
from turnspan_records.consortium.run_detail import consortium_run, consortium_runs
from turnspan_records.detail import detail
from turnspan_records.lookup import find


@pytest.fixture
def filled(store: Store) -> Store:
    insert(store, *consortium_rows())
    return store


def test_a_run_whole(filled: Store) -> None:
    """Each call with whom it is of; the answer that was said goes before that of a call."""
    run = consortium_run(filled, PROJECT, JURY)

    assert (run.prompt, run.final_text, run.status) == ("Which?", "The second.", "finished")
    assert (run.cost_usd, run.other_calls) == (Decimal("0.008"), ["c000000000000009"])
    first, second = run.iterations
    assert [(one.label, one.answer, one.error_type) for one in first.members] == [
        ("m-a", "wxyz", ""), ("m-b", "abcd", ""), ("m-c", "", "Timeout"),
    ]  # fmt: skip
    assert [(one.label, one.answer, len(one.calls)) for one in second.members] == [
        ("m-a", " abcd ", 2), ("m-b#2", "abcd", 1),
    ]  # fmt: skip
    members = [one for iteration in run.iterations for one in iteration.members]
    assert [one.label for one in members if one.won] == ["m-b#2"]
    assert first.decision is not None
    assert (first.decision.model, first.decision.needs_iteration) == ("judge", True)
    assert second.decision is not None
    assert (second.decision.model, second.decision.ranking) == ("judge-2", ["m-b#2", "m-a"])
    assert second.decision.input_tokens == 10
    with pytest.raises(KeyError):
        consortium_run(filled, "other", JURY)


def test_a_run_that_was_cut_short(store: Store) -> None:
    """Whose members never ended: their calls say who was asked. A member may be a run itself."""
    insert(
        store,
        made(tables.Consortium, JURY, status="running", started_at=T0),
        made(tables.Consortium, QUIET, started_at=T0, outer_id=JURY, outer_member="m"),
        asked("1", "m", 1, response_text="so far", response_model="gpt-4o-2024"),
        asked("2", "a", 2, consortium_role=1,
              attributes=EncodedMap.of({semconv.CONSORTIUM_MEMBER: "a",
                                        semconv.CONSORTIUM_ITERATION: "1"})),
    )  # fmt: skip
    run = consortium_run(store, PROJECT, JURY)

    members = [one for iteration in run.iterations for one in iteration.members]
    assert [(one.label, one.answer, one.inner_run) for one in members] == [
        ("gpt-4o-2024", "so far", QUIET)
    ]
    assert run.iterations[1].decisions[0].calls == ["2"]
    assert consortium_run(store, PROJECT, QUIET).outer_id == JURY


def test_the_list(filled: Store) -> None:
    """Those that began in the window, with runs of which there are calls alone."""
    insert(filled, asked("z", "x", 200, consortium_id="alone"))

    def ids(**given: object) -> list[str]:
        found = consortium_runs(filled, **given)  # type: ignore[arg-type]
        return [str(row["run"]) for row in found.dicts()]

    assert ids() == ["alone", QUIET, JURY]
    assert ids(limit=1) == ["alone"]
    assert ids(project="other") == []
    assert ids(window=window(until="2026-09-21T14:14")) == [JURY]
    assert ids(window=window(since="2026-09-21T14:14", until="2026-09-21T14:15")) == [QUIET]


def test_an_id_means_a_run(filled: Store) -> None:
    """Once, also where several tables have it; with the session that it is of."""
    insert(filled, asked("z", "x", 200, consortium_id="3cAlone"))
    for given, whole, session in ((JURY, JURY, "s1"), (JURY[:7], JURY, "s1"),
                                  (QUIET[:9], QUIET, ""), ("3cAlon", "3cAlone", "")):  # fmt: skip
        (found,) = find(filled, given)
        assert (found.kind, found.id, found.session_id) == ("consortium", whole, session)
    shown = detail(filled, find(filled, JURY)[0])
    assert shown.facts["winner"] == "m-b#2"
    assert shown.texts == {"prompt": "Which?", "final_text": "The second."}
    assert [len(table.rows) for table in shown.tables.values()] == [5, 2, 9]
