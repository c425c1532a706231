"""What became of pages that an agent wrote, asked of a real MediaWiki."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from support.artifacts import artifact
from support.landing import insert
from support.mediawiki import RealWiki
from support.rows import PROJECT
from turnspan_clickhouse.rows.tables import Annotation, Record
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.diagnostics import find as diagnostic
from turnspan_records.quality.checking import QualityReport, check_quality
from turnspan_records.quality.mediawiki import MediaWikiSource
from turnspan_records.quality.mediawiki_client import MediaWiki
from turnspan_records.quality.reading import ArtifactCheck, Wanted, artifact_checks, corrections

DAY = 86_400 * 10**9
WINDOW = timedelta(days=14)
TEXT = "The lighthouse stands on a cliff.\n\nIt was built in 1886 by [[Jorun Hale]]."
EDITED = "The lighthouse stands on a high cliff.\n\nIt was built in 1886 by [[Jorun Hale]]."


@dataclass
class Stage:
    """A wiki, a store, and the clock of whoever looks."""

    wiki: RealWiki
    store: Store
    ahead: int = 0
    rows: list[Record] = field(default_factory=list[Record])

    def clock(self) -> int:
        """The time, so many nanoseconds ahead."""
        return time.time_ns() + self.ahead

    def wrote(self, name: str, title: str, text: str = TEXT, **values: Any) -> int:
        """Have the agent write a page and tell it; returns the revision."""
        revision = self.wiki.write("Agent", title, text)
        insert(self.store, *artifact(name, title, text, **values))
        return revision

    def look(self, **given: Any) -> QualityReport:
        """Look once."""
        source = MediaWikiSource(MediaWiki(self.wiki.api), clock=self.clock)
        spool = Spool(self.store.dsn.spool)
        opener = lambda: nullcontext(self.store)  # noqa: E731
        return check_quality(opener, spool, source, window=WINDOW, clock=self.clock, **given)

    def found(self, name: str) -> ArtifactCheck:
        """What was found of an artifact, by the newest look."""
        return next(one for one in artifact_checks(self.store) if one.artifact_id == name)

    def held(self, subject: str, kind: str = "outcome") -> list[str]:
        """What holds of a subject."""
        return [
            str(row[0])
            for row in self.store.query(
                "SELECT outcome FROM annotation_current"
                " WHERE subject_id = {id:String} AND kind = {kind:String}",
                {"id": subject, "kind": kind},
            ).rows
        ]

    def held_pairs(self, rejected: str) -> list[str]:
        """What is chosen over an artifact."""
        return [
            str(row[0])
            for row in self.store.query(
                "SELECT chosen_id FROM annotation_current"
                " WHERE kind = 'preference' AND rejected_id = {id:String}",
                {"id": rejected},
            ).rows
        ]


@pytest.fixture(scope="module")
def stage(real_wiki: RealWiki, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    dsn = Dsn(scheme="chdb", path=tmp_path_factory.mktemp("quality") / "store")
    with pytest.MonkeyPatch.context() as patch, open_store(dsn) as store:
        patch.delenv("TURNSPAN_SPOOL", raising=False)
        migrate(store)
        yield Stage(real_wiki, store)


def unchanged(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)


def with_blanks_at_its_end(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title, TEXT + " \r\n\n")


def edited(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    stage.wiki.write("Ada", title, EDITED)


def edited_by_a_bot(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    stage.wiki.write("Tidy", title, TEXT + "\n\n[[Category:Lights]]")


def edited_by_the_agent(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    stage.wiki.write("Agent", title, TEXT + " It shines.")


def edited_by_a_person_then_a_bot(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    stage.wiki.write("Ada", title, EDITED)
    stage.wiki.write("Tidy", title, EDITED + "\n\n[[Category:Lights]]")


def undone(stage: Stage, name: str, title: str) -> None:
    stage.wiki.write("Bob", title, "A stub.")
    stage.wiki.undo("Ada", title, stage.wrote(name, title))


def undone_later(stage: Stage, name: str, title: str) -> None:
    stage.wiki.write("Bob", title, "One.\n\nTwo.\n\nThree.")
    revision = stage.wrote(name, title, "One, by the agent.\n\nTwo.\n\nThree.")
    stage.wiki.write("Bob", title, "One, by the agent.\n\nTwo.\n\nThree, by Bob.")
    stage.wiki.undo("Ada", title, revision)


def rolled_back(stage: Stage, name: str, title: str) -> None:
    stage.wiki.write("Bob", title, "A stub.")
    stage.wrote(name, title)
    stage.wiki.rollback("Ada", title, "Agent")


def reverted_by_hand(stage: Stage, name: str, title: str) -> None:
    stage.wiki.write("Bob", title, "A stub.")
    stage.wrote(name, title)
    stage.wiki.write("Ada", title, "A stub.")


def a_revert_that_was_reverted(stage: Stage, name: str, title: str) -> None:
    stage.wiki.write("Bob", title, "A stub.")
    revision = stage.wrote(name, title)
    stage.wiki.undo("Ada", title, stage.wiki.undo("Bob", title, revision))


def somebody_elses_edit_undone(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    stage.wiki.undo("Ada", title, stage.wiki.write("Bob", title, EDITED))


def the_agent_insists(stage: Stage, name: str, title: str) -> None:
    stage.wiki.write("Bob", title, "A stub.")
    stage.wrote(name, title)
    stage.wiki.write("Ada", title, "A stub.")
    stage.wiki.write("Agent", title, TEXT)


def undone_by_a_bot(stage: Stage, name: str, title: str) -> None:
    stage.wiki.write("Bob", title, "A stub.")
    stage.wiki.undo("Tidy", title, stage.wrote(name, title))


def blanked(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    stage.wiki.write("Ada", title, "")


def made_a_redirect(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    stage.wiki.write("Ada", title, "#REDIRECT [[Main Page]]")


def deleted(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    stage.wiki.act("Ada", "delete", title=title)


def deleted_and_restored(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    stage.wiki.act("Ada", "delete", title=title)
    stage.wiki.act("Ada", "undelete", title=title)


def deleted_and_written_anew(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    stage.wiki.act("Ada", "delete", title=title)
    stage.wiki.write("Bob", title, "Something else.")


def moved(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    stage.wiki.act("Ada", "move", **{"from": title, "to": f"{title} (there)"})


def moved_twice_without_redirects_and_edited(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    for one, other in ((title, f"{title} (1)"), (f"{title} (1)", f"{title} (2)")):
        stage.wiki.act("Ada", "move", **{"from": one, "to": other, "noredirect": True})
    stage.wiki.write("Ada", f"{title} (2)", EDITED)


def moved_and_deleted(stage: Stage, name: str, title: str) -> None:
    revision = stage.wiki.write("Agent", title, TEXT)
    insert(stage.store, *artifact(name, title, TEXT, version=str(revision)))
    stage.wiki.act("Ada", "move", **{"from": title, "to": f"{title} (x)", "noredirect": True})
    stage.wiki.act("Ada", "delete", title=f"{title} (x)")


def protected(stage: Stage, name: str, title: str) -> None:
    stage.wrote(name, title)
    stage.wiki.act("Ada", "protect", title=title, protections="edit=sysop", expiry="infinite")


def said_so_already(stage: Stage, name: str, title: str) -> None:
    stage.wiki.write("Bob", title, TEXT)
    insert(stage.store, *artifact(name, title, TEXT, created_at=time.time_ns() + DAY))


def never_saved(stage: Stage, name: str, title: str) -> None:
    stage.wiki.write("Bob", title, "Something else.")
    insert(stage.store, *artifact(name, title, TEXT))


def no_page(stage: Stage, name: str, title: str) -> None:
    insert(stage.store, *artifact(name, title, TEXT))


def no_title(stage: Stage, name: str, title: str) -> None:
    insert(stage.store, *artifact(name, f"{title}|<x>", TEXT))


def no_title_of_this_wiki(stage: Stage, name: str, title: str) -> None:
    insert(stage.store, *artifact(name, "Talk:Talk:", TEXT))


def signed_and_its_revision_told(stage: Stage, name: str, title: str) -> None:
    signed = f"{TEXT} ~~~~"
    revision = stage.wiki.write("Agent", title, signed)
    insert(stage.store, *artifact(name, title, signed, version=str(revision)))


def signed_and_changed(stage: Stage, name: str, title: str) -> None:
    signed_and_its_revision_told(stage, name, title)
    stage.wiki.write("Ada", title, EDITED)


def signed_and_moved(stage: Stage, name: str, title: str) -> None:
    signed_and_its_revision_told(stage, name, title)
    stage.wiki.act("Ada", "move", **{"from": title, "to": f"{title} (there)"})


def the_revision_of_another_page(stage: Stage, name: str, title: str) -> None:
    """As it is where a wiki is asked about artifacts of another one."""
    revision = stage.wiki.write("Agent", f"{title} (other)", "Something else.")
    insert(stage.store, *artifact(name, title, TEXT, version=str(revision)))


def by_another_name_of_its_namespace(stage: Stage, name: str, title: str) -> None:
    signed = f"{TEXT} ~~~~"
    revision = stage.wiki.write("Agent", f"Project:{title}", signed)
    insert(stage.store, *artifact(name, f"project: {title}", signed, version=str(revision)))


def lower_case_with_underscores(stage: Stage, name: str, title: str) -> None:
    stage.wiki.write("Agent", title, TEXT)
    asked = title[0].lower() + title[1:].replace(" ", "_")
    insert(stage.store, *artifact(name, asked, TEXT))


Scenario = Callable[[Stage, str, str], None]
CASES: dict[Scenario, tuple[str, str]] = {
    unchanged: ("used", "nobody changed it"),
    with_blanks_at_its_end: ("used", "nobody changed it"),
    edited: ("modified", "a person changed it"),
    edited_by_a_bot: ("used", "no person changed it"),
    edited_by_the_agent: ("used", "no person changed it"),
    edited_by_a_person_then_a_bot: ("modified", "a person changed it"),
    undone: ("rejected", "reverted"),
    undone_later: ("rejected", "undone"),
    rolled_back: ("rejected", "reverted"),
    reverted_by_hand: ("rejected", "reverted"),
    a_revert_that_was_reverted: ("used", "taken back"),
    somebody_elses_edit_undone: ("used", "taken back"),
    the_agent_insists: ("rejected", "reverted"),
    undone_by_a_bot: ("not_judged", "by a bot"),
    blanked: ("rejected", "blanked"),
    made_a_redirect: ("rejected", "redirect"),
    deleted: ("rejected", "deleted"),
    deleted_and_restored: ("used", "nobody changed it"),
    deleted_and_written_anew: ("rejected", "deleted"),
    moved: ("used", ""),
    moved_twice_without_redirects_and_edited: ("modified", "a person changed it"),
    moved_and_deleted: ("rejected", "deleted"),
    protected: ("used", ""),
    said_so_already: ("not_judged", "said so already"),
    never_saved: ("not_found", "no revision"),
    no_page: ("not_found", "no such page"),
    no_title: ("not_found", "no title"),
    no_title_of_this_wiki: ("not_found", "no title"),
    signed_and_its_revision_told: ("used", "nobody changed it"),
    signed_and_changed: ("modified", "a person changed it"),
    signed_and_moved: ("used", ""),
    the_revision_of_another_page: ("not_found", "no such page"),
    by_another_name_of_its_namespace: ("used", "nobody changed it"),
    lower_case_with_underscores: ("used", "nobody changed it"),
}


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
    again = looked.look(wanted=Wanted(again=True))
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
    looked.look(wanted=Wanted(again=True))
    assert looked.held("deleted") == ["used"]
    (row,) = diagnostic("reviewer_agreement").run(looked.store).dicts()
    assert (row["reviewer"], row["other_reviewer"]) == ("ada", "passive:mediawiki")
    assert (row["both_judged"], row["agreed"]) == (1, 0)


def test_a_decision_follows_the_page_while_the_window_is_open(stage: Stage) -> None:
    """Undecided is no judgment; a change is told at once, and taken back with its correction when
    the change is; when the window is over, what stands is settled."""
    title, stage.ahead = "Followed", 0
    stage.wrote("followed", title)
    stage.look(wanted=Wanted(kinds=("page",)))
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
