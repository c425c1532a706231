"""``turnspan gate``: exit codes, files, what a pull request shows."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.story import ENTRY, Invoke
from turnspan_records.again.gating.figures import RunFigures, VersionFigures, write_figures


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without a project and without a store, with figures of two versions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURNSPAN_STORE", "http://nowhere.invalid:1/none")
    hostile = "a|b\n<img src=x> @ada \x1b[31m\u202e `x` [y](z)"
    for name, failing in (("base", 0), ("head", 30)):
        runs = [
            RunFigures("turn", f"{name}{n}", case=f"{n:03}", asked=hostile, seconds=2.0,
                       end="error" if n < failing else "completed", cost_usd=0.01 + failing / 1e4)
            for n in range(80)
        ]  # fmt: skip
        write_figures(tmp_path / f"{name}.json", VersionFigures(name, runs))
    write_figures(tmp_path / "few.json", VersionFigures("few", runs[:6]))
    return tmp_path


VERSIONS = ("gate", "--base", "base.json", "--head")


def test_exit_codes_say_what_was_found(invoke: Invoke, place: Path) -> None:
    """0 passed, 1 worse, 2 too little data, 3 not compared; the store of files is not opened."""
    worse = invoke(*VERSIONS, "head.json")
    assert worse.exit_code == 1, worse.output
    assert worse.output.startswith("head against base: worse in completion, cost, stop:error\n")
    assert re.search(r"completion +worse +100.0% +62.5% +-37.5 points +-4\d.\d to", worse.output)
    assert "head0" in worse.output and "\x1b" not in worse.output
    allowed = [f"--max-worse={one}" for one in ("completion=60%", "stop:error=60%", "cost=0.01")]
    assert invoke(*VERSIONS, "head.json", *allowed).exit_code == 0
    few = invoke(*VERSIONS, "few.json", "--format", "json")
    assert few.exit_code == 2 and json.loads(few.stdout)["verdict"] == "too_little_data"
    assert "4 more" in invoke("gate", "--base", "few.json", "--head", "few.json").output
    for arguments, words in (
        (("--nothing",), "No such option"),
        (("--max-worse", "speed=1%"), "There is no measure 'speed'; there are: completion"),
        (("--max-worse", "cost"), "is no MEASURE=AMOUNT"),
        (("--config", "none.toml"), "none.toml cannot be read"),
        (("--head-where", "agent:x"), "is a file, which has no filter"),
        (("--since", "nonsense"), "is not a time"),
        (("--since", "1h", "--until", "2h"), "--since must be before --until"),
        (("--base-where", "agent:x", "--base", "", "--store", "nowhere://x"), "no known scheme"),
    ):
        refused = invoke(*VERSIONS, "head.json", *arguments)
        assert (refused.exit_code, words in refused.stderr) == (3, True), refused.output
    assert invoke(*VERSIONS, "gone.json").exit_code == 3
    assert "does not answer" in invoke(*VERSIONS, "1.0").stderr  # the store is asked

    (place / "pyproject.toml").write_text('[tool.turnspan.gate]\nmeasures = ["duration"]\n')
    assert invoke(*VERSIONS, "head.json").exit_code == 0
    assert invoke(*VERSIONS, "head.json", "--measure", "cost").exit_code == 1


def test_a_summary_has_no_markup_of_what_was_recorded(invoke: Invoke, place: Path) -> None:
    """It is appended, a row stays a row, nobody is mentioned, and links lead to the page."""
    for _ in range(2):
        arguments = ("--summary", "s.md", "--page", "http://127.0.0.1:8787/", "--out", "o.json")
        assert invoke(*VERSIONS, "head.json", *arguments).exit_code == 1
    text = (place / "s.md").read_text()
    assert text.count("### ❌ head against base") == 2
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {8}
    assert not re.search(r"(?<!\\)[<`]img|@ada|\x1b|(?<!\\)\[y|\u202e", text)
    assert "[head0](http://127.0.0.1:8787/go/head0)" in text
    assert (place / "o.json").read_bytes() == (place / "head.json").read_bytes()


def test_the_answer_is_the_same_every_time(invoke: Invoke, place: Path) -> None:
    """In another process too, whatever the order of its sets."""
    words = (*VERSIONS, "head.json", "--format", "json")
    other = subprocess.run(
        [sys.executable, "-c", ENTRY, *words],
        cwd=place,
        capture_output=True,
        check=False,
        text=True,
        env={"PYTHONHASHSEED": "1"},
    )
    assert invoke(*words).stdout == other.stdout and '"worse"' in other.stdout
