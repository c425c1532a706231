"""Datasets: which cases come of turns and files, versions, and what forgetting does to them."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.landing import insert
from support.rows import PROJECT, T0, turn
from turnspan_clickhouse.rows.loop_tables import AttemptRow
from turnspan_clickhouse.rows.tables import Annotation, DatasetCase
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.row_writer import judging_spool
from turnspan_records.again.cases.case_sources import cases_of_file, cases_of_turns
from turnspan_records.again.cases.dataset import (
    Case,
    Dataset,
    DatasetError,
    compare_datasets,
    datasets,
    load_dataset,
    make_dataset,
)
from turnspan_records.keeping.erasure import forget
from turnspan_records.keeping.subject_keys import ForgetSubject
from turnspan_records.turn_filters import TurnListFilter, turn_filter

ONE_KIND = pytest.mark.parametrize("store_kind", ["embedded"], indirect=True)
HOSTILE = "a\x00b\x1b[31m ‮ 'x' <b>\ud83d".encode("utf-8", "replace").decode()


def judged(subject: str, kind: str, **values: Any) -> Annotation:
    """A judgment of a turn by a person."""
    return Annotation(
        *(PROJECT, "turn", subject, kind, f"{subject}-{kind}"),
        author="ada", created_at=T0, written_at=T0, **values,
    )  # fmt: skip


def asked(turn_id: str, at: float, text: str, reply: str, **values: Any) -> Any:
    """A turn of a session of its own."""
    known = {"session_id": f"s-{turn_id}", "user_message": text, "response_text": reply}
    return turn(turn_id, at, **{**known, **values})


def made(
    store: Store, name: str, cases: list[Case], project: str = PROJECT
) -> tuple[Dataset, bool]:
    """Make a dataset and land it."""
    found = make_dataset(store, name, cases, project=project)
    ship(store)
    return found


def of_turns(store: Store, text: str = "", **values: Any) -> dict[str, Case]:
    """Cases by their turn."""
    wanted = TurnListFilter(filter=turn_filter(text), **values)
    return {case.turn_id: case for case in cases_of_turns(store, wanted, tags=["t"])[1]}


def test_turns_become_cases_and_a_forgotten_turn_takes_its_case(store: Store) -> None:
    """The expected answer is what a person corrected, used or flagged; a running turn and one
    without an input are none; of equal inputs the newest counts."""
    insert(
        store,
        asked("used", 1, "one?", "1"),
        asked("wrong", 2, "two?", "3"),
        asked("open", 3, "three?", "3", agent_name="other"),
        asked("flag", 4, HOSTILE, "good"),
        asked("excluded", 5, "five?", "5"),
        asked("again", 6, "one?", "uno"),
        asked("runs", 7, "seven?", "", status="running"),
        asked("silent", 8, "", "8"),
        asked("tried", 9, "", "9", attempt_id="a1"),
        AttemptRow(PROJECT, "l", "r", "a1", input="nine?", status="succeeded", started_at=T0),
        judged("used", "outcome", outcome="used"),
        judged("wrong", "outcome", outcome="modified"),
        judged("wrong", "evaluation:correction", comment="2"),
        judged("flag", "training_flag", training_flag=1),
        judged("excluded", "outcome", outcome="used"),
        judged("excluded", "training_flag", training_flag=-1),
        turn("foreign", 10, project="bakery", user_message="bread?"),
    )
    cases = of_turns(store, project=PROJECT)
    assert {id_: (case.input, case.expected) for id_, case in cases.items()} == {
        "tried": ("nine?", None),
        "again": ("one?", None),
        "excluded": ("five?", None),
        "flag": (HOSTILE, "good"),
        "open": ("three?", None),
        "wrong": ("two?", "2"),
        "used": ("one?", "1"),
    }
    assert cases["wrong"].tags == ("t",)
    assert set(of_turns(store, "agent:other", project=PROJECT)) == {"open"}
    with pytest.raises(DatasetError, match=r"several projects \(bakery, shop\)"):
        of_turns(store)
    with pytest.raises(DatasetError, match="No ended turn"):
        of_turns(store, "agent:nobody")

    first, is_new = made(store, "questions", list(cases.values()))
    assert is_new
    assert [case.turn_id for case in first.cases] == [
        "tried", "again", "excluded", "flag", "open", "wrong",
    ]  # fmt: skip
    assert load_dataset(store, "questions").cases == first.cases

    done = forget(store, ForgetSubject("session", "s-wrong", PROJECT), settle=0.0)
    assert done.rows["dataset_case"] == 1
    left = load_dataset(store, f"questions@{first.version[:4]}")
    assert [case.turn_id for case in left.cases] == ["tried", "again", "excluded", "flag", "open"]


@ONE_KIND
def test_versions_follow_from_their_cases(store: Store) -> None:
    """Equal cases make no version; an older version made again is the newest; nothing of a version
    changes; a name in two projects asks which."""
    one, two = Case("a", "1", ("x",)), Case({"b": [1, None]}, {"c": 2.5})
    first, _ = made(store, "d", [one, two, Case("a", "other")])
    assert first.cases == (one, two)
    assert made(store, "d", [two, one])[1] is False
    second, is_new = made(store, "d", [Case("a", "2"), Case("", "")])
    assert is_new
    assert load_dataset(store, "d").title == second.title
    assert load_dataset(store, "d").cases == (Case("a", "2"), Case("", ""))
    assert load_dataset(store, first.title).cases == first.cases
    found = compare_datasets(first, second)
    assert (found.added, found.removed) == ([Case("", "")], [two])
    assert found.changed == [(one, Case("a", "2"))]

    again, is_new = made(store, "d", [one, two])
    assert (again.version, is_new) == (first.version, True)
    assert load_dataset(store, "d").version == first.version
    assert [row["version"] for row in datasets(store).dicts()] == [first.version, second.version]
    assert store.query("SELECT count() FROM dataset_case").rows == [(4,)]

    for title, said in (("e", "no dataset 'e'"), ("d@zz", "no version")):
        with pytest.raises(DatasetError, match=said):
            load_dataset(store, title)
    made(store, "d", [one], project="other")
    with pytest.raises(DatasetError, match=r"Several projects have a dataset 'd' \(other, shop\)"):
        load_dataset(store, "d")
    assert load_dataset(store, "d", project="other").cases == (one,)
    for name in ("", "a@b", "a b", "x" * 101):
        with pytest.raises(ValueError, match="is no name of a dataset"):
            make_dataset(store, name, [one])
    with pytest.raises(ValueError, match="would have no cases"):
        make_dataset(store, "d", [])
    secret = Case("My key is sk-ant-api03-" + "x" * 80, None)
    made(store, "secrets", [secret])
    assert "sk-ant" not in str(load_dataset(store, "secrets").cases)
    assert judging_spool(store, DatasetCase).folder == store.dsn.spool


ROWS: list[Mapping[str, Any]] = [
    {"question": "1+1", "answer": "2", "tags": ["sum", "easy"]},
    {"question": HOSTILE, "answer": "", "tags": []},
]


def test_files_become_cases(tmp_path: Path) -> None:
    """JSON lines, CSV and Parquet say the same; JSON keeps values. What cannot be read says which
    line, and what to do."""
    columns = ("question", "answer", "tags")
    wanted = [Case("1+1", "2", ("all", "sum", "easy")), Case(HOSTILE, None, ("all",))]
    arrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text(
        f'question,answer,tags\n1+1,2,"sum, easy"\n"{HOSTILE}",,\n', encoding="utf-8-sig"
    )
    (tmp_path / "a.JSONL").write_text(
        '\n{"question": "1+1", "answer": "2", "tags": "sum,easy"}\n'
        + json.dumps({"question": HOSTILE})
    )
    for name in ("a.parquet", "a.csv", "a.JSONL"):
        assert list(cases_of_file(tmp_path / name, columns, tags=["all"])) == wanted, name
    values = tmp_path / "values.jsonl"
    values.write_text('{"input": {"a": [1]}, "expected": false}\n')
    assert list(cases_of_file(values)) == [Case({"a": [1]}, False)]

    for content, said in (
        ('{"x": 1}', r"case 1, has nothing in column 'input' \(there are 'x'\).*--input-column"),
        ("{", "line 1 is no JSON"),
        ("[1]", "line 1 is no JSON object"),
        ('{"input": "a", "tags": 3}', "tags are a list of texts, not 3"),
    ):
        values.write_text(content)
        with pytest.raises(DatasetError, match=said):
            list(cases_of_file(values))
    with pytest.raises(DatasetError, match=r"ends with none of \.jsonl, \.csv, \.parquet"):
        list(cases_of_file(tmp_path / "a.xlsx"))
    with pytest.raises(DatasetError, match="cannot be read"):
        list(cases_of_file(tmp_path / "missing.csv"))
    (tmp_path / "broken.parquet").write_bytes(b"no")
    with pytest.raises(DatasetError, match="cannot be read"):
        list(cases_of_file(tmp_path / "broken.parquet"))
