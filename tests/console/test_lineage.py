"""``turnspan lineage`` and ``turnspan compare``, on a camp that was played."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import training_camp
import turnspan
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.cli import turnspan as command


@pytest.fixture
def played(tmp_path: Path) -> Iterator[str]:
    """A store in which the training camp was played."""
    store = str(Dsn(scheme="chdb", path=tmp_path / "store"))
    turnspan.configure(service_name="camp", store=store, exporters=["turnspan"])
    turnspan.instrument()
    training_camp.run("camp")
    turnspan.shutdown()
    turnspan.uninstrument()
    yield store


def run(store: str, *arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(command, ["--store", store, *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_the_tree_and_the_answers(played: str) -> None:
    """The only experiment is shown without its name: attempts, locks, what came of changes."""
    tree = run(played, "lineage")
    for words in (
        "Experiment camp",
        "need        articles that readers can check",
        "B  structured  locked",
        "as expected",
        "not as expected",
        "BadRequestError",
        "Naming what is missing in the prompt is enough (prompt)  5 of 5 times",
    ):
        assert words in tree

    found: dict[str, Any] = json.loads(run(played, "lineage", "camp", "--format", "json"))
    assert [one["label"] for one in found["lineages"]] == list("ABCD")
    rollouts = [one for lineage in found["lineages"] for one in lineage["rollouts"]]
    assert len(rollouts) == 4 * 3 * 2 + 1
    tries = [one["attempts"] for one in rollouts if len(one["attempts"]) > 1]
    assert [[one["status"] for one in each] for each in tries] == [
        ["failed", "succeeded"],
        ["succeeded"] * 4,
    ]
    assert [[one["final"] for one in each] for each in tries][1] == [True, False, False, False]
    ids = [one["final_attempt_id"] for one in rollouts[:4:2]]

    side = run(played, "compare", *ids)
    assert "attempt " + ids[0][:12] in side
    assert "system prompt" in side
    same = json.loads(run(played, "compare", ids[0], ids[0], "--format", "json"))
    assert same["differing"] == []
    assert f"Attempt {ids[0]}" in run(played, "show", ids[0])
    assert "score 9.9" not in tree
    written = rollouts[0]["attempts"][-1]["artifacts"][0]["artifact_id"]
    run(played, "annotate", written, "--score", "9.9")
    assert "score 9.9" in run(played, "lineage")


def test_what_cannot_be_shown(played: str) -> None:
    """One sentence with the remedy, and an exit code."""
    assert "is an experiment 'other'" in run(played, "lineage", "other", code=1)
    tree = json.loads(run(played, "lineage", "--format", "json"))
    lineage = tree["lineages"][0]
    one = lineage["rollouts"][0]["rollout_id"]
    assert "2 to 6 answers can be compared, not 1" in run(played, "compare", one, code=2)
    refused = run(played, "compare", lineage["lineage_id"], one, code=2)
    assert "has no answer to compare" in refused
    assert "no experiments" in run(played, "lineage", "--project", "none", code=1)
