"""What an arbiter decided, wherever it is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.llm_logs import recorded
from support.llm_samples import import_llm
from turnspan_clickhouse.store.client import Store
from turnspan_llm.grouping.arbiter_replies import Decided, of_json, of_reply, of_table

REPLY = """<think>no</think><SYNTHESIS> It is so.
</synthesis><confidence>80%</confidence><analysis>They agree.</analysis>
<needs_iteration> TRUE </needs_iteration>
<refinement_areas><area>edge cases</area><area>
 wording </area></refinement_areas>"""
DECIDED = Decided("It is so.", 0.8, "They agree.", True, ("edge cases", "wording"))


def test_a_reply_says_it_in_sections() -> None:
    assert of_reply(REPLY) == DECIDED
    assert of_reply("") == of_reply("no sections") == Decided()


def test_the_tables_say_it_in_columns_and_in_json() -> None:
    """A column before the JSON, and the reply where neither says it."""
    said = {"synthesis": "as JSON", "analysis": "They agree.", "ranking": ["b", "a"]}
    row = {"synthesis": "It is so.", "confidence": 0.8, "decision_json": json.dumps(said)}
    assert of_table(row) == Decided("It is so.", 0.8, "They agree.", ranking=("b", "a"))
    filled = of_table(row).filled(of_reply(REPLY))
    assert filled.refinement_areas == DECIDED.refinement_areas
    assert filled.needs_iteration
    assert of_table({"decision_json": "{", "ranking_json": "3"}) == Decided()


@pytest.mark.parametrize("said", [None, "", "nan", "inf", True, -1, "101", "much", [], "1e999"])
def test_what_is_no_confidence_is_not_told(said: object) -> None:
    assert of_json({"confidence": said}).confidence is None


@pytest.mark.parametrize("store_kind", ["embedded"])
def test_where_llm_logged_no_reply_the_output_tells(store: Store, tmp_path: Path) -> None:
    """llm 0.36 logs the arbiters of llm-consortium 0.5 without what they said."""
    import_llm(store, recorded("llm0.36_lc0.5", tmp_path))
    (found,) = store.query(
        "SELECT countIf(synthesis != ''), countIf(reasoning != ''), countIf(confidence > 0),"
        " uniqExactIf(consortium_id, synthesis != '') FROM consortium_iteration FINAL"
    ).rows
    assert tuple(found) == (34, 34, 34, 34)
