"""``turnspan lineage`` and ``turnspan compare``, on a camp that was played."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import training_camp
import turnspan
from support.camp_rows import ATTEMPTS, LINEAGE, ROLLOUTS, camp_rows
from support.kept_stores import copy_schema, migrated
from support.landing import insert
from support.rows import turn
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.cli import turnspan as command

pytestmark = pytest.mark.usefixtures("kept_engine")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store in which the training camp was played."""
    path = tmp_path_factory.mktemp("camp") / "store"
    copy_schema(path)
    store = str(Dsn(scheme="chdb", path=path))
    turnspan.configure(service_name="camp", store=store, exporters=["turnspan"])
    turnspan.instrument()
    training_camp.run("camp")
    turnspan.shutdown()
    turnspan.uninstrument()
    return store


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


def test_what_is_to_become_of_a_lineage(tmp_path: Path) -> None:
    """Said of an attempt it is said of its lineage, once; one that is locked is not evolved."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    with migrated(dsn) as store:
        insert(store, *camp_rows())

    def told(*arguments: str, code: int = 0) -> str:
        return run(str(dsn), *arguments, code=code)

    name = f"lineage {LINEAGE}: "
    said = ("--directive", "be brief", "--once", "add prices", "--evolve", "--author", "ada")
    assert told("steer", ATTEMPTS[1], LINEAGE, *said) == f"{name}directive, once, evolve\n"
    tree = told("lineage", "camp")
    assert "A  plain  to be evolved" in tree
    assert "directive  be brief" in tree and "next time  add prices" in tree
    assert told("steer", ROLLOUTS[0][:8], "--lock", "--reason", "the best") == f"{name}locked\n"
    refused = told("steer", LINEAGE, "--evolve")
    assert refused == f"{name}not to be evolved: it is locked\n"
    assert told("steer", LINEAGE, "--unlock", "--evolve") == f"{name}unlocked, evolve\n"
    assert told("steer", LINEAGE, "--directive", "") == f"{name}directive\n"
    (lineage,) = json.loads(told("lineage", "camp", "--format", "json"))["lineages"]
    assert (lineage["locked"], lineage["evolve"], lineage["directive"]) == (False, True, "")
    kinds = [(one["kind"], one["text"]) for one in lineage["events"]]
    assert kinds[1:] == [
        ("directive", "be brief"), ("once", "add prices"), ("evolve", ""), ("locked", "the best"),
        ("unlocked", ""), ("evolve", ""), ("directive", ""),
    ]  # fmt: skip
    assert "Say --directive, --once" in told("steer", LINEAGE, code=2)
    assert "either --lock or --unlock" in told("steer", LINEAGE, "--lock", "--unlock", code=2)
    assert "what to do differently" in told("steer", LINEAGE, "--once", " ", code=2)
    with open_store(dsn) as store:
        insert(store, turn("apart-turn"))
    assert "turn apart-turn is of no lineage" in told("steer", "apart-turn", "--lock", code=2)
