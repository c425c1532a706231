"""``turnspan consortium group``: runs in a log of llm's, on the screen and in the log itself."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from support.consortium_runs import Shape, Truth, made_log
from support.llm_logs import Call, LlmLog, recorded
from support.story import Invoke

COMMAND = ("consortium", "group")


@pytest.fixture
def log(tmp_path: Path) -> tuple[Path, Truth]:
    """A log in which two runs cannot be told apart."""
    for seed in range(20):
        path = tmp_path / f"{seed}.db"
        shape = Shape(runs=8, together=2, same_question=1, alike=1, failed_runs=0.2)
        made = made_log(path, seed, shape)
        if "ambiguous" in json.dumps(_json(path)):
            return path, made
    raise AssertionError("no seed makes ambiguous rows")


def _json(path: Path, *options: str) -> Any:
    from click.testing import CliRunner

    from turnspan_console.cli import turnspan

    done = CliRunner().invoke(turnspan, [*COMMAND, str(path), "--format", "json", *options])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_runs_and_what_is_left_to_a_person(log: tuple[Path, Truth], invoke: Invoke) -> None:
    """A table of each, with the reason and where a row may belong; then the sums."""
    path, made = log
    shown = invoke(*COMMAND, str(path)).stdout
    told = _json(path)
    assert len(told["runs"]) == made.runs
    assert all(run["consortium_id"] in shown for run in told["runs"])
    for each in told["review"]:
        assert each["row"] in shown and each["reason"] in shown
    assert f"{made.runs} runs of" in shown and "ambiguous" in shown.splitlines()[-1]


def test_why_a_row_is_where_it_is(log: tuple[Path, Truth], invoke: Invoke) -> None:
    """By which keys it was attached; or why not, and what it may belong to."""
    path, _ = log
    told = _json(path)
    run = next(run for run in told["runs"] if run["complete"])
    member = run["iterations"][0]["members"][0]
    shown = invoke(*COMMAND, str(path), "--explain", member["row"]).stdout
    assert f"member of run {run['consortium_id']}, iteration 1" in shown
    assert "attached by: interval, question, models, text" in shown
    left = next(each for each in told["review"] if each["candidates"])
    shown = invoke(*COMMAND, str(path), "--explain", left["row"]).stdout
    assert f"{left['row']}: in no run" in shown and left["candidates"][0]["output"] in shown
    nothing = invoke(*COMMAND, str(path), "--explain", "nothing")
    assert nothing.exit_code == 1 and "in no run and in no list" in nothing.stderr


def test_a_reviewers_decisions(log: tuple[Path, Truth], tmp_path: Path, invoke: Invoke) -> None:
    """They are followed; what is wrong with a file is said."""
    path, made = log
    file = tmp_path / "decisions.json"
    open_ = [each for each in _json(path)["review"] if each["candidates"]]
    decisions = [
        {"row": each["row"], "output": made.rows.get(each["row"], (None, 0))[0]} for each in open_
    ]
    file.write_text(json.dumps({"decisions": decisions}))
    left = {each["row"] for each in _json(path, "--decide", str(file))["review"]}
    assert not left & {each["row"] for each in decisions if each["output"] is not None}
    for text, words in (
        ("{", "is no JSON"),
        ("[]", 'must be {"decisions"'),
        ('{"decisions": [{"row": "a"}]}', "Decision 1"),
        ('{"decisions": [{"row": 1, "output": null}]}', "ids in quotes"),
        (json.dumps({"decisions": [{"row": "no\x1b[31m", "output": None}]}), "is in no list"),
    ):
        file.write_text(text)
        refused = invoke(*COMMAND, str(path), "--decide", str(file))
        assert refused.exit_code == 2 and words in refused.stderr and "\x1b" not in refused.stderr


def test_writing_into_the_log(log: tuple[Path, Truth], invoke: Invoke) -> None:
    """It says what it wrote and where the copy is; a second time, that there is nothing to do."""
    path, _ = log
    shown = invoke(*COMMAND, str(path), "--write").stdout
    assert "rows of responses; as it was before:" in shown
    (copy,) = path.parent.glob(f"{path.name}.*.backup")
    assert str(copy) in shown
    again = invoke(*COMMAND, str(path), "--write")
    assert again.exit_code == 0 and "nothing to write" in again.stdout
    with sqlite3.connect(path) as db:
        found = db.execute(
            "SELECT count(*), count(DISTINCT consortium_id) FROM responses"
        ).fetchone()
        assert found[1] == len(_json(path)["runs"])


def test_the_file_of_llm_consortium_beside_the_log(tmp_path: Path, invoke: Invoke) -> None:
    """Is found by itself; it is written only where that is asked for."""
    path = recorded("llm0.31.1_lc0.8.0", tmp_path)
    other = tmp_path / "consortium_logs.db"
    before = other.read_bytes()
    told = _json(path, "--write")
    assert all(run["complete"] and run["source_id"] for run in told["runs"])
    assert other.read_bytes() == before
    assert invoke(*COMMAND, str(path), "--write", "--also-consortium-db").exit_code == 0
    with sqlite3.connect(other) as db:
        roles = dict(db.execute("SELECT is_arbiter_response, count(*) FROM responses GROUP BY 1"))
    assert roles[1] == len(told["runs"])


def test_names_from_a_file(tmp_path: Path, invoke: Invoke) -> None:
    """One a line; without them such a log has no runs."""
    path = tmp_path / "logs.db"
    made_log(path, 1, Shape(runs=2))
    db = LlmLog.opened(path).db
    db.execute("DROP TABLE consortium_configs")
    db.execute("UPDATE responses SET response_json = NULL")
    assert _json(path)["runs"] == []
    names = tmp_path / "names.txt"
    names.write_text("\ncouncil\nother\n")
    assert len(_json(path, "--models", str(names))["runs"]) == 2
    missing = invoke(*COMMAND, str(path), "--models", str(tmp_path / "none.txt"))
    assert missing.exit_code == 2 and "cannot be read" in missing.stderr


def test_what_is_wrong_is_said_in_a_sentence(tmp_path: Path, invoke: Invoke) -> None:
    """Files, lengths of time, options that exclude each other."""
    path = tmp_path / "logs.db"
    gone = invoke(*COMMAND, str(path))
    assert gone.exit_code == 3 and "There is no file" in gone.stderr
    made_log(path, 1, Shape(runs=1))
    assert "not a length of time" in invoke(*COMMAND, str(path), "--window", "soon").stderr
    refused = invoke(*COMMAND, str(path), "--write", "--strategy", "literal")
    assert refused.exit_code == 2 and "nothing of theirs is written" in refused.stderr
    assert "no consortium_logs.db" in invoke(*COMMAND, str(path), "--also-consortium-db").stderr
    assert invoke(*COMMAND, str(path), "--strategy", "literal", "--window", "2h").exit_code == 0


def test_hostile_names_are_made_visible(tmp_path: Path, invoke: Invoke) -> None:
    """A model's name may hold what a terminal obeys."""
    path = tmp_path / "logs.db"
    made_log(path, 1, Shape(runs=1))
    judge = LlmLog.opened(path)
    prompt = "<prompt>\n    <instruction><prompt>\n    <instruction>a</instruction>\n</prompt>"
    judge.log(Call("x\x1b[2J", "m\x1b]0;t\x07", f"{prompt}</instruction>\n</prompt>", "b"))
    shown = invoke(*COMMAND, str(path)).stdout
    assert "\x1b" not in shown and "\x07" not in shown
