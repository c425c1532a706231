"""Training data of what agents wrote: evaluated artifacts, corrections, and locked lineages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.improved import Improved
from support.landing import insert
from support.rows import PROJECT, T0
from support.training import lines
from turnspan_clickhouse.rows.tables import Withdrawal
from turnspan_clickhouse.store.client import Store
from turnspan_records.training import Exported, Filters, TrainingSet, export, rule
from turnspan_records.training.export_request import Kind

ONE = {"train": 1.0}


@pytest.fixture
def recorded() -> Improved:
    return Improved()


def made_of(
    store: Store, folder: Path, recorded: Improved, kind: Kind = "sft", **values: Any
) -> tuple[list[dict[str, Any]], Exported]:
    """The lines of a set of these records."""
    insert(store, *recorded.rows)
    return exported(store, folder, kind, **values)


def exported(
    store: Store, folder: Path, kind: Kind = "sft", **values: Any
) -> tuple[list[dict[str, Any]], Exported]:
    made = export(store, folder, TrainingSet(kind, "trl", splits=ONE, **values))
    return lines(folder / "train.jsonl"), made


def pairs_of(found: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    """Source, chosen and rejected text of pairs."""
    return {
        (one["source"]["pair_by"], one["chosen"][0]["content"], one["rejected"][0]["content"])
        for one in found
    }


def corrected(recorded: Improved) -> None:
    """A page that an agent wrote in two calls, and what a person made of it."""
    recorded.with_a_tool("t1", "Write the page.", "The sky is green.", tools=recorded.tools())
    recorded.wrote("w1", "t1", "The sky is green.")
    recorded.correct("h1", "w1", "t1", "The sky is blue.")


@pytest.mark.parametrize("unit", ["turn", "call", "session"])
def test_a_correction_over_what_the_agent_wrote(
    embedded: Store, tmp_path: Path, recorded: Improved, unit: Any
) -> None:
    """The prompt is all that the call was given that wrote it, whatever a sample is else."""
    corrected(recorded)

    (line,), made = made_of(embedded, tmp_path / "set", recorded, "preference", unit=unit)

    assert [one["role"] for one in line["prompt"]] == [
        *("system", "user", "assistant", "tool", "tool"),
    ]
    assert line["chosen"] == [{"role": "assistant", "content": "The sky is blue."}]
    assert line["rejected"] == [{"role": "assistant", "content": "The sky is green."}]
    source = line["source"]
    assert (source["pair_by"], source["author"]) == ("correction", "ada")
    assert (source["chosen"]["id"], source["rejected"]["id"]) == ("h1", "w1")
    assert source["chosen"]["calls"] == source["rejected"]["calls"] == ["c-t1b"]
    assert made.manifest["counts"]["corrections"] == 2
    assert made.manifest["dropped"] == {}


def test_a_correction_is_a_completion(embedded: Store, tmp_path: Path, recorded: Improved) -> None:
    """Of sft, and with a true label of kto; the manifest says how many there were."""
    corrected(recorded)

    (line,), made = made_of(embedded, tmp_path / "set", recorded)
    (labelled,), _ = exported(embedded, tmp_path / "kto", "kto")
    without, _ = exported(embedded, tmp_path / "without", good=(rule("flag=1"),))

    assert line["completion"][-1]["content"] == "The sky is blue."
    assert (line["source"]["id"], line["source"]["unit"]) == ("h1", "artifact")
    assert made.manifest["counts"]["corrections"] == 1
    assert "correction" in made.manifest["query"]["good"]
    assert labelled["label"] is True
    assert without == []


def test_texts_that_cannot_be_told_are_counted(
    embedded: Store, tmp_path: Path, recorded: Improved
) -> None:
    """Cut when it was recorded, gone, of no turn, of another target, flagged out."""
    for number, name in enumerate(("cut", "gone", "other", "flagged", "around")):
        recorded.turn(name, f"Write {number}.", f"Text {number}.")
        recorded.wrote(f"w-{name}", name, "Text 4" if name == "around" else f"Text {number}.")
        target = "another page" if name == "other" else "page"
        text = "" if name == "gone" else f"Better {number}."
        size = 99 if name == "cut" else len(text)
        recorded.correct(f"h-{name}", f"w-{name}", name, text, content_bytes=size, target=target)
    recorded.judge("flagged", "training_flag", training_flag=-1)
    recorded.wrote("w-nowhere", "", "Text.", session_id="s")
    recorded.judge("w-nowhere", "score", "artifact", score=3.0)

    found, made = made_of(embedded, tmp_path / "set", recorded, "preference")

    assert pairs_of(found) == {("correction", "Better 4.", "Text 4")}
    assert made.manifest["dropped"] == {
        "artifact_without_turn": 1,
        "content_truncated": 1,
        "empty_reply": 1,
        "flagged_out": 3,
        "pair_of_two_prompts": 1,
        "pair_without_sample": 3,
    }
    assert made.manifest["left_out"] == {"reply_around_the_text": 2}


def test_what_was_withdrawn_is_no_correction(
    embedded: Store, tmp_path: Path, recorded: Improved
) -> None:
    """And of two corrections of one text, one over the other, the better is learned."""
    corrected(recorded)
    withdrawn = recorded.rows[-1]
    recorded.correct("h2", "w1", "t1", "The sky is grey.")
    recorded.correct("h3", "w1", "t1", "The sky is blue at noon.")
    recorded.prefer("h3", "h2", subject="artifact")
    recorded.at += 1
    recorded.rows.append(
        Withdrawal(
            project=PROJECT,
            subject_kind="artifact",
            subject_id="h1",
            kind="preference",
            annotation_id=withdrawn.annotation_id,  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue]
            withdrawal_id="taken back",
            author="ada",
            created_at=recorded.now(),
            written_at=T0,
        )
    )

    found, _ = made_of(embedded, tmp_path / "set", recorded, "preference")
    learned, _ = exported(embedded, tmp_path / "sft")

    assert {chosen for _, chosen, _ in pairs_of(found)} == {
        "The sky is grey.",
        "The sky is blue at noon.",
    }
    assert [one["completion"][0]["content"] for one in learned] == ["The sky is blue at noon."]


def test_whose_word_counts(embedded: Store, tmp_path: Path, recorded: Improved) -> None:
    """A machine found the one correction, a person the other; either can be asked for alone."""
    corrected(recorded)
    recorded.turn("t2", "Another page.", "Two.")
    recorded.wrote("w2", "t2", "Two.")
    recorded.wrote("h2", "t2", "Two and a half.", kind="correction")
    recorded.prefer("h2", "w2", subject="artifact", author="passive:mediawiki")

    found, _ = made_of(embedded, tmp_path / "both", recorded, "preference")
    machines, _ = exported(
        embedded, tmp_path / "one", "preference", filters=Filters(authors=("passive:mediawiki",))
    )
    none, _ = exported(embedded, tmp_path / "none", "preference", pairs=("preferences", "scores"))

    assert len(found) == 2
    assert [one["chosen"][0]["content"] for one in machines] == ["Two and a half."]
    assert none == []


def test_what_was_said_of_an_artifact_holds_for_what_wrote_it(
    embedded: Store, tmp_path: Path, recorded: Improved
) -> None:
    """For its turn and its call: the turn's own judgment goes before it, and of several artifacts
    of one turn the last one's; every score is a line of a reward."""
    recorded.turn("t1", "One?", "One.")
    recorded.turn("t2", "Two?", "Two.")
    recorded.wrote("w1", "t1", "One.")
    recorded.wrote("w1b", "t1", "One.")
    recorded.wrote("w2", "t2", "Two.", call_id="c-t2", turn_id="")
    recorded.judge("w1", "outcome", "artifact", outcome="rejected")
    recorded.judge("w1b", "outcome", "artifact", outcome="used")
    recorded.judge("w1", "score", "artifact", score=3.0)
    recorded.judge("w1b", "score", "artifact", score=8.0)
    recorded.judge("w2", "outcome", "artifact", outcome="used")
    recorded.judge("w2", "evaluation:style", "artifact", score=0.5)
    recorded.judge("t2", "outcome", outcome="rejected")

    good, _ = made_of(embedded, tmp_path / "sft", recorded)
    rewards, _ = exported(embedded, tmp_path / "reward", "reward")
    by_call, _ = exported(embedded, tmp_path / "calls", "reward", unit="call")
    high, _ = exported(embedded, tmp_path / "high", good=(rule("score>=8"),))

    assert [one["source"]["id"] for one in good] == ["t1"]
    scores = {(one["source"]["id"], one["scored_by"], one["score"]) for one in rewards}
    assert scores == {("t1", "score", 8.0), ("t1", "score", 3.0), ("t2", "style", 0.5)}
    assert {(f"c-{id_}", *said) for id_, *said in scores} == {
        (one["source"]["id"], one["scored_by"], one["score"]) for one in by_call
    }
    assert [one["source"]["id"] for one in high] == ["t1"]


def test_one_artifact_over_another_is_one_turn_over_another(
    embedded: Store, tmp_path: Path, recorded: Improved
) -> None:
    """Where no person wrote either: both answers are the agent's own, to one prompt."""
    for id_ in ("t1", "t2", "t3"):
        recorded.turn(id_, "Q?" if id_ != "t3" else "Another?", f"Answer {id_}.")
        recorded.wrote(f"w-{id_}", id_, f"Answer {id_}.")
    recorded.prefer("w-t2", "w-t1", subject="artifact")
    recorded.prefer("w-t3", "w-t1", subject="artifact")
    recorded.prefer("w-t1", "w-nobody's", subject="artifact")

    found, made = made_of(embedded, tmp_path / "turns", recorded, "preference")
    calls, _ = exported(embedded, tmp_path / "calls", "preference", unit="call")

    assert pairs_of(found) == pairs_of(calls) == {("preference", "Answer t2.", "Answer t1.")}
    assert found[0]["source"]["chosen"]["id"] == "t2"
    assert calls[0]["source"]["chosen"]["id"] == "c-t2"
    assert made.manifest["dropped"] == {"pair_of_two_prompts": 1, "pair_without_sample": 1}


def test_what_undecorated_code_wrote(embedded: Store, tmp_path: Path, recorded: Improved) -> None:
    """It names an attempt and no turn: the attempt's last answer before it wrote it."""
    recorded.lineage("A")
    recorded.result("t1", "A")
    recorded.wrote("w1", "", "Answer t1.", attempt_id="a-t1")
    recorded.judge("w1", "score", "artifact", score=7.0)
    recorded.correct("h1", "w1", "", "A better answer.")

    rewards, _ = made_of(embedded, tmp_path / "reward", recorded, "reward")
    found, made = exported(embedded, tmp_path / "pairs", "preference")

    assert [(one["source"]["id"], one["score"]) for one in rewards] == [("t1", 7.0)]
    assert pairs_of(found) == {("correction", "A better answer.", "Answer t1.")}
    assert made.manifest["dropped"] == {}


def lineages(recorded: Improved) -> None:
    """A is locked with its second version; B and C are not."""
    for name in "ABC":
        recorded.lineage(name)
    recorded.result("a1", "A", cycle=1, version="v1")
    recorded.result("b1", "B", cycle=1)
    recorded.result("a2", "A", cycle=2, version="v2")
    recorded.result("b2", "B", cycle=2)
    recorded.result("c2", "C", "Another question?", cycle=2)
    recorded.result("failed", "B", cycle=2, status="failed")
    recorded.lock("A")
    recorded.lock("C")
    recorded.lock("C", "unlocked")


def test_a_locked_lineage_is_good_and_better(
    embedded: Store, tmp_path: Path, recorded: Improved
) -> None:
    """With the version that it was locked with, in its cycle, for the same prompt."""
    lineages(recorded)

    good, _ = made_of(embedded, tmp_path / "sft", recorded)
    found, made = exported(embedded, tmp_path / "pairs", "preference")
    others, _ = exported(embedded, tmp_path / "others", filters=Filters(authors=("somebody",)))

    assert [one["source"]["id"] for one in good] == ["a2"]
    assert good[0]["source"]["judged_by"] == ["coach"]
    assert pairs_of(found) == {("locked", "Answer a2.", "Answer b2.")}
    assert made.manifest["dropped"] == {}
    assert others == []


def test_locked_is_weaker_than_a_word_and_stronger_than_a_score(
    embedded: Store, tmp_path: Path, recorded: Improved
) -> None:
    """Each source alone can be asked for."""
    lineages(recorded)
    recorded.result("other", "B", "Another question?", cycle=2)
    recorded.judge("b2", "score", score=9.0)
    recorded.judge("a2", "score", score=2.0)

    found, made = made_of(embedded, tmp_path / "all", recorded, "preference")
    by_score, _ = exported(embedded, tmp_path / "scores", "preference", pairs=("scores",))
    insert(embedded, *preferred(recorded))
    by_word, _ = exported(embedded, tmp_path / "word", "preference")

    assert pairs_of(found) == {("locked", "Answer a2.", "Answer b2.")}
    assert made.manifest["dropped"] == {"pair_contradicted": 1}
    assert pairs_of(by_score) == {("score", "Answer b2.", "Answer a2.")}
    assert pairs_of(by_word) == {("preference", "Answer b2.", "Answer a2.")}


def preferred(recorded: Improved) -> list[Any]:
    before = len(recorded.rows)
    recorded.prefer("b2", "a2")
    return recorded.rows[before:]


def test_lineages_of_other_prompts_are_no_pair(
    embedded: Store, tmp_path: Path, recorded: Improved
) -> None:
    """They are counted where their task is the same."""
    recorded.lineage("A")
    recorded.lineage("B")
    recorded.result("a1", "A", "Write it.", task="page")
    recorded.result("b1", "B", "Write it, briefly.", task="page")
    recorded.lock("A")

    found, made = made_of(embedded, tmp_path / "set", recorded, "preference")

    assert found == []
    assert made.manifest["dropped"] == {"pair_of_two_prompts": 1}
