"""Lists in every order they can be in: pages join without a gap, and what is unknown comes last."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Final

import pytest

from support.landing import insert
from support.representatives import few
from support.rows import PROJECT, SECOND, T0, call, message, said, tool, turn
from turnspan_clickhouse.rows.tables import RunningCall
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.window import Window
from turnspan_records.sandbox import Sandbox
from turnspan_records.screens.errors import ERROR_SORTS, ErrorShape, error_shapes
from turnspan_records.screens.facets import facets, histogram
from turnspan_records.screens.inventory import arrivals
from turnspan_records.screens.turns import SessionRow, sessions_page, turns_page
from turnspan_records.sessions import SESSION_SORTS, TURN_SORTS, TurnRow, list_rows, sessions, turns
from turnspan_records.turn_filters import TurnListFilter, turn_filter

TWIN = "twin"
"""A second project with the same ids at the same times."""
HOSTILE = "\"'\\\n\x00 {f0:String} \u202e"

TURNS: Final[dict[str, Callable[[TurnRow], Any]]] = {
    "time": lambda one: one.time,
    "stop": lambda one: one.end,
    "agent": lambda one: one.agent,
    "version": lambda one: one.version,
    "user": lambda one: one.user_id,
    "session": lambda one: one.session,
    "project": lambda one: one.project,
    "service": lambda one: one.service,
    "environment": lambda one: one.environment,
    "error": lambda one: one.error_type,
    "status": lambda one: one.status,
    "turn": lambda one: one.turn,
    "cost": lambda one: one.cost_usd,
    "input": lambda one: one.input_tokens,
    "output": lambda one: one.output_tokens,
    "seconds": lambda one: None if one.status == "running" else one.duration,
    "rounds": lambda one: one.rounds,
    "calls": lambda one: one.calls,
    "tools": lambda one: one.tools,
    "failures": lambda one: one.failed_tools,
    "message": lambda one: one.user_message,
}
SESSIONS: Final[dict[str, Callable[[SessionRow], Any]]] = {
    "time": lambda one: one.time,
    "session": lambda one: one.session,
    "project": lambda one: one.project,
    "stop": lambda one: one.end,
    "turns": lambda one: one.turns,
    "calls": lambda one: one.calls,
    "tools": lambda one: one.tools,
    "failures": lambda one: one.failed_tools,
    "problems": lambda one: one.problems,
    "cost": lambda one: one.cost_usd,
    "message": lambda one: one.user_message,
}
ERRORS: Final[dict[str, Callable[[ErrorShape], Any]]] = {
    "times": lambda one: one.times,
    "rate": lambda one: one.times / one.of if one.of else None,
    "turns": lambda one: one.turns,
    "first": lambda one: one.first,
    "last": lambda one: one.last,
    "name": lambda one: one.name,
    "source": lambda one: one.source,
    "error": lambda one: one.error,
    "message": lambda one: one.shape,
}


@pytest.fixture(scope="module")
def filled(module_store: Store) -> Iterator[Store]:
    """The same in two projects: ties, thirds and tenths, running turns, unknown costs."""
    rows: list[Any] = []
    for project in (PROJECT, TWIN):
        rows += [
            turn(
                f"t{at:02d}",
                at // 2,
                project=project,
                session_id=f"s{at % 9}",
                agent_name=["", "a", HOSTILE][at % 3],
                agent_version=f"v{at % 2}",
                user_id=["", "ada"][at % 2],
                service="shop" if at % 4 else "",
                status="running" if at % 5 == 0 else "final",
                stop_reason="" if at % 5 == 0 else ["completed", "loop_detected:x"][at % 2],
                cost_usd=None if at % 4 == 0 else Decimal(at % 6) / 1000 + Decimal("1e-12"),
                input_tokens=None if at % 7 == 0 else at % 5,
                output_tokens=at % 2,
                duration=(at % 6) / 7,
                rounds=at % 3,
                tool_call_count=at % 4,
                tool_error_count=at % 2,
                user_message="" if at % 8 == 0 else f"{HOSTILE} {at % 3}",
                error_type="ValueError" if at % 6 == 0 else "",
                error_message=f"{'abc'[at % 3]} failed",
            )
            for at in range(30)
        ]
        rows += [
            tool(f"c{at:02d}", at, project=project, turn_id=f"t{at:02d}", name=f"tool{at % 5}",
                 failed=at % 3 > 0, error_type="ToolError" if at % 2 else "",
                 error_message=f"{chr(97 + at % 11)} is gone")
            for at in range(30)
        ]  # fmt: skip
        rows.append(call("l1", 3, project=project, error_type="E", error_message=HOSTILE))
    insert(module_store, *rows)
    yield module_store


def read(ask: Callable[[str], tuple[Sequence[Any], str]]) -> list[Any]:
    """All rows of a list, a page after the other."""
    rows: list[Any] = []
    after = ""
    while True:
        page, after = ask(after)
        rows += page
        if not after:
            return rows


def check(rows: list[Any], value: Callable[[Any], Any], descending: bool) -> None:
    """They are in order, and the unknown ones are last."""
    values = [value(one) for one in rows]
    known = [one for one in values if one not in (None, "")]
    if known and isinstance(known[0], str):
        ordered = sorted(known, key=lambda text: text.encode(), reverse=descending)
    else:
        ordered = sorted(known, reverse=descending)
    assert values == [*ordered, *(one for one in values if one in (None, ""))]


@pytest.mark.parametrize("way", ["", "-"])
@pytest.mark.parametrize("name", few(TURN_SORTS, ["time", "cost", "message"]))
def test_turns_in_every_order(filled: Store, name: str, way: str) -> None:
    """Each once, filtered as well; the records' function gives the same order."""
    filter_ = "rounds<2 -service:none" if way else ""
    wanted = TurnListFilter(TWIN if way else "", filter=turn_filter(filter_))

    def page(after: str) -> tuple[list[TurnRow], str]:
        found = turns_page(filled, wanted, sort=way + name, after=after, limit=7 if way else 27)
        return found.turns, found.next

    rows = read(page)
    ids = [(one.project, one.turn) for one in rows]
    assert len(set(ids)) == len(ids) == (20 if way else 60)
    if name in TURNS:
        check(rows, TURNS[name], way == "-")
    if way:
        listed = turns(filled, project=TWIN, filter=filter_, sort=way + name, limit=100)
        assert [(one["project"], one["turn"]) for one in listed.dicts()] == ids


@pytest.mark.parametrize("way", ["", "-"])
@pytest.mark.parametrize("name", few(SESSION_SORTS, ["time", "cost"]))
def test_sessions_in_every_order(filled: Store, name: str, way: str) -> None:
    """Each once, of two projects that have the same ones."""

    def page(after: str) -> tuple[list[SessionRow], str]:
        found = sessions_page(filled, TurnListFilter(), sort=way + name, after=after, limit=7)
        return found.sessions, found.next

    rows = read(page)
    ids = [(one.project, one.session) for one in rows]
    assert len(set(ids)) == len(ids) == 18
    check(rows, SESSIONS[name], way == "-")
    listed = sessions(filled, sort=way + name, limit=100)
    assert [(one["project"], one["session"]) for one in listed.dicts()] == ids


@pytest.mark.parametrize("way", ["", "-"])
@pytest.mark.parametrize("name", few(ERROR_SORTS, ["times", "rate"]))
def test_errors_in_every_order(filled: Store, name: str, way: str) -> None:
    """Each once; a share that nobody knows comes last."""

    def page(after: str) -> tuple[list[ErrorShape], str]:
        found = error_shapes(filled, sort=way + name, after=after, limit=11)
        return found.shapes, found.next

    rows = read(page)
    ids = [(one.source, one.name, one.error, one.shape) for one in rows]
    assert len(set(ids)) == len(ids) == len(error_shapes(filled, limit=500).shapes) > 20
    check(rows, ERRORS[name], way == "-")


def test_what_is_no_order_says_what_there_is(filled: Store) -> None:
    """A name that is none, and a place of another list."""
    for ask, named in ((turns, "cost, tokens"), (sessions, "turns, calls")):
        with pytest.raises(ValueError, match=f"no sort 'colour'; there are: .*{named}"):
            ask(filled, sort="-colour")
    with pytest.raises(ValueError, match="times, rate"):
        error_shapes(filled, sort="colour")
    for after in ("DROP TABLE", "[]", "[[1,2,3,4]]", '[true,1,"t","p"]', "[-1,1,2,3]", "[" * 9_999):
        with pytest.raises(ValueError, match="is no place in this list"):
            turns_page(filled, TurnListFilter(), sort="cost", after=after)


@pytest.mark.parametrize("filter_", ["", "agent:rare"])
def test_the_newest_of_many_are_looked_for_in_the_last_weeks(
    store: Store, filter_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in all of them: over empty weeks, from page to page, in a window, with turns inside."""
    week = 7 * 86_400
    rows = [
        turn(f"t{at:02d}", week * at * at // 40, session_id=f"s{at * at % 11}",
             agent_name="rare" if at % 9 == 0 else "a", trace_id=f"{at:032x}", tool_call_count=at)
        for at in range(40)
    ]  # fmt: skip
    rows += [
        turn(f"n{at:02d}", week * at * at // 40 + 1, session_id=f"s{at * at % 11}",
             parent_turn_id=f"t{at:02d}", trace_id=f"{at:032x}", tool_call_count=100)
        for at in range(0, 40, 3)
    ]  # fmt: skip
    insert(store, *rows)
    times = [datetime.fromtimestamp(rows[at].start_time / 1e9, timezone.utc) for at in (8, 33)]

    def pages(window: Window) -> list[Any]:
        wanted = TurnListFilter("", window, turn_filter(filter_))

        def of_turns(after: str) -> tuple[Sequence[Any], str]:
            page = turns_page(store, wanted, after=after, limit=4)
            return page.turns, page.next

        def of_sessions(after: str) -> tuple[Sequence[Any], str]:
            page = sessions_page(store, wanted, after=after, limit=4)
            return page.sessions, page.next

        return read(of_turns) + read(of_sessions)

    windows = (Window(), Window(*times))
    whole = [pages(one) for one in windows]
    monkeypatch.setitem(list_rows.__globals__, "_FEW", 0)
    assert [pages(one) for one in windows] == whole
    assert [sum(isinstance(row, TurnRow) for row in rows) for rows in whole] == (
        [5, 3] if filter_ else [40, 25]
    )


def test_a_call_that_runs_is_the_turn_that_it_begins(store: Store) -> None:
    """Running, or interrupted with its process, in every list and count of turns, until the row of
    the turn is there; no call of a turn that has a row, and none that has ended."""
    asked = [message("user", said(f"{at} {HOSTILE}"), scope="s1") for at in range(2)]
    sent = [one.hash for one in asked]

    def running(span: str, turn_id: str, **values: Any) -> RunningCall:
        known: dict[str, Any] = {
            "project": PROJECT,
            "session_id": "s1",
            "trace_id": turn_id,
            "status": "running",
            "agent_name": "bot",
            "start_time": T0 + 5 * SECOND,
            "written_at": T0,
        }
        return RunningCall(span_id=span, turn_id=turn_id, **{**known, **values})

    insert(
        store,
        *asked,
        turn("known", 1, cost_usd=Decimal(1)),
        turn("open", 9, project=TWIN, cost_usd=Decimal(1)),
        running("c1", "open", input_messages=sent),
        running("c1", "open", project=TWIN),
        running("c2", "open", start_time=T0 + 6 * SECOND),
        running("c3", "known"),
        running("c4", "cut", session_id="s2", status="interrupted"),
        running("c5", "over", session_id="s3"),
        running("c5", "over", session_id="s3", status="final", written_at=T0 + 1),
        running("c6", "", session_id="s4"),
    )
    everything = TurnListFilter()

    def ids(filter_: str = "", sort: str = "", project: str = PROJECT) -> list[str]:
        wanted = TurnListFilter(project, filter=turn_filter(filter_))

        def page(after: str) -> tuple[Sequence[TurnRow], str]:
            found = turns_page(store, wanted, sort=sort, after=after, limit=1)
            return found.turns, found.next

        return [one.turn for one in read(page)]

    assert ids() == ["open", "cut", "known"]
    assert ids(sort="cost") == ["known", "open", "cut"]
    assert ids("stop:running -look:silent agent:bot", "message") == ["open"]
    assert ids("look:interrupted session:s2") == ["cut"]
    assert ids("cost>0.1", project="") == ["open", "known"]
    [first, *_] = turns_page(store, TurnListFilter(PROJECT)).turns
    assert (first.end, first.calls, first.cost_usd) == ("running", 0, None)
    assert first.user_message == f"1 {HOSTILE}"
    listed = sessions_page(store, TurnListFilter(PROJECT), sort="-calls").sessions
    assert [(one.session, one.turns, one.end, one.problems) for one in listed] == [
        ("s2", 1, "interrupted", 1),
        ("s1", 2, "running", 0),
    ]
    [stop] = facets(store, everything, names=("stop",)).facets
    counted = {one.value: one.turns for one in stop.values}
    assert counted == {"completed": 2, "running": 1, "interrupted": 1}
    assert histogram(store, everything).turns == 4
    assert arrivals(store).running == arrivals(store, PROJECT).running == 1
    assert arrivals(store, TWIN).running == 0
    with Sandbox(store) as sandbox:
        shown = sandbox.query(turns_page(store, everything).sql).dicts()
    assert [row["turn"] for row in shown] == ["open", "open", "cut", "known"]
    before = turns_page(store, everything, limit=2)
    insert(store, turn("open", 5, trace_id="open"))
    assert ids() == ["open", "cut", "known"]
    assert [one.turn for one in turns_page(store, everything, after=before.next).turns] == [
        "cut",
        "known",
    ]
    assert arrivals(store).running == 0
