"""Consortium runs found in logs of llm's: those of the real tools, and made ones of known truth."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.consortium_runs import HOSTILE, Maker, Shape, Truth, made_log
from support.llm_logs import RECORDED, Call, LlmLog, recorded, truth
from turnspan_llm.grouping.decisions import DecisionError
from turnspan_llm.grouping.model import FINAL_ARBITER, Grouping, MatchKey, Why
from turnspan_llm.grouping.runs import Strategy, beside, group
from turnspan_llm.logs.connection import LogsError

Places = Mapping[str, tuple[str, int]]
"""By row id: the id of the run's output row, and the role."""

LEAST: dict[str, tuple[int, int]] = {
    "llm0.20_lc0.3": (26, 26),
    "llm0.21_lc0.4": (26, 26),
    "llm0.24.2_lc0.5": (44, 44),
    "llm0.31.1_lc0.5": (44, 42),
    "llm0.31.1_lc0.8.0": (45, 45),
    "llm0.36_lc0.5": (40, 39),
    "llm0.36_lc0.8.0": (43, 43),
    "llm0.36_lc0.8.0_premigrated": (45, 45),
}
"""Runs with an output, and how many of them are exactly right at least: docs/consortium.md."""


def places(grouping: Grouping) -> dict[str, tuple[str, int]]:
    return {
        each.row.id: (run.output.row.id, each.role) for run in grouping.runs for each in run.rows()
    }


def told(name: str) -> dict[str, tuple[str, int]]:
    found: dict[str, tuple[str, int]] = {}
    runs: list[dict[str, Any]] = truth(name)["runs"]
    for run in runs:
        if not run["has_output"]:
            continue
        output = run["output"][0]["id"]
        found.update({row["id"]: (output, 0) for row in (*run["output"], *run["members"])})
        found.update({row["id"]: (output, 1 if row["final"] else 2) for row in run["arbiters"]})
    return found


def exact(mine: Places, true: Places) -> int:
    """How many runs have exactly their rows, each in its role."""
    sides: list[dict[str, set[tuple[str, int]]]] = []
    for rows in (mine, true):
        runs: dict[str, set[tuple[str, int]]] = {}
        for row, (output, role) in rows.items():
            runs.setdefault(output, set()).add((row, role))
        sides.append(runs)
    return sum(sides[0].get(output) == rows for output, rows in sides[1].items())


def wrong(mine: Places, true: Places) -> list[str]:
    return [row for row, place in mine.items() if true.get(row) != place]


@pytest.mark.parametrize("name", RECORDED)
def test_the_runs_of_the_real_tools(name: str, tmp_path: Path) -> None:
    """As many exactly right as the documentation says, and no row where it does not belong."""
    path = recorded(name, tmp_path)
    grouping = group(path, consortium_db=beside(path))
    mine, true = places(grouping), told(name)
    assert wrong(mine, true) == []
    assert (len({output for output, _ in true.values()}), exact(mine, true)) >= LEAST[name]
    assert len({run.consortium_id for run in grouping.runs}) == len(grouping.runs)


@pytest.mark.parametrize("name", RECORDED[:4])
def test_rows_of_runs_without_an_output_are_orphans(name: str, tmp_path: Path) -> None:
    """They failed, or were not logged: reported, never attached."""
    path = recorded(name, tmp_path)
    reviewed = {each.row.id: each.why for each in group(path).review}
    for run in truth(name)["runs"]:
        if not run["has_output"]:
            rows = [*run["members"], *run["arbiters"]]
            assert {reviewed[row["id"]] for row in rows} == {Why.ORPHAN}


def test_the_literal_rules_are_there_for_comparison(tmp_path: Path) -> None:
    """They get few runs right, and attach rows wrongly."""
    path = recorded("llm0.31.1_lc0.5", tmp_path)
    mine, true = places(group(path, strategy="literal")), told("llm0.31.1_lc0.5")
    assert exact(mine, true) < 10 < len(wrong(mine, true))


SHAPES = {
    "one after the other": Shape(),
    "four at once": Shape(together=4),
    "the same question, four at once": Shape(together=4, same_question=1),
    "models that answer alike": Shape(together=2, alike=1, same_question=0.5, standalone=1),
    "failures": Shape(together=2, failed_members=0.3, failed_runs=0.4, same_question=0.5),
    "hostile": Shape(together=2, hostile=0.6),
    "hostile, the older version": Shape(together=3, hostile=0.4, version="0.4"),
    "all of it": Shape(*(25, 3, 0.7, 0.7, 0.3, 0.2, 0.3), standalone=1, version="0.4"),
}
CERTAIN = ("one after the other", "four at once", "hostile", "hostile, the older version")


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("kind", ["responses", "turns"])
def test_no_row_is_ever_attached_wrongly(name: str, kind: str, tmp_path: Path) -> None:
    """Whatever models, runs and users do; what cannot be told apart is left to a person."""
    for seed in range(3):
        made = made_log(tmp_path / f"{seed}.db", seed, SHAPES[name], kind)
        grouping = group(tmp_path / f"{seed}.db")
        mine = places(grouping)
        assert wrong(mine, made.rows) == []
        assert len(grouping.runs) == made.runs
        if name in CERTAIN:
            assert mine == made.rows
        _everything_is_accounted_for(grouping, made)


def _everything_is_accounted_for(grouping: Grouping, made: Truth) -> None:
    """A row of a run is in it, or in a list with the reason."""
    listed = {each.row.id for each in grouping.review}
    assert all(row in grouping.places or row in listed for row in made.rows)
    assert all(each.reason for each in grouping.review)


def test_it_is_the_same_whenever_and_in_whatever_order(tmp_path: Path) -> None:
    """Ids included; a copy of a log may have its rows in another order."""
    shape = SHAPES["all of it"]
    made_log(tmp_path / "a.db", 5, shape)
    made_log(tmp_path / "b.db", 5, shape, shuffle=True)
    first, again, other = (group(tmp_path / name) for name in ("a.db", "a.db", "b.db"))
    assert (first.runs, first.review) == (again.runs, again.review)
    assert first.places == other.places
    assert [each.row.id for each in first.review] == [each.row.id for each in other.review]


def test_ids_are_ksuids_of_the_outputs_time(tmp_path: Path) -> None:
    """They sort as the runs began, to the second."""
    made_log(tmp_path / "logs.db", 1, Shape(runs=5))
    runs = group(tmp_path / "logs.db").runs
    assert all(len(run.consortium_id) == 27 for run in runs)
    seconds = [run.output.row.began // 1_000_000 for run in runs]
    ids = [run.consortium_id for run in runs]
    assert [at for _, at in sorted(zip(ids, seconds, strict=True))] == sorted(seconds)


def test_by_which_keys_a_row_was_attached(tmp_path: Path) -> None:
    """Each row has them, the strongest first."""
    made_log(tmp_path / "logs.db", 2, Shape(runs=6))
    for run in group(tmp_path / "logs.db").runs:
        final = next(each for each in run.rows() if each.role == FINAL_ARBITER)
        assert MatchKey.SYNTHESIS in final.keys and MatchKey.ANSWERS in final.keys
        for iteration in run.iterations:
            assert all(MatchKey.TEXT in member.keys for member in iteration.members)
            if iteration.arbiter is not final:
                assert iteration.arbiter is not None and MatchKey.HISTORY in iteration.arbiter.keys


def test_a_quoted_template_makes_no_arbiter(tmp_path: Path) -> None:
    """Only a prompt that begins with it is an arbiter's."""
    made_log(tmp_path / "logs.db", 3, Shape(runs=2))
    log = LlmLog.opened(tmp_path / "logs.db")
    prompt = str(
        log.db.execute("SELECT prompt FROM responses WHERE model = 'm/judge'").fetchone()[0]
    )
    log.log(Call("quoting", "m/judge", f"What is this?\n{prompt}", "A template."))
    grouping = group(log.path)
    assert grouping.places.get("quoting") is None
    assert "quoting" not in {each.row.id for each in grouping.review}


def test_a_megabyte_of_tags_takes_no_longer_than_a_megabyte(tmp_path: Path) -> None:
    """No search begins again at each of them."""
    shape = Shape(runs=3, standalone=0)
    used: dict[str, float] = {}
    for name, words in {"plain": "x" * len(HOSTILE[0]), "tags": "".join(HOSTILE)}.items():
        maker = Maker(7, shape)
        long = words * (1_000_000 // len(words))
        log = LlmLog(tmp_path / f"{name}.db")
        log.configs({"council": {}})
        for number in range(3):
            log.log(*(call for _, call in maker.run(f"{number}{long}{number}")))
        tags = "<synthesis>" * 90_000
        log.log(Call("open", "m/judge", f"<arbiter_prompt>\n{tags}", tags))
        began = time.process_time()
        assert len(group(log.path).runs) == 3
        used[name] = time.process_time() - began
    assert used["tags"] < 4 * used["plain"] + 2


def test_a_reviewer_decides_what_is_ambiguous(tmp_path: Path) -> None:
    """A decision is followed, and what follows from it is, too."""
    path, grouping, made = _ambiguous(tmp_path)
    open_ = [each for each in grouping.review if each.why is Why.AMBIGUOUS and each.candidates]
    decisions = {each.row.id: made.rows.get(each.row.id, (None, 0))[0] for each in open_}
    decided = group(path, decisions=decisions)
    assert wrong(places(decided), made.rows) == []
    assert all(
        decided.places.get(row) is not None
        for row, output in decisions.items()
        if output is not None
    )
    assert exact(places(decided), made.rows) > exact(places(grouping), made.rows)


def test_decisions_that_cannot_be_followed(tmp_path: Path) -> None:
    """A row that is not there, an output that is none, a run that it cannot be in."""
    path, grouping, _ = _ambiguous(tmp_path)
    member = next(each.row.id for each in grouping.review if each.candidates)
    far = next(
        run.output.row.id
        for run in grouping.runs
        if run.output.row.id
        not in {candidate.output for each in grouping.review for candidate in each.candidates}
    )
    for decisions, words in (
        ({"nothing": None}, "is in no list"),
        ({member: member}, "is no consortium's output"),
        ({member: far}, "cannot be in the run"),
    ):
        with pytest.raises(DecisionError, match=words):
            group(path, decisions=decisions)


def _ambiguous(folder: Path) -> tuple[Path, Grouping, Truth]:
    shape = Shape(runs=16, together=2, same_question=1, alike=1, standalone=0)
    for seed in range(20):
        path = folder / f"{seed}.db"
        made = made_log(path, seed, shape)
        grouping = group(path)
        if any(each.why is Why.AMBIGUOUS and each.candidates for each in grouping.review):
            return path, grouping, made
    raise AssertionError("no seed makes ambiguous rows")


def test_what_is_assigned_already_stays(tmp_path: Path) -> None:
    """A run keeps the id that one of its rows has; a row of no run keeps its own."""
    made_log(tmp_path / "logs.db", 4, Shape(runs=3))
    log = LlmLog.opened(tmp_path / "logs.db")
    before = group(log.path)
    member = before.runs[0].iterations[0].members[0].row.id
    log.db.execute("ALTER TABLE responses ADD COLUMN consortium_id TEXT")
    log.db.execute("UPDATE responses SET consortium_id = 'mine' WHERE id = ?", (member,))
    log.log(Call("other", "m/x", "hello", "hi"))
    log.db.execute("UPDATE responses SET consortium_id = 'theirs' WHERE id = 'other'")
    after = group(log.path)
    assert after.runs[0].consortium_id == "mine"
    assert after.runs[1:] == before.runs[1:]
    assert after.places.get("other") == ("theirs", 0, 0)


def test_names_that_the_log_does_not_tell(tmp_path: Path) -> None:
    """An output without the JSON of llm-consortium is known by its model's name."""
    made_log(tmp_path / "logs.db", 6, Shape(runs=4, standalone=0))
    log = LlmLog.opened(tmp_path / "logs.db")
    log.db.execute("UPDATE responses SET response_json = NULL")
    assert len(group(log.path).runs) == 4
    log.db.execute("DROP TABLE consortium_configs")
    assert group(log.path).runs == ()
    assert len(group(log.path, models=["council"]).runs) == 4


def test_a_strange_file_is_refused(tmp_path: Path) -> None:
    """In one sentence that names it."""
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(LogsError, match=r"notes\.txt is not an SQLite database"):
        group(tmp_path / "notes.txt")


def test_random_shapes(tmp_path: Path) -> None:
    """Many more of them by hand: nothing is attached wrongly in any."""
    sums: Counter[str] = Counter()
    for seed in range(8):
        chosen = random.Random(seed)
        shape = Shape(
            *(15, chosen.choice([1, 2, 4]), chosen.random(), chosen.random(), chosen.random() / 2),
            failed_members=chosen.random() / 3,
            failed_runs=chosen.random() / 3,
            version=chosen.choice(["0.4", "0.5"]),
        )
        strategy: Strategy = "keys"
        made = made_log(tmp_path / f"{seed}.db", seed, shape, chosen.choice(["tools", "turns"]))
        mine = places(group(tmp_path / f"{seed}.db", strategy=strategy))
        assert wrong(mine, made.rows) == []
        sums.update(runs=made.runs, exact=exact(mine, made.rows))
    assert sums["exact"] > 0.8 * sums["runs"]
