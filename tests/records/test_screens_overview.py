"""The overview's figures: those of the diagnostics and of plain SQL."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from decimal import Decimal
from typing import Any

import pytest

from support.cluster import Cluster
from support.landing import insert
from support.representatives import few
from support.rows import PROJECT, T0, call, turn
from turnspan_clickhouse.rows.tables import RunningCall
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access.fields import utc as moment
from turnspan_records.access.questions import shown_sql
from turnspan_records.access.window import Window
from turnspan_records.diagnostics import diagnostics
from turnspan_records.sandbox import Sandbox
from turnspan_records.screens.errors import error_shapes
from turnspan_records.screens.facets import facets, histogram
from turnspan_records.screens.inventory import arrivals
from turnspan_records.screens.overview import ends, look_at, trend
from turnspan_records.screens.turns import turns_page
from turnspan_records.sessions import sessions, turns
from turnspan_records.turn_filters import LOOKS, TurnListFilter, turn_filter

DAY = 86_400


@pytest.fixture(scope="module")
def filled(module_store: Store) -> Iterator[Store]:
    """Ten days of turns, which end worse and cost more in the second half."""
    insert(
        module_store,
        *(
            turn(f"t{at:03d}", at * 7_200, agent_name="a", duration=float(at),
                 tool_call_count=at % 3, tool_error_count=at % 2,
                 stop_reason="max_tokens" if at % 4 == 0 and at > 60 else "completed",
                 cost_usd=Decimal(at) / 100, input_tokens=10, cache_read_tokens=4,
                 output_tokens=2, user_message="Hi", response_text="Hi.")
            for at in range(120)
        ),
        turn("p1", 9 * DAY, rounds=2, stop_reason="tool_failure", agent_name="wiki"),
        turn("p2", 9 * DAY, rounds=1, stop_reason="error:TimeoutError", agent_name="wiki"),
        turn("l1", 9 * DAY, max_identical_tool_streak=4, response_text="x"),
        turn("l2", 9 * DAY, stop_reason="loop_detected:search"),
        turn("s1", 9 * DAY, user_message="Hello?", response_text=" "),
        turn("s2", 9 * DAY, stop_reason="empty_no_tools"),
        turn("u1", 9 * DAY, status="running", stop_reason=""),
        turn("u2", 9 * DAY, status="interrupted", stop_reason=""),
        *(call(f"c{at}", 9 * DAY, time_to_first_chunk=at / 10) for at in range(20)),
        call("whole", 9 * DAY),
    )  # fmt: skip
    yield module_store


def window(since: float, until: float) -> Window:
    """Between two days after T0."""
    return Window(*(moment(T0 + int(day * DAY * 10**9)) for day in (since, until)))


WANTED = TurnListFilter(PROJECT)
HALF = TurnListFilter(PROJECT, window(5, 10))


@pytest.mark.parametrize("wanted", [WANTED, HALF])
def test_ends_are_those_of_the_diagnostic(filled: Store, wanted: TurnListFilter) -> None:
    """The same reasons, counts and shares, in the same order."""
    expected = diagnostics()["how_turns_end"].run(
        filled, project=PROJECT, window=wanted.window, limit=100
    )
    told = ends(filled, wanted)
    assert [(one.end, one.turns) for one in told.ends] == [
        (row["stop_reason"], row["turns"]) for row in expected.dicts()
    ]
    for one, row in zip(told.ends, expected.dicts(), strict=True):
        assert (one.share is None) == (row["share"] is None)
        assert one.share is None or math.isclose(one.share, row["share"])


def test_the_period_before_is_as_long(filled: Store) -> None:
    """Where there is one: a window that is open has none."""
    assert {one.before for one in ends(filled, WANTED).ends} == {None}
    assert trend(filled, WANTED).before is None
    earlier = TurnListFilter(PROJECT, window(0, 5))
    counted = {one.end: one.turns for one in ends(filled, earlier).ends}
    assert {one.end: one.before for one in ends(filled, HALF).ends} == {
        one.end: counted.get(one.end, 0) for one in ends(filled, HALF).ends
    }
    assert trend(filled, HALF).before == trend(filled, earlier).total


@pytest.mark.parametrize("wanted", [WANTED, HALF])
def test_the_stretches_add_up(filled: Store, wanted: TurnListFilter) -> None:
    """To the figures of the whole, which are those of SQL."""
    told = trend(filled, wanted)
    for name in ("turns", "completed", "problems", "tools", "failed_tools", "input_tokens",
                 "cached_tokens", "output_tokens"):  # fmt: skip
        stretches = [asdict(one.figures)[name] or 0 for one in told.buckets]
        assert sum(stretches) == asdict(told.total)[name], name
    assert told.total.cost_usd is not None
    parts = [one.figures.cost_usd or 0 for one in told.buckets]
    assert math.isclose(sum(parts), told.total.cost_usd)
    counted = {one.end: sum(one.turns) for one in told.ends}
    assert counted == {one.end: one.turns for one in ends(filled, wanted).ends}
    assert list(counted)[-1] == "running"
    assert counted["completed"] == told.total.completed
    for one in told.ends:
        assert len(one.turns) == len(told.buckets)
    assert [sum(turns) for turns in zip(*(one.turns for one in told.ends), strict=True)] == [
        one.figures.turns for one in told.buckets
    ]
    assert told.width_seconds == DAY
    assert len(told.first_token_p95) == len(told.buckets)
    assert [wait for wait in told.first_token_p95 if wait is not None] == pytest.approx([1.9])
    [row] = filled.query(
        "SELECT count(), quantileExactIf(0.95)(duration, status != 'running') FROM turn_summary"
        " WHERE start_time >= {since:DateTime64(9)} AND start_time < {until:DateTime64(9)}",
        {key: wanted.parameters[key] for key in ("since", "until")},
    ).rows
    assert (told.total.turns, told.total.p95_seconds) == tuple(row)


def every_number_is_that_of_its_list(store: Store, wanted: TurnListFilter) -> None:
    """What a number leads to has so many rows."""

    def listed(filter_: str, stretch: Window = wanted.window) -> int:
        of = {"project": wanted.project, "filter": filter_}
        return len(turns(store, **of, window=stretch, limit=1_000).rows)

    told = trend(store, wanted)
    found = {"": told.total.turns, "stop:completed": told.total.completed}
    found |= {f"stop:{one.end}": one.turns for one in ends(store, wanted).ends}
    found |= {f"look:{one.name}": one.turns for one in look_at(store, wanted).found}
    assert found == {filter_: listed(filter_) for filter_ in found}
    by_end = {name: turns for name, turns in found.items() if name[:5] == "stop:" and turns}
    [facet] = facets(store, wanted, names=["stop"]).facets
    assert {f"stop:{one.value}": one.turns for one in facet.values} == by_end
    assert histogram(store, wanted).turns == told.total.turns
    for at, bucket in enumerate(told.buckets):
        parts = {f"stop:{one.end}": one.turns[at] for one in told.ends if one.turns[at]}
        stretch = Window(bucket.since, bucket.until)
        assert bucket.figures.turns == listed("", stretch) == sum(parts.values())
        assert parts == {filter_: listed(filter_, stretch) for filter_ in parts}

    def diagnosed(name: str) -> list[dict[str, Any]]:
        of = diagnostics()[name]
        return of.run(store, project=wanted.project, window=wanted.window, limit=1_000).dicts()

    rows = diagnosed("how_turns_end")
    assert {f"stop:{row['stop_reason']}": row["turns"] for row in rows} == by_end
    assert len(diagnosed("early_stops")) == found.get("look:early", 0)
    assert len(diagnosed("unfinished_turns")) == found["look:running"] + found["look:interrupted"]


def begun(project: str, session: str, status: str) -> RunningCall:
    """The first call of a turn that nothing decorates."""
    at, id_ = T0 + 9 * DAY * 10**9, f"{session} {status}"
    return RunningCall(
        project=project, session_id=session, turn_id=f"turn {id_}", trace_id=f"trace {id_}",
        span_id=id_, start_time=at, status=status, writer="w", written_at=at,
    )  # fmt: skip


@pytest.mark.parametrize(
    "wanted",
    few([HALF, TurnListFilter(), TurnListFilter("other")], [HALF]),
)
def test_every_number_is_that_of_its_list(filled: Store, wanted: TurnListFilter) -> None:
    """Turns of which only a call is stored are counted where they are listed."""
    insert(
        filled,
        *(
            begun(project, "s", status)
            for project in ("other", "third")
            for status in ("running", "interrupted")
        ),
    )
    every_number_is_that_of_its_list(filled, wanted)


@pytest.mark.release
def test_every_number_is_that_of_its_list_on_a_cluster(cluster: Cluster) -> None:
    """On whichever shard its turns lie. A call without an answer counts under the model that
    answered on another."""
    cluster.migrate("kept")
    with open_store(cluster.dsn("kept")) as store:
        for session in "abcd":
            insert(
                store,
                turn(f"over {session}", DAY, session_id=session),
                *(begun(PROJECT, session, status) for status in ("running", "interrupted")),
            )
        for wanted in (WANTED, TurnListFilter(), HALF):
            every_number_is_that_of_its_list(store, wanted)
        assert arrivals(store).running == 4
        assert len(sessions(store, limit=10).rows) == 4
        failed = {"request_model": "m", "error_type": "Timeout", "turn_id": "over a"}
        insert(
            store,
            *(call(f"failed {of}", DAY, session_id=of, **failed) for of in "abcd"),
            *(call(f"answered {of}", DAY + 1, session_id=of, request_model="m",
                   response_model="m-1") for of in "ab"),
        )  # fmt: skip
        [shape] = error_shapes(store).shapes
        assert (shape.name, shape.times, shape.of, shape.turns) == ("m-1", 4, 6, 1)


def test_nothing_is_nothing(filled: Store) -> None:
    """No figure of no turns is 0 but their number."""
    assert trend(filled, HALF).first_token_p95_seconds == pytest.approx(1.9)
    told = trend(filled, TurnListFilter("nobody"))
    assert told.first_token_p95_seconds is None
    assert told.buckets == []
    assert (told.total.turns, told.total.cost_usd, told.total.p50_seconds) == (0, None, None)
    assert ends(filled, TurnListFilter("nobody")).ends == []
    assert look_at(filled, TurnListFilter("nobody")).found == []


def test_what_to_look_at_is_what_diagnostics_find(filled: Store) -> None:
    """And what a filter of its name lists."""
    found = {one.name: one.turns for one in look_at(filled, WANTED).found}
    assert set(found) == set(LOOKS)
    for name, diagnostic in (
        ("early", "early_stops"),
        ("loops", "loops"),
        ("silent", "silent_turns"),
    ):
        rows = diagnostics()[diagnostic].run(filled, project=PROJECT, limit=100).dicts()
        listed = turns_page(
            filled, TurnListFilter(PROJECT, filter=turn_filter(f"look:{name}"))
        ).turns
        assert sorted(one.turn for one in listed) == sorted(row["turn"] for row in rows), name
        assert len(rows) == found[name]
    assert (found["running"], found["interrupted"]) == (1, 1)


def test_the_sql_that_is_shown_gives_the_panel(filled: Store) -> None:
    """Run as a person would, in the sandbox."""
    with Sandbox(filled) as sandbox:
        told = ends(filled, HALF)
        assert [tuple(row) for row in sandbox.query(told.sql).rows] == [
            (one.end, one.turns) for one in told.ends
        ]
        over_time = trend(filled, HALF)
        rows = sandbox.query(over_time.sql).dicts()
        assert [row["turns"] for row in rows] == [
            one.figures.turns for one in over_time.buckets if one.figures.turns
        ]
        looks = look_at(filled, HALF)
        assert [(row[0], row[1]) for row in sandbox.query(looks.sql).rows] == [
            (one.name, one.turns) for one in looks.found
        ]


def test_values_are_quoted_where_they_are_shown() -> None:
    """Whatever they hold: what is read back is the value."""
    sql = "SELECT {a:String}, {b:Array(String)}, {c:UInt32}, {d:Bool}, {e:DateTime64(9, 'UTC')}"
    values = {"a": "it's \\ {c:UInt32}", "b": ["x'", "y"], "c": 3, "d": True, "e": "2026-01-01"}
    assert shown_sql(sql, values) == (
        "SELECT 'it\\'s \\\\ {c:UInt32}', ['x\\'', 'y'], 3, true,"
        " toDateTime64('2026-01-01', 9, 'UTC')"
    )


def test_the_costs_by_model_add_up(store: Store) -> None:
    """To the cost of each stretch; seven are told apart, several of one turn are one of them."""
    models = [["gpt-4o"], ["claude"], ["gpt-4o", "claude"], ["claude", "gpt-4o"], []]
    models += [[name] for name in "defg"]
    insert(
        store,
        *(
            turn(f"m{day}{at}", day * DAY, models=used, cost_usd=Decimal(10 - at) / 8)
            for day in (0, 3)
            for at, used in enumerate(models)
        ),
        turn("unknown", DAY, models=["gpt-4o"], cost_usd=None),
    )
    told = trend(store, WANTED)
    assert [one.models for one in told.models] == [
        "claude + gpt-4o", "gpt-4o", "claude", "", "d", "e", "f", None
    ]  # fmt: skip
    for at, bucket in enumerate(told.buckets):
        costs = [one.costs[at] for one in told.models]
        assert bucket.figures.cost_usd == (
            None if set(costs) == {None} else sum(filter(None, costs))
        )
    assert [one.costs[0] for one in told.models] == [
        1.875,
        1.25,
        1.125,
        0.75,
        0.625,
        0.5,
        0.375,
        0.25,
    ]
    with Sandbox(store) as sandbox:
        rows = sandbox.query(told.models_sql).rows
    assert {(used, float(cost)) for _, used, cost in rows} >= {("e", 0.5), ("gpt-4o", 1.25)}
