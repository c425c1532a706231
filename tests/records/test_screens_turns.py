"""Turns and sessions as the page lists them: filters, pages, facets, the histogram."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from support.landing import insert
from support.rows import PROJECT, T0, tool, turn
from turnspan_clickhouse.rows.tables import Annotation
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.window import Window, moment
from turnspan_records.detail import detail
from turnspan_records.lookup import find
from turnspan_records.sandbox import Sandbox
from turnspan_records.screens.facets import BINS, USUAL, facets, histogram, width_for
from turnspan_records.screens.inventory import Named, names
from turnspan_records.screens.turns import sessions_page, turns_page
from turnspan_records.sessions import sessions, turns
from turnspan_records.turn_filters import KNOWN, TurnListFilter, turn_filter

DAY = 86_400


def judged(subject: str, kind: str, **values: Any) -> Annotation:
    """A judgment of a turn by a person."""
    return Annotation(
        project=PROJECT,
        annotation_id=f"{subject}-{kind}",
        subject_kind="turn",
        subject_id=subject,
        kind=kind,
        author="ada",
        created_at=T0,
        written_at=T0,
        **values,
    )


@pytest.fixture(scope="module")
def filled(module_store: Store) -> Iterator[Store]:
    """Turns of three agents over ten days, some odd, some judged."""
    insert(
        module_store,
        *(
            turn(f"t{at:03d}", at * 3_600, session_id=f"s{at % 7}", agent_name="a", rounds=at % 5,
                 cost_usd=Decimal(at) / 1000, input_tokens=at, output_tokens=1, models=["m1"])
            for at in range(200)
        ),
        turn("odd1", 9 * DAY, session_id="x", agent_name="wiki", stop_reason="tool_failure",
             models=["m1", "m2"], tool_error_count=1, tool_call_count=2, user_id="u,1",
             attributes={"team": "red"}),
        turn("odd2", 9 * DAY + 1, session_id="x", agent_name="wiki", status="running",
             stop_reason="", agent_version="v2"),
        turn("odd3", 9 * DAY + 1, session_id="x", agent_name="wiki", error_type="ValueError",
             stop_reason="loop_detected:search", duration=9.5, turn_intent="ask", chat_mode="chat",
             trace_id="3" * 32, llm_call_count=3, tool_call_count=1),
        turn("sub1", 9 * DAY + 2, session_id="x", parent_turn_id="odd3", agent_name="nested",
             trace_id="3" * 32, llm_call_count=2, tool_call_count=4),
        turn("else", 0, project="other", agent_name="b"),
        tool("c1", 9 * DAY, turn_id="odd1", name="run_query", failed=True),
        tool("c2", 9 * DAY, turn_id="odd1", name="search"),
        tool("c3", 9 * DAY + 1, turn_id="odd3", name="search"),
        judged("odd1", "outcome", outcome="rejected"),
        judged("t001", "training_flag", training_flag=1),
        judged("t002", "training_flag", training_flag=-1),
        judged("t003", "score", score=7.5),
    )  # fmt: skip
    yield module_store


def found(store: Store, text: str, **wanted: Any) -> list[str]:
    """The ids of the turns that pass a filter."""
    page = turns_page(store, TurnListFilter(PROJECT, filter=turn_filter(text), **wanted), limit=500)
    assert page.next == ""
    return [one.turn for one in page.turns]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("stop:tool_failure,loop_detected", ["odd3", "odd1"]),
        ("status:running", ["odd2"]),
        ("agent:wiki -stop:running", ["odd3", "odd1"]),
        ("version:v2", ["odd2"]),
        ("model:m2", ["odd1"]),
        ("tool:search", ["odd3", "odd1"]),
        ("failed:run_query", ["odd1"]),
        ("failed:search", []),
        ("error:ValueError", ["odd3"]),
        ('user:"u,1"', ["odd1"]),
        ("session:x stop:running", ["odd2"]),
        ("turn:t001,t002", ["t002", "t001"]),
        ("intent:ask mode:chat", ["odd3"]),
        ("attribute.team:red", ["odd1"]),
        ("cost>=0.198", ["t199", "t198"]),
        ("tokens<2", ["t000"]),
        ("output:1 input>198", ["t199"]),
        ("seconds>9", ["odd3"]),
        ("failures>0 tools:2", ["odd1"]),
        ("cost:0.198..,..0.001", ["t199", "t198", "t000"]),
        ("cost:0.001..0.003 -cost:0.002", ["t001"]),
        ("score:7..8", ["t003"]),
        ("outcome:rejected", ["odd1"]),
        ("flag:good", ["t001"]),
        ("flag:excluded", ["t002"]),
        ("score>7", ["t003"]),
        ("judged:yes", ["odd1", "t003", "t002", "t001"]),
        ("judged:no agent:wiki", ["odd3", "odd2"]),
        ("service:none", []),
        ("rounds>3 agent:wiki", ["odd3", "odd2", "odd1"]),
        # A cost that nobody knows is not below anything, and not above it either.
        ("agent:wiki cost<1", []),
        ("agent:wiki -cost<1", []),
    ],
)
def test_a_filter_finds(filled: Store, text: str, ids: list[str]) -> None:
    """By what a turn is, did, cost, and what was said of it."""
    assert found(filled, text) == ids
    listed = turns(filled, project=PROJECT, filter=text, limit=500).dicts()
    assert [row["turn"] for row in listed] == ids


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense", "'nonsense' is not a filter"),
        ("colour:red", "There is no filter 'colour'"),
        ("colour>3", "There is no filter 'colour'"),
        ("agent>3", "agent is not a number"),
        ("cost>much", "cost is a number"),
        ("cost>nan", "cost is a number"),
        ("cost:..", "cost is a number"),
        ("cost:1..inf", "cost is a number"),
        ("cost>1,2", "cost is a number"),
        ("judged:perhaps", "judged is one of: yes, no"),
        ("agent:a;b'\") OR 1", "is not a filter"),
    ],
)
def test_a_filter_that_is_none_says_what_there_is(text: str, words: str) -> None:
    """In a sentence."""
    with pytest.raises(ValueError, match=words.replace("(", "[(]")):
        turn_filter(text)


def test_values_never_become_sql(filled: Store) -> None:
    """Whatever they hold."""
    for value in ("') OR 1=1 --", "{f0:String}", "\\'", "%s", "a' , 'b"):
        assert found(filled, f'agent:"{value}"') == []
        assert found(filled, f'attribute.team:"{value}"') == []
    assert turn_filter("stop:x").sql.count("{f0:Array(String)}") == 1
    assert all(KNOWN.values())


def test_pages_join_without_a_gap(filled: Store) -> None:
    """Every turn once, in one order, two of one moment too; the nested one is not listed."""
    wanted = TurnListFilter(PROJECT)
    ids: list[str] = []
    after = ""
    while True:
        page = turns_page(filled, wanted, after=after, limit=7)
        ids += [one.turn for one in page.turns]
        after = page.next
        if not after:
            break
    expected = filled.query(
        "SELECT turn_id FROM turn_summary WHERE project = {project:String} AND parent_turn_id = ''"
        " ORDER BY start_time DESC, turn_id DESC",
        {"project": PROJECT},
    )
    assert ids == [row[0] for row in expected.rows]
    with pytest.raises(ValueError, match="is no place in this list"):
        turns_page(filled, wanted, after="DROP TABLE")


def test_a_turn_says_what_is_known(filled: Store) -> None:
    """A number that is not known is None and never 0."""
    [one] = turns_page(filled, TurnListFilter(PROJECT, filter=turn_filter("turn:odd2"))).turns
    assert (one.end, one.status, one.cost_usd, one.input_tokens) == (
        "running",
        "running",
        None,
        None,
    )
    [one] = turns_page(filled, TurnListFilter(PROJECT, filter=turn_filter("turn:odd3"))).turns
    assert (one.end, one.stop_reason, one.duration) == (
        "loop_detected",
        "loop_detected:search",
        9.5,
    )


def test_sessions_have_the_figures_of_their_turns(filled: Store) -> None:
    """Of those turns that match; each session once, over pages."""
    rows: list[Any] = []
    after = ""
    while True:
        page = sessions_page(filled, TurnListFilter(PROJECT), after=after, limit=3)
        rows += page.sessions
        after = page.next
        if not after:
            break
    assert rows[0].session == "x"
    assert sorted(one.session for one in rows) == [*(f"s{at}" for at in range(7)), "x"]
    assert sum(one.turns for one in rows) == 203
    [x] = [one for one in rows if one.session == "x"]
    assert (x.turns, x.problems, x.end, x.cost_usd, x.failed_tools) == (
        3,
        2,
        "loop_detected",
        None,
        1,
    )
    of_wiki = TurnListFilter(PROJECT, filter=turn_filter("stop:tool_failure"))
    [x] = sessions_page(filled, of_wiki).sessions
    assert (x.turns, x.end) == (1, "tool_failure")


def test_a_session_counts_the_calls_of_turns_inside_of_turns(filled: Store) -> None:
    """As its cost does, which a root turn has for all of them."""
    [x] = [
        one for one in sessions_page(filled, TurnListFilter(PROJECT)).sessions if one.session == "x"
    ]
    assert (x.turns, x.calls, x.tools) == (3, 5, 7)
    listed = sessions(filled, project=PROJECT, limit=100).dicts()
    [row] = [one for one in listed if one["session"] == "x"]
    assert (row["turns"], row["calls"], row["tools"]) == (3, 5, 7)
    whole = detail(filled, find(filled, "x")[0]).facts
    assert (whole["turns"], whole["calls"], whole["tools"]) == (3, 5, 7)
    # Of turns that are not asked for, nothing is counted.
    for end, counted in (("loop_detected", (1, 5, 5)), ("tool_failure", (1, 0, 2))):
        of_them = TurnListFilter(PROJECT, filter=turn_filter(f"stop:{end}"))
        [x] = sessions_page(filled, of_them).sessions
        assert (x.turns, x.calls, x.tools) == counted, end


def test_facets_are_counts_of_filters(filled: Store) -> None:
    """What a facet says, a filter of its name and value finds, instead of another of that name."""
    others = ("attribute.team", "session", "status", "trace", "intent", "mode", "environment")
    for filter_ in ("", "agent:wiki", "-user:ada failed:run_query model:m2 rounds:1..99"):
        wanted = TurnListFilter(PROJECT, filter=turn_filter(filter_))
        counted = facets(filled, wanted, names=(*USUAL, *others)).facets
        assert {"agent", "tool", "user", "attribute.team"} <= {one.name for one in counted}
        for facet in counted:
            terms = [one for one in filter_.split() if not one.startswith(f"{facet.name}:")]
            for value in facet.values:
                ids = found(filled, f'{" ".join(terms)} {facet.name}:"{value.value}"')
                assert len(ids) == value.turns, (facet.name, value)


def test_a_facet_is_looked_through(filled: Store) -> None:
    """By a part of its values, letters large or small; a value that is chosen hides no other."""
    wanted = TurnListFilter(PROJECT, filter=turn_filter("agent:wiki"))
    [agents] = facets(filled, wanted, names=("agent",)).facets
    assert [one.value for one in agents.values] == ["a", "wiki"]
    [agents] = facets(filled, wanted, names=("agent",), text="WIK").facets
    assert [one.value for one in agents.values] == ["wiki"]
    [keys] = facets(filled, wanted, names=("attribute",)).facets
    assert [one.value for one in keys.values] == ["team"]
    [costs, took] = facets(filled, TurnListFilter(PROJECT), names=("cost", "seconds")).facets
    assert [one.value for one in costs.values] == ["..0.0001", "0.001..0.01", "0.01..0.1", "0.1..1"]
    assert sum(one.turns for one in costs.values) == 200, "what no price is known for is in none"
    assert "1..10" in {one.value for one in took.values}
    assert facets(filled, TurnListFilter("nobody")).facets == []
    for name in ("colour", "') OR 1"):
        with pytest.raises(ValueError, match="There is no facet"):
            facets(filled, wanted, names=(name,))
    assert facets(filled, wanted, names=("attribute.') OR 1",)).facets == []


def test_the_histogram_counts_every_turn(filled: Store) -> None:
    """Once; with the bins in which there was none, and the odd ones told apart."""
    counted = histogram(filled, TurnListFilter(PROJECT))
    assert counted.turns == sum(one.turns for one in counted.bins) == 203
    assert sum(one.problems for one in counted.bins) == 2
    assert len(counted.bins) <= BINS
    width = timedelta(seconds=counted.width_seconds)
    times = [one.time for one in counted.bins]
    assert all(later - before == width for before, later in itertools.pairwise(times))
    for one in counted.bins:
        ids = found(filled, "", window=Window(one.time, one.time + width))
        assert len(ids) == one.turns
    assert histogram(filled, TurnListFilter("nobody")).bins == []
    assert (
        histogram(
            filled, TurnListFilter(PROJECT, Window(moment("2000-01-01"), moment("2000-01-02")))
        ).turns
        == 0
    )


def test_the_sql_that_is_shown_gives_what_is_shown(filled: Store) -> None:
    """Of both pages of a list, of facets and of bins; it runs where a person may run SQL."""
    wanted = TurnListFilter(PROJECT, filter=turn_filter("agent:wiki,a -error:none"))
    first = turns_page(filled, wanted, limit=5)
    second = turns_page(filled, wanted, limit=5, after=first.next)
    sessions = sessions_page(filled, wanted, limit=3)
    later = sessions_page(filled, wanted, limit=3, after=sessions.next)
    counted = histogram(filled, wanted)
    with Sandbox(filled) as sandbox:

        def column(sql: str, name: str) -> list[Any]:
            return [row[name] for row in sandbox.query(sql).dicts()]

        for page in (first, second):
            assert column(page.sql, "turn") == [one.turn for one in page.turns]
        for of in (sessions, later):
            assert column(of.sql, "session") == [one.session for one in of.sessions]
        assert sum(column(counted.sql, "turns")) == counted.turns
        for facet in facets(filled, wanted).facets:
            said = column(facet.sql, "value")
            assert {one.value for one in facet.values} <= set(map(str, said)), facet.name


def test_names_with_a_text_in_them(filled: Store) -> None:
    """Letters large or small, by kind; the newest few of many."""
    assert names(filled, "WIK") == [Named("agent", "wiki", PROJECT)]
    assert names(filled, "run_") == [Named("tool", "run_query", PROJECT)]
    models = [one.name for one in names(filled, "M", each=50) if one.kind == "model"]
    assert sorted(models) == ["m1", "m2"], "those that turns count under"
    for name in models:
        assert turns_page(
            filled, TurnListFilter(PROJECT, filter=turn_filter(f"model:{name}"))
        ).turns
    sessions = names(filled, "s", project=PROJECT, each=3)
    assert [one.name for one in sessions if one.kind == "session"] == ["s3", "s2", "s1"]
    assert names(filled, "wiki", project="other") == names(filled, "  ") == []


@pytest.mark.parametrize("seconds", [0, 1, 59, 3_600, DAY, 31 * DAY, 3_650 * DAY])
def test_a_bin_is_as_wide_as_people_count(seconds: int) -> None:
    """And there are never too many."""
    assert seconds // width_for(seconds) + 2 <= BINS + 1
