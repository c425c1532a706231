"""Pairs of answers to one prompt: from scores and preferences, and never across prompts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from support.landing import insert
from support.training import Recorded, everything, lines, random_records
from turnspan_clickhouse.store.client import Store
from turnspan_records.training import TrainingSet, export
from turnspan_records.training.export_request import KINDS, UNITS, PairSource

ONE = {"train": 1.0}


def pairs(
    store: Store, folder: Path, *sources: PairSource, **values: Any
) -> tuple[set[tuple[str, str]], dict[str, int]]:
    """Chosen and rejected ids, and what was dropped."""
    wanted = TrainingSet("preference", "trl", pairs=sources, splits=ONE, **values)
    made = export(store, folder, wanted)
    found = [line["source"] for line in lines(folder / "train.jsonl")]
    assert len(found) == made.lines
    return {(one["chosen"]["id"], one["rejected"]["id"]) for one in found}, made.manifest["dropped"]


def scored(recorded: Recorded, **scores: float) -> None:
    """Answers to one prompt with these scores, each with a text of its own."""
    for id_, score in scores.items():
        recorded.turn(id_, "Q?", f"Answer {id_}.")
        recorded.judge(id_, "score", score=score)


def test_scores_by_a_margin(store: Store, tmp_path: Path) -> None:
    """Ties and what is too close are no pairs, and counted."""
    recorded = Recorded()
    scored(recorded, a=9, b=9, c=8, d=3)
    recorded.turn("e", "Another?", "Answer e.")
    recorded.judge("e", "score", score=1.0)
    insert(store, *recorded.rows)

    found, dropped = pairs(store, tmp_path / "all", "scores", margin=2.0)
    best, tied = pairs(store, tmp_path / "best", "best", margin=2.0)
    few, limited = pairs(store, tmp_path / "few", "scores", margin=2.0, pairs_a_prompt=1)

    assert found == {("a", "d"), ("b", "d"), ("c", "d")}
    assert dropped == {"pair_tied": 1, "pair_within_margin": 2}
    assert best == set()
    assert tied == {"pair_tied": 1}
    assert len(few) == 1
    assert limited == {**dropped, "pair_over_the_limit": 2}


def test_the_best_of_several(store: Store, tmp_path: Path) -> None:
    """The one best answer over each that is worse by the margin."""
    recorded = Recorded()
    scored(recorded, a=9, b=8.5, c=5, d=1)
    insert(store, *recorded.rows)

    found, dropped = pairs(store, tmp_path / "set", "best")

    assert found == {("a", "c"), ("a", "d")}
    assert dropped == {"pair_within_margin": 1}


def test_what_people_preferred(store: Store, tmp_path: Path) -> None:
    """Not a thing over itself, not across prompts, not what nobody recorded; the newest way."""
    recorded = Recorded()
    for id_ in ("a", "b", "c", "d", "e"):
        recorded.turn(id_, "Q?", f"Answer {id_}.")
    recorded.turn("same", "Q?", "Answer a.")
    recorded.turn("other", "Another?", "Answer other.")
    recorded.prefer("a", "b")
    recorded.prefer("c", "d")
    recorded.prefer("d", "c")
    recorded.prefer("e", "e")
    recorded.prefer("other", "b")
    recorded.prefer("same", "a")
    recorded.prefer("b", "nobody")
    recorded.prefer("c", "d", subject="call")
    insert(store, *recorded.rows)

    found, dropped = pairs(store, tmp_path / "set", "preferences")

    assert found == {("a", "b"), ("d", "c")}
    assert dropped == {
        "pair_of_another_unit": 1,
        "pair_of_equal_texts": 1,
        "pair_of_two_prompts": 1,
        "pair_with_itself": 1,
        "pair_without_sample": 1,
    }


def test_a_preference_goes_before_scores(store: Store, tmp_path: Path) -> None:
    """The score's pair is dropped, whichever way it points."""
    recorded = Recorded()
    scored(recorded, a=9, b=2)
    recorded.prefer("b", "a")
    insert(store, *recorded.rows)

    found, dropped = pairs(store, tmp_path / "set", "preferences", "scores")

    assert found == {("b", "a")}
    assert dropped == {"pair_contradicted": 1}


@pytest.mark.parametrize("seed", range(2))
def test_no_pair_across_prompts_and_no_prompt_in_two_splits(
    store: Store, tmp_path: Path, seed: int
) -> None:
    """Whatever was recorded, asked and judged, in whatever order and contradiction."""
    insert(store, *random_records(seed).rows)
    pairs_seen = 0

    for kind in KINDS:
        for unit in UNITS if kind == "preference" else UNITS[:1]:
            folder = tmp_path / f"{kind}-{unit}"
            splits = {"train": 0.5, "test": 0.5}
            wanted = TrainingSet(kind, "trl", unit=unit, splits=splits, seed=seed)
            made = export(store, folder, wanted)
            prompts: dict[str, set[str]] = {}
            for split in splits:
                for line in lines(folder / f"{split}.jsonl"):
                    written = json.dumps([line["prompt"], line["tools"]])
                    prompts.setdefault(line["source"]["prompt_hash"], set()).add(split)
                    prompts.setdefault(written, set()).add(split)
                    if kind == "preference":
                        pairs_seen += 1
                        assert line["chosen"] != line["rejected"]
            assert all(len(found) == 1 for found in prompts.values())
            if kind == "preference":
                _require_one_prompt_a_pair(store, folder)
            counted = Counter(one["source"]["content_hash"] for one in everything(folder))
            assert not counted or max(counted.values()) == 1
            assert made.lines == sum(counted.values())
    assert pairs_seen > 5


def _require_one_prompt_a_pair(store: Store, folder: Path) -> None:
    """By the records themselves: what both were given has the same hashes but for the session."""
    rows = store.query(
        "SELECT span_id, turn_id, system_prompt, tool_definitions, input_messages FROM llm_call"
    ).rows
    given = {str(turn): tuple(map(str, rest)) for _, turn, *rest in rows}
    given |= {str(span): tuple(map(str, rest)) for span, _, *rest in rows}
    given |= {f"s-{turn}": tuple(map(str, rest)) for _, turn, *rest in rows}
    for line in everything(folder):
        chosen, rejected = line["source"]["chosen"]["id"], line["source"]["rejected"]["id"]
        assert given[chosen] == given[rejected]
