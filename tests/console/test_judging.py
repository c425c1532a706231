"""``turnspan prefer``, ``rank``, ``withdraw``, and what ``show`` says of judgments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.deployment import Deployment
from support.kept_stores import migrated
from support.landing import insert
from support.rows import turn
from support.story import CALL, TURN, Invoke, fill
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = pytest.mark.usefixtures("kept_engine")

OTHER = "e5" * 8


@pytest.fixture
def dsn(tmp_path: Path) -> str:
    """A store with the story, to be judged."""
    made = Dsn(scheme="chdb", path=tmp_path / "store")
    fill(made)
    return str(made)


def current(invoke: Invoke, dsn: str, columns: str) -> list[str]:
    """What holds, a line a judgment."""
    sql = f"SELECT {columns} FROM annotation_current ORDER BY kind, chosen_id, rejected_id"
    found = invoke("--store", dsn, "sql", "--format", "csv", sql)
    assert found.exit_code == 0, found.stderr
    return found.stdout.splitlines()[1:]


def test_one_is_better_than_others_and_all_of_it_holds(invoke: Invoke, tmp_path: Path) -> None:
    """Beginnings of ids; of a pair the newest word."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "three")
    with migrated(dsn) as store:
        insert(store, *(turn(name * 16) for name in "abc"))
    said = invoke(
        "--store", str(dsn), "prefer", "aaaaaa", "bbbbbb", "cccccc",
        "--reason", "shorter", "--author", "ada", "--confidence", "0.75", "--source", "form",
    )  # fmt: skip
    assert said.output == f"turn {'a' * 16}: 2 preferences\n"
    columns = "left(chosen_id, 1), left(rejected_id, 1), comment, author, confidence, source"
    assert current(invoke, str(dsn), columns) == [
        "a,b,shorter,ada,0.75,form",
        "a,c,shorter,ada,0.75,form",
    ]
    again = invoke("--store", str(dsn), "prefer", "bbbbbb", "aaaaaa", "--author", "bob")
    assert again.exit_code == 0
    assert current(invoke, str(dsn), "left(chosen_id, 1), left(rejected_id, 1), author") == [
        "a,c,ada",
        "b,a,bob",
    ]


def test_an_order_is_its_pairs_without_the_ties(invoke: Invoke, tmp_path: Path) -> None:
    """All of them know which ranking they are of; given twice, it is stored once."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "four")
    with migrated(dsn) as store:
        insert(store, *(turn(name * 16) for name in "abcd"))
    ids = [name * 16 for name in "abcd"]
    for _ in range(2):
        said = invoke("--store", str(dsn), "rank", *ids, "--tie", ids[2], ids[1])
        assert said.output == "4 turns ranked: 5 preferences\n"
    pairs = current(invoke, str(dsn), "left(chosen_id, 1), left(rejected_id, 1)")
    assert pairs == ["a,b", "a,c", "a,d", "b,d", "c,d"]
    counted = invoke(
        "--store", str(dsn), "sql", "--format", "csv",
        "SELECT count(), uniqExact(ranking_id), min(length(ranking_id)) FROM annotation",
    )  # fmt: skip
    assert counted.stdout.splitlines()[1] == "5,1,32"
    named = invoke(
        "--store", str(dsn), "sql", "--format", "csv", "SELECT any(ranking_id) FROM annotation"
    ).stdout.splitlines()[1]
    assert f"of ranking {named}" in invoke("--store", str(dsn), "show", ids[3]).stdout
    took = invoke("--store", str(dsn), "withdraw", ids[3], "--ranking", named)
    assert took.output == f"ranking {named}: 5 preferences withdrawn\n"
    assert current(invoke, str(dsn), "chosen_id") == []
    none = invoke("--store", str(dsn), "withdraw", ids[3], "--ranking", "other")
    assert (none.exit_code, "no ranking 'other'" in none.stderr) == (1, True)
    apart = invoke("--store", str(dsn), "rank", *ids, "--tie", ids[0], ids[2])
    assert (apart.exit_code, "stand beside each other" in apart.stderr) == (2, True)
    twice = invoke("--store", str(dsn), "rank", ids[0], ids[0])
    assert (twice.exit_code, "each id once" in twice.stderr) == (2, True)
    itself = invoke("--store", str(dsn), "prefer", ids[0], ids[0])
    assert (itself.exit_code, "better than itself" in itself.stderr) == (2, True)


def test_a_judgment_is_taken_back_and_the_one_before_holds(invoke: Invoke, dsn: str) -> None:
    """The newest of mine, or one by the beginning of its id; `show` tells all of it."""
    for author, outcome in (("ada", "used"), ("ada", "rejected"), ("bob", "modified")):
        invoke("--store", dsn, "annotate", TURN, "--outcome", outcome, "--author", author)
    invoke("--store", dsn, "annotate", TURN, "--comment", "so \x1b[31mred\x1b[0m", "--author", "al")
    took = invoke("--store", dsn, "withdraw", TURN, "outcome", "--author", "bob", "--reason", "oh")
    assert took.output == f"turn {TURN}: outcome withdrawn\n"
    assert current(invoke, dsn, "kind, outcome") == ["comment,", "outcome,rejected"]

    shown = invoke("--store", dsn, "show", TURN)
    lines = [line.strip() for line in shown.stdout.partition("judgments: 4\n")[2].splitlines()]
    assert ["used" in lines[0], "by ada (command)" in lines[0]] == [True, True]
    assert lines[3].startswith("withdrawn ") and lines[3].endswith(" by bob: oh")
    assert "\x1b" not in shown.stdout
    told = json.loads(invoke("--store", dsn, "show", TURN, "--format", "json").stdout)["judgments"]
    assert [one["holds"] for one in told] == [False, True, False, True]

    by_id = invoke("--store", dsn, "withdraw", TURN, "--id", told[1]["id"][:8])
    assert by_id.output == f"turn {TURN}: outcome withdrawn\n"
    assert current(invoke, dsn, "kind, outcome") == ["comment,", "outcome,used"]
    none = invoke("--store", dsn, "withdraw", TURN, "score")
    assert (none.exit_code, "There is no score" in none.stderr) == (1, True)
    unsaid = invoke("--store", dsn, "withdraw", TURN)
    assert (unsaid.exit_code, "Name the judgment" in unsaid.stderr) == (2, True)


def test_who_may_only_insert_names_the_kind(
    invoke: Invoke, deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is looked up: the writer of deploy/ reads no judgments. What is written lands."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    writer = deployment.dsn("writer")
    monkeypatch.setenv("TURNSPAN_STORE_PASSWORD", writer.password)
    kind = ("--kind", "turn", "--project", "shop")
    for arguments in (
        ("annotate", TURN, "--outcome", "used", "--score", "8"),
        ("prefer", TURN, OTHER),
        ("rank", OTHER, CALL),
        ("withdraw", TURN, "outcome"),
    ):
        said = invoke("--store", str(writer), *arguments, *kind)
        assert (said.exit_code, said.stderr) == (0, "")
    rows = deployment.ask(
        "turnspan_reader",
        "SELECT kind, subject_id FROM turnspan.annotation_current ORDER BY ALL FORMAT TSV",
    )
    assert rows.text.splitlines() == [
        f"preference\t{TURN}",
        f"preference\t{OTHER}",
        f"score\t{TURN}",
    ]
