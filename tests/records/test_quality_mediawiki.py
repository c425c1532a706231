"""What became of pages that an agent wrote, asked of a real MediaWiki."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from support.artifacts import artifact
from support.landing import insert
from support.mediawiki import RealWiki
from support.rows import PROJECT
from support.wiki_cases import CASES, DAY, EDITED, TEXT, WINDOW, Scenario, Stage
from support.wiki_front import front
from turnspan_clickhouse.rows.tables import Annotation
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.diagnostics import find as diagnostic
from turnspan_records.quality.artifact_checks import ArtifactFilter, corrections
from turnspan_records.quality.mediawiki import MediaWikiSource
from turnspan_records.quality.mediawiki_client import MediaWiki
from turnspan_records.quality.sources import WrittenArtifact


@pytest.fixture(scope="module")
def stage(real_wiki: RealWiki, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    dsn = Dsn(scheme="chdb", path=tmp_path_factory.mktemp("quality") / "store")
    with pytest.MonkeyPatch.context() as patch, open_store(dsn) as store:
        patch.delenv("TURNSPAN_SPOOL", raising=False)
        migrate(store)
        yield Stage(real_wiki, store)


@pytest.fixture(scope="module")
def looked(stage: Stage) -> Stage:
    """All cases on the wiki, looked at when their window is over."""
    for scenario in CASES:
        scenario(stage, scenario.__name__, f"Case {scenario.__name__.replace('_', ' ')}")
    stage.ahead = 20 * DAY
    stage.look()
    return stage


@pytest.mark.parametrize(
    ("scenario", "expected"), CASES.items(), ids=lambda one: getattr(one, "__name__", "")
)
def test_what_became_of_a_page(
    looked: Stage, scenario: Scenario, expected: tuple[str, str]
) -> None:
    """The outcome is on the artifact and on its turn, with the reason; what is not judged has
    none."""
    name = scenario.__name__
    found = looked.found(name)
    assert (found.decision, expected[1] in found.reason) == (expected[0], True), found
    judged = [expected[0]] if expected[0] in ("used", "modified", "rejected") else []
    assert looked.held(name) == judged
    assert looked.held(f"turn-{name}") == judged


def test_how_the_agents_revision_was_found_is_said(looked: Stage) -> None:
    """By its text; where the wiki changed that, by the revision that the agent told."""
    assert looked.found("edited").found_by == "text"
    assert looked.found("signed_and_changed").found_by == "version"
    assert looked.found("edited").source == looked.wiki.api


def test_a_correction_is_an_artifact_that_was_chosen(looked: Stage) -> None:
    """Of the same turn and call, with the person's text and revision; how alike they are is the
    preference's score, and what differs its comment."""
    check = looked.found("edited")
    (correction,) = corrections(looked.store, artifact_id="edited")
    assert (correction.written, correction.corrected) == (TEXT, EDITED)
    assert correction.diff.splitlines()[1:3] == [
        "-The lighthouse stands on a cliff.",
        "+The lighthouse stands on a high cliff.",
    ]
    assert 0.8 < (correction.similarity or 0) < 1
    (row,) = looked.store.query(
        "SELECT kind, target, version, turn_id, call_id, session_id, attempt_id, created_at"
        " FROM artifact WHERE artifact_id = {id:String}",
        {"id": correction.correction_id},
    ).dicts()
    assert row.pop("created_at").timestamp() == check.decided_at.timestamp()
    assert list(row.values()) == [
        *("correction", "Case edited", check.later_revision),
        *("turn-edited", "call-edited", "s1", ""),
    ]
    (said,) = looked.store.query(
        "SELECT chosen_id, rejected_id, score, author, source, comment FROM annotation_current"
        " WHERE kind = 'preference' AND rejected_id = 'edited'"
    ).dicts()
    assert said["chosen_id"] == correction.correction_id
    assert said["score"] == correction.similarity
    assert said["author"] == "passive:mediawiki"
    assert said["source"] == f"{looked.wiki.api} {check.later_revision}"
    assert "ngramDistanceUTF8" in said["comment"] and "+The lighthouse" in said["comment"]


def test_a_correction_is_what_the_person_left_not_what_a_bot_made_of_it(looked: Stage) -> None:
    """The last text of a person counts."""
    (correction,) = corrections(looked.store, artifact_id="edited_by_a_person_then_a_bot")
    assert correction.corrected == EDITED


def everything(store: Store) -> list[Any]:
    """All that was written, but when."""
    found: list[Any] = []
    for table in ("annotation", "withdrawal", "artifact"):
        found += store.query(
            f"SELECT * EXCEPT written_at FROM {table} ORDER BY ALL", settings={"final": 0}
        ).rows
    return found


def test_twice_is_the_same_rows_and_asks_for_nothing(looked: Stage) -> None:
    """What is settled is not asked for again; with ``again`` it is, and nothing changes. A machine
    that knows of nothing finds the same."""
    before = everything(looked.store)
    assert looked.look().checks == []
    again = looked.look(wanted=ArtifactFilter(again=True))
    assert (len(again.checks), again.judgments) == (len(CASES), 0)
    looked.store.command("TRUNCATE TABLE artifact_check")
    assert len(looked.look().checks) == len(CASES)
    looked.store.command("OPTIMIZE TABLE annotation FINAL")
    looked.store.command("OPTIMIZE TABLE artifact FINAL")
    assert everything(looked.store) == before


def test_a_persons_judgment_holds(looked: Stage) -> None:
    """Whatever the wiki says; how far the two agree is a diagnostic."""
    said = Annotation(
        project=PROJECT,
        subject_kind="artifact",
        subject_id="deleted",
        kind="outcome",
        annotation_id="by-ada",
        outcome="used",
        author="ada",
        created_at=1,
    )
    insert(looked.store, said)
    looked.look(wanted=ArtifactFilter(again=True))
    assert looked.held("deleted") == ["used"]
    (row,) = diagnostic("reviewer_agreement").run(looked.store).dicts()
    assert (row["reviewer"], row["other_reviewer"]) == ("ada", "passive:mediawiki")
    assert (row["both_judged"], row["agreed"]) == (1, 0)


def test_a_decision_follows_the_page_while_the_window_is_open(stage: Stage) -> None:
    """Undecided is no judgment; a change is told at once, and taken back with its correction when
    the change is; when the window is over, what stands is settled."""
    title, stage.ahead = "Followed", 0
    stage.wrote("followed", title)
    stage.look(wanted=ArtifactFilter(kinds=("page",)))
    assert (stage.found("followed").decision, stage.held("followed")) == ("undecided", [])

    changed = stage.wiki.write("Ada", title, EDITED)
    stage.look()
    assert (stage.held("followed"), stage.held("turn-followed")) == (["modified"], ["modified"])
    assert len(corrections(stage.store, artifact_id="followed")) == 1
    assert len(stage.held_pairs("followed")) == 1

    stage.wiki.undo("Bob", title, changed)
    stage.look()
    assert (stage.held("followed"), stage.held("turn-followed")) == (["pending"], ["pending"])
    assert corrections(stage.store, artifact_id="followed") == []
    assert stage.held_pairs("followed") == []

    stage.wiki.act("Ada", "delete", title=title)
    stage.look()
    assert (stage.held("followed"), stage.held("turn-followed")) == (["rejected"], ["rejected"])
    stage.wiki.act("Ada", "undelete", title=title)
    stage.ahead = 20 * DAY
    stage.look()
    assert (stage.held("followed"), stage.held("turn-followed")) == (["used"], ["used"])
    assert not [one for one in stage.look().checks if one.artifact_id == "followed"]


def test_a_turn_ends_as_the_worst_of_what_it_wrote(stage: Stage) -> None:
    """As soon as nothing is undecided that could be worse; several artifacts of one page are each
    judged by what came after them."""
    stage.ahead = 0
    stage.wrote("first", "Several", "One.", turn_id="several")
    stage.wrote("second", "Several", "One. Two.", turn_id="several")
    stage.wrote("third", "Several more", "Three.", turn_id="several")
    stage.wiki.write("Ada", "Several", "One. Two! Ada.")
    stage.look()
    assert stage.held("second") == ["modified"]
    assert stage.held("several") == []
    stage.ahead = 20 * DAY
    stage.look()
    assert (stage.held("third"), stage.held("several")) == (["used"], ["modified"])


def test_what_the_agent_told_is_its_own_whoever_saved_it(stage: Stage) -> None:
    """A person who saves what the agent proposes does not correct it."""
    stage.ahead = 0
    stage.wrote("draft", "Copilot", "A draft.")
    stage.wiki.write("Ada", "Copilot", "A better draft.")
    insert(stage.store, *artifact("better", "Copilot", "A better draft."))
    stage.ahead = 20 * DAY
    stage.look()
    assert (stage.held("draft"), stage.held("better")) == (["used"], ["used"])


def test_pages_that_nobody_touched_are_asked_for_together(stage: Stage) -> None:
    """In one request, whatever their number up to fifty."""
    for number in range(6):
        stage.wiki.write("Agent", f"Idle {number}", TEXT)
    with front(stage.wiki.api) as passing:
        source = MediaWikiSource(MediaWiki(passing.api))
        written = [
            WrittenArtifact(
                *("shop", f"idle-{number}", f"Idle {number}", TEXT, "", "page"), "", "", "", "", now
            )
            for number, now in enumerate([time.time_ns()] * 6)
        ]
        found = list(source.verdicts(written, WINDOW))
        assert [verdict.decision for _, verdict in found] == ["undecided"] * 6
        assert len(passing.seen) == 1
