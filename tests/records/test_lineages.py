"""An experiment as it was recorded, answers side by side, and the diagnostics of versions."""

from __future__ import annotations

import pytest

from support.camp_rows import ATTEMPTS, LINEAGE, ROLLOUTS, VERSIONS, at, camp_rows, made, score
from support.landing import insert
from support.rows import PROJECT, call, said, turn
from support.rows import message as message_of
from turnspan_clickhouse.rows import loop_tables as rows
from turnspan_clickhouse.rows.tables import Definition
from turnspan_clickhouse.store.client import Store
from turnspan_records import AmbiguousError, compare, detail, experiment, experiments, find
from turnspan_records.diagnostics import find as diagnostic
from turnspan_records.loop.improvement import score_of
from turnspan_records.loop.lineages import differences


@pytest.fixture
def camp(store: Store) -> Store:
    insert(store, *camp_rows())
    return store


def test_the_tree_of_an_experiment(camp: Store) -> None:
    """Versions with what changed, rollouts with their attempts, scores, tokens, texts."""
    found = experiment(camp, "camp")

    assert (found.project, found.need, found.constraints) == (PROJECT, "articles", "short")
    (lineage,) = found.lineages
    assert (lineage.label, lineage.strategy, lineage.locked) == ("A", "plain", False)
    first, second = lineage.versions
    assert (first.name, first.score, first.judged, first.changes) == ("A1", 4.0, 1, [])
    assert (second.name, second.score, second.made_from) == ("A2", 7.0, first.version_id)
    assert [(one.name, one.before, one.after) for one in second.changes] == [
        ("prompt", "You write.", "You write well."),
        ("tools", "[]", None),
    ]
    tried, last = lineage.rollouts
    assert [(one.number, one.status, one.final) for one in tried.attempts] == [
        (1, "failed", False),
        (2, "succeeded", True),
    ]
    (only,) = last.attempts
    assert (only.input, only.output, only.calls, only.input_tokens) == ("Write.", "A second.", 1, 7)
    assert [one.target for one in only.artifacts] == ["page"]
    (evolution,) = lineage.evolutions
    assert (evolution.score_delta, evolution.hypothesis_validated) == (3.0, True)
    (insight,) = found.insights
    assert (insight.successes, insight.failures, insight.average_impact) == (1, 0, 3.0)
    (listed,) = experiments(camp).dicts()
    assert (listed["experiment"], listed["lineages"], listed["rollouts"]) == ("camp", 1, 2)


def test_an_experiment_that_is_not_there_or_twice(camp: Store) -> None:
    """Neither is guessed."""
    with pytest.raises(KeyError):
        experiment(camp, "another")
    with pytest.raises(KeyError):
        experiment(camp, "camp", project="another")
    other = rows.LineageRow(project="other", experiment_id="camp", lineage_id="2" * 32)
    insert(camp, other)
    with pytest.raises(AmbiguousError, match="other, shop"):
        experiment(camp, "camp")
    assert experiment(camp, "camp", project=PROJECT).project == PROJECT


def test_answers_side_by_side(camp: Store) -> None:
    """A rollout by its final attempt; what is not the same is named."""
    ids = (ROLLOUTS[0], ATTEMPTS[2], "9" * 32)
    shown = compare(camp, [find(camp, id_)[0] for id_ in ids])

    assert [one.text for one in shown.answers] == ["The first.", "A second.", "A second."]
    assert [one.score for one in shown.answers] == [4.0, None, 7.0]
    assert [one.asked for one in shown.answers] == ["", "Write.", "Write."]
    assert shown.differing == ["asked", "models", "version", "text"]
    with pytest.raises(ValueError, match="2 to 6 answers"):
        compare(camp, [find(camp, ROLLOUTS[0])[0]])
    with pytest.raises(ValueError, match="has no answer"):
        compare(camp, [find(camp, LINEAGE)[0], find(camp, ROLLOUTS[0])[0]])


def test_a_turn_and_a_call_side_by_side(store: Store) -> None:
    """Their questions, prompts and answers."""
    asked = message_of("user", said("Why?"))
    insert(
        store,
        asked,
        Definition(project=PROJECT, hash=b"p" * 16, kind="system_prompt", body="Be brief."),
        turn("1" * 16, user_message="Why?", response_text="So."),
        call(
            "2" * 16,
            1,
            turn_id="1" * 16,
            system_prompt=b"p" * 16,
            input_messages=[asked.hash],
            response_text="So.",
            cost_usd=None,
        ),
    )
    shown = compare(store, [find(store, id_)[0] for id_ in ("1" * 16, "2" * 16)])
    assert [one.asked for one in shown.answers] == ["Why?", "Why?"]
    assert [one.system_prompt for one in shown.answers] == ["Be brief.", "Be brief."]
    assert shown.differing == ["status"]


def test_each_is_found_and_shown(camp: Store) -> None:
    """By its id, or its beginning."""
    for id_, kind in ((LINEAGE, "lineage"), (ROLLOUTS[0], "rollout"), (ATTEMPTS[2], "attempt")):
        (found,) = find(camp, id_[:8])
        assert (found.kind, found.id) == (kind, id_)
        assert detail(camp, found).facts["project"] == PROJECT
    (found,) = find(camp, "9" * 32)
    assert detail(camp, found).texts == {"text": "A second."}
    (found,) = find(camp, ATTEMPTS[2])
    assert len(detail(camp, found).tables["model calls"].rows) == 1


def test_insights_only_of_what_was_judged(camp: Store) -> None:
    """By kind of change, and each pattern by the evolutions that it is about."""
    lineage = {"lineage_id": LINEAGE, "created_at": at(9)}
    insert(
        camp,
        made(
            rows.EvolutionRow,
            evolution_id="6" * 32,
            from_version=VERSIONS[1],
            to_version="5" * 64,
            changes={"tools": ""},
            **lineage,
        ),
        made(
            rows.EvolutionRow,
            evolution_id="5" * 32,
            from_version=VERSIONS[1],
            to_version=VERSIONS[0],
            changes={"prompt": "", "tools": ""},
            **lineage,
        ),
    )
    found = diagnostic("insights").run(camp).dicts()
    assert [
        (one["change"], one["pattern_text"], one["successes"], one["missed"], one["average_impact"])
        for one in found
    ] == [
        ("prompt", "", 1, 1, 0.0),
        ("prompt", "care helps", 1, 1, 0.0),
        ("tools", "", 0, 1, -3.0),
    ]


def test_versions_with_intervals(store: Store) -> None:
    """Intervals from five values on; a turn's own score counts as well as an attempt's."""
    turns = [
        turn(
            f"{number:016x}",
            number,
            agent_name="w",
            agent_version="2",
            duration=1.0 + number % 2,
            stop_reason="completed" if number else "error",
            input_tokens=10,
            output_tokens=number,
        )
        for number in range(6)
    ]
    scores = [score("turn", one.turn_id, 5.0 + number) for number, one in enumerate(turns)]
    few = turn("f" * 16, 50, agent_name="w", agent_version="1")
    insert(store, *turns, *scores, few)
    new, old = diagnostic("versions").run(store).dicts()
    assert (new["version"], new["turns"], new["judged"], new["score"]) == ("2", 6, 6, 7.5)
    # 7.5 ± 2.571 * 1.871 / √6, as the table of Student's t has it.
    assert new["score_low"] == pytest.approx(5.54, abs=0.02)
    assert new["score_high"] == pytest.approx(9.46, abs=0.02)
    assert new["completed_rate"] == pytest.approx(5 / 6)
    assert new["completed_low_rate"] == pytest.approx(0.4365, abs=0.001)  # Wilson's
    assert new["completed_high_rate"] == pytest.approx(0.9699, abs=0.001)
    assert (new["avg_seconds"], new["tokens"]) == (1.5, 12)
    assert new["stop_reasons"] == "completed 5, error 1"
    assert (old["version"], old["score"], old["score_low"], old["low_seconds"]) == (
        "1",
        None,
        None,
        None,
    )


def test_duplicates_are_the_same_prompt_and_configuration(store: Store) -> None:
    """Another model, another parameter or another history is another question."""
    history = {"input_messages": [b"m" * 16], "system_prompt": b"p" * 16}
    insert(
        store,
        call("1" * 16, 0, **history, output_messages=[b"x" * 16], attempt_id="a"),
        call("2" * 16, 9, **history, output_messages=[b"y" * 16], session_id="s2", attempt_id="b"),
        call("3" * 16, 1, **history, request_model="other"),
        call("4" * 16, 2, **history, request_parameters='{"temperature":1}'),
        call("5" * 16, 3, input_messages=[b"n" * 16]),
        call("6" * 16, 4),
        call("7" * 16, 5),
    )
    (found,) = diagnostic("duplicates").run(store).dicts()
    assert (found["calls"], found["answers"], found["sessions"], found["attempts"]) == (2, 2, 2, 2)
    assert (found["first_span"], found["last_span"]) == ("1" * 16, "2" * 16)


def test_scores_of_several_kinds() -> None:
    """``score`` alone where there is one, else an average of the evaluations."""
    assert score_of([]) is None
    assert score_of([{"evaluation:a": 1.0}, {"evaluation:a": 3.0, "evaluation:b": 8.0}]) == 5.0
    assert score_of([{"evaluation:a": 1.0}, {"score": 7.0}]) == 7.0
    assert differences(None, None) == []
    assert [one.name for one in differences("a", {"b": 1})] == ["configuration"]
