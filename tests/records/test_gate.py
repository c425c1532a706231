"""A gate calls equal versions worse in at most 5 % of comparisons, and finds what is worse."""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support.camp_rows import camp_rows, score
from support.landing import insert
from support.rows import tool, turn
from turnspan_clickhouse.store.client import Store
from turnspan_records.again.gating.estimates import exchanges, holm, paired, sign_flips, unpaired
from turnspan_records.again.gating.figures import (
    RunFigures,
    VersionFigures,
    figures,
    read_figures,
    write_figures,
)
from turnspan_records.again.gating.measures import distance
from turnspan_records.again.gating.verdict import (
    GateLimits,
    GateReport,
    compared,
    gate,
    project_limits,
)

REPOSITORY = Path(__file__).parents[2]


def none(_base: float) -> float:
    return 0.0


@pytest.mark.parametrize(("worse", "all_"), [(4, 4), (6, 8), (12, 15), (30, 40), (9, 10)])
def test_pairs_of_shares_have_mcnemars_exact_p(worse: int, all_: int) -> None:
    """To a tenth: the binomial tail of the pairs that differ."""
    exact = sum(math.comb(all_, k) for k in range(worse, all_ + 1)) / 2**all_
    found = sign_flips([1] * worse + [-1] * (all_ - worse) + [0] * 50)
    assert found == pytest.approx(exact, rel=0.15)


@pytest.mark.parametrize(
    "counts", [(0, 20, 4, 20), (1, 20, 6, 20), (3, 100, 12, 90), (0, 99, 5, 9)]
)
def test_shares_without_pairs_have_fishers_exact_p(counts: tuple[int, int, int, int]) -> None:
    """To a tenth: the hypergeometric tail."""
    few, base, many, head = counts
    ways = [
        math.comb(few + many, k) * math.comb(base + head - few - many, head - k)
        for k in range(many, min(few + many, head) + 1)
    ]
    found = exchanges([1] * few + [0] * (base - few), [1] * many + [0] * (head - many))
    assert found == pytest.approx(sum(ways) / math.comb(base + head, head), rel=0.15)


def test_means_have_the_p_of_all_permutations() -> None:
    """Beside an enumeration of every one, for values without and with a long tail."""
    draw = random.Random(1)
    changes = [draw.gauss(0.4, 1) for _ in range(12)]
    every = [
        sum(sign * abs(one) for sign, one in zip(signs, changes, strict=True))
        for signs in itertools.product((1, -1), repeat=12)
    ]
    exact = sum(one >= sum(changes) - 1e-9 for one in every) / len(every)
    assert sign_flips(changes) == pytest.approx(exact, rel=0.1)
    base, head = ([draw.lognormvariate(mean, 0.5) for _ in range(8)] for mean in (0, 0.6))
    every = [sum(chosen) for chosen in itertools.combinations([*base, *head], 8)]
    exact = sum(one >= sum(head) - 1e-9 for one in every) / len(every)
    assert exchanges(base, head) == pytest.approx(exact, rel=0.1)
    assert sign_flips([abs(one) for one in changes]) == 2**-12
    assert sign_flips([0.0] * 9) == exchanges([1, 1], [1, 1]) == exchanges([5, 6], [0, 0]) == 1


def test_intervals_are_the_published_ones() -> None:
    """Newcombe's examples (1998, both articles), and Student's."""
    made = unpaired([1] * 48 + [0] * 32, [1] * 56 + [0] * 14, -1, none)
    assert (made.low, made.high) == pytest.approx((0.0524, 0.3339), abs=1e-4)
    pairs = [(1.0, 1.0)] * 36 + [(0.0, 1.0)] * 12 + [(1.0, 0.0)] * 2
    assert (made := paired(pairs, -1, none)).low == pytest.approx(0.0569, abs=1e-4)
    assert made.high == pytest.approx(0.3404, abs=1e-4)
    half = paired([(0, x) for x in (1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10)], 1, none)
    assert half.high - half.change == pytest.approx(2.2622 * half.error, rel=1e-3)


def test_holm_and_distance() -> None:
    """Later tests have easier levels, until one fails; orders are apart by what they lack."""
    assert holm([0.01, 0.04, 0.03, 0.005], 0.05) == [True, False, False, True]
    assert distance(("a", "b", "c"), ("a", "c")) == pytest.approx(0.2)
    assert (distance((), ()), distance(("a",), ("b",)), distance((), ("a",))) == (0, 1, 1)
    long = tuple("abcdefgh" * 40)
    assert distance(long, long[::-1]) > 0.2


@pytest.mark.release
def test_the_simulation_alarms_rarely_and_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of ``benchmarks/gate_power.py``: of equal versions at most 5 % alarm."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(REPOSITORY / "benchmarks")])
    import gate_power as power

    assert sum(power.alarms(power.EQUAL[at], 30) for at in (0, 1)) <= 3
    cost, completion = power.REGRESSIONS[5], power.REGRESSIONS[0]
    assert power.hits(cost, 12) >= 11 and power.hits(completion, 12) >= 11


def runs(name: str, ends: Sequence[str], **values: Any) -> VersionFigures:
    known: dict[str, Any] = {"kind": "turn", "seconds": 1.0, "cost_usd": 0.5, "tools": ["a", "b"]}
    return VersionFigures(
        name,
        [
            RunFigures(id=f"{name}-{n}", case=f"c{n:03}", asked=f"q{n}", end=end, **known | values)
            for n, end in enumerate(ends)
        ],
    )


def states(report: GateReport) -> dict[str, str]:
    return {one.name: one.state for one in report.measures}


def test_verdicts_and_what_is_missing() -> None:
    """Worse names the cases; too few says how many more; a tolerance lets it through."""
    good, bad = runs("a", ["completed"] * 60), runs("b", ["completed"] * 40 + ["error"] * 20)
    worse = compared(good, bad)
    assert (worse.verdict, worse.paired, worse.cases) == ("worse", True, 60)
    assert [one.name for one in worse.worse] == ["completion", "stop:error"]
    first = worse.worse[0].cases[0]
    assert (first.case, first.base_id, first.head_id) == ("q40", "a-40", "b-40")
    assert compared(bad, good).verdict == "passed" and states(compared(bad, good))[
        "completion"
    ] == "better"  # fmt: skip
    allowed = GateLimits({"completion": "40%", "stop:error": "40%"})
    assert compared(good, bad, allowed).verdict != "worse"

    few = compared(runs("a", ["completed"] * 4), runs("b", ["completed"] * 4))
    assert (few.verdict, few.more) == ("too_little_data", 6)
    half = ["completed", "error"] * 8
    some = compared(runs("a", half), runs("b", half[::-1]))
    assert some.verdict == "too_little_data" and some.more > 16
    enough = 16 + some.more
    more = compared(runs("a", ["completed", "error"] * enough), runs("b", half * (enough // 8)))
    assert more.verdict == "passed"
    assert compared(runs("a", []), runs("b", [])).more == 10
    scored = runs("a", ["completed"] * 60, scores={"style": 4.0})
    for limits in (None, GateLimits(only=["score:style"]), GateLimits(detect={"score:none": "5%"})):
        lacking = compared(scored, good, limits)
        assert (lacking.verdict, lacking.more) == ("too_little_data", 10)
    assert compared(good, scored).verdict == "passed"


def test_costs_orders_and_runs_without_a_case() -> None:
    """A part of the base's mean; an unknown cost is none; sessions are the units without cases."""
    base, head = runs("a", ["completed"] * 40), runs("b", ["completed"] * 40, cost_usd=0.6)
    assert states(compared(base, head))["cost"] == "worse"
    assert states(compared(base, head, GateLimits({"cost": "25%"})))["cost"] == "no_difference"
    slow = runs("b", ["completed"] * 40, seconds=9.0)
    assert states(compared(base, slow))["duration"] == "not_tested"
    assert states(compared(base, slow, GateLimits({"duration": "20%"})))["duration"] == "worse"
    unknown = compared(base, runs("b", ["completed"] * 40, cost_usd=None))
    assert states(unknown)["cost"] == "not_tested"
    other = runs("b", ["completed"] * 40, tools=["b", "a"])
    assert states(compared(base, other))["tool_order"] == "not_tested"
    assert states(compared(base, other, GateLimits({"tool_order": "20%"})))["tool_order"] == "worse"

    alone = [replace(one, case="", session=f"s{n // 4}") for n, one in enumerate(head.runs)]
    report = compared(base, VersionFigures("b", alone))
    assert not report.paired
    assert {one.name: one.units for one in report.measures}["cost"] == 10
    for name in ("completion", "cost", "rounds"):
        assert {one.name: one.estimate for one in report.measures}[name] is not None
    partly = compared(base, VersionFigures("b", head.runs[:30]))
    assert (partly.paired, partly.left_out) == (True, 10)


@pytest.fixture
def filled(store: Store) -> Store:
    """Two versions of an agent, of which the second fails often; one runs still."""
    draw = random.Random(3)
    turns: list[Any] = []
    tools: list[Any] = []
    for version, failing in (("v1", 0.0), ("v2", 0.5)):
        for n in range(60):
            id_, bad = f"{version}-{n}", draw.random() < failing
            turns.append(
                turn(
                    id_,
                    n,
                    session_id=f"s-{id_}",
                    agent_version=version,
                    user_message=f"q{n} \x1b[31m\u202e|<b>",
                    stop_reason="tool_failure:x" if bad else "completed",
                    tool_error_count=int(bad),
                    no_progress_rounds=3 * int(bad),
                    duration=1 + draw.random(),
                )
            )
            tools += [tool(f"{id_}{at}", n + at, turn_id=id_, name=f"t{at}") for at in (0.5, 0.1)]
    turns.append(turn("odd", 98, agent_version='a"b@c', user_message="q1"))
    turns.append(turn("running", 99, agent_version="v2", status="running", user_message="q1"))
    turns.append(turn("other", 99, agent_version="v1", project="other", user_message="q1"))
    insert(store, *turns)
    insert(store, *tools)
    insert(store, *camp_rows())
    insert(store, score("turn", "v1-0", 4, "evaluation:style"))
    return store


def test_versions_in_a_store(filled: Store, tmp_path: Path) -> None:
    """By version, filter, lineage, experiment; files say the same. What still runs is left out."""
    with pytest.raises(ValueError, match="several versions: there are v1 in project other, v1 in"):
        figures(filled, "v1")
    base, head = (figures(filled, one, project="shop") for one in ("v1", "v2"))
    assert (len(base.runs), len(head.runs)) == (60, 60)
    first = base.runs[0]
    assert (first.tools, first.scores, first.end) == (["t0.1", "t0.5"], {"style": 4}, "completed")
    assert first.asked == "q0 \x1b[31m\u202e|<b>" and first.case == head.runs[0].case
    report = gate(filled, "v1", "v2", project="shop")
    assert {"completion", "tool_failures", "loops", "stop:tool_failure"} <= {
        one.name for one in report.worse
    }
    same = gate(filled, base_where="version:v1", head_where="version:v2", project="shop")
    assert same.measures == report.measures

    for name, of in (("a.json", base), ("b.json", head)):
        write_figures(tmp_path / name, of)
        assert read_figures(tmp_path / name) == of
    files = [str(tmp_path / name) for name in ("a.json", "b.json")]
    assert gate(None, *files) == report
    (tmp_path / "bad.json").write_text('{"turnspan_figures":1,"name":"x","runs":[{"id":1}]}')
    for bad, words in (
        (files[0] + "x.json", "No such file"),
        (str(tmp_path / "bad.json"), "write it anew"),
    ):
        with pytest.raises((ValueError, OSError), match=words):
            gate(None, files[0], bad)

    assert [one.id for one in figures(filled, 'a"b@c').runs] == ["odd"]
    tried = figures(filled, "experiment:camp@A1")
    assert [(one.case, one.end) for one in tried.runs] == [
        ("page", "failed"),
        ("page", "completed"),
    ]
    assert figures(filled, "A@A2").runs[0].scores == {"score": 7.0, "wit": 0.1}
    assert figures(filled, "44444444@00000000").runs == figures(filled, "A@A2").runs
    for bad in ("A@A3", "experiment:none@A1", "v9", "x' OR 1=1@{y:String}"):
        with pytest.raises(ValueError, match="no version: there are"):
            figures(filled, bad)
    with pytest.raises(ValueError, match="needs a store"):
        gate(None, "v1", "v2")


def test_limits_of_a_project(tmp_path: Path) -> None:
    """They are read from pyproject.toml; what is none is named."""
    place = tmp_path / "pyproject.toml"
    place.write_text('[tool.turnspan.gate]\nmeasures=["cost"]\nmax-worse={cost="5%",rounds=0.5}\n')
    limits = project_limits(place)
    assert (limits.max_worse, limits.only) == ({"cost": "5%", "rounds": "0.5"}, ["cost"])
    assert limits.detect == {"completion": "20%"}
    place.write_text("")
    assert project_limits(place) == GateLimits(only=[])
    for text, words in (
        ("measure=1", "has no measure"),
        ("measures=1", "list measures"),
        ("max-worse={speed='1%'}", "no measure 'speed'; there are: completion"),
        ("max-worse={cost='much'}", "cost=much is no amount"),
        ("detect={cost='0%'}", "a detect is above 0"),
        ("max-worse=[", "is not TOML"),
    ):
        place.write_text(f"[tool.turnspan.gate]\n{text}\n")
        with pytest.raises(ValueError, match=words):
            project_limits(place)
