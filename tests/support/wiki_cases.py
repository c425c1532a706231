"""Pages that an agent wrote, and what happened to them on a real wiki; with what is to be found."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from support.artifacts import artifact
from support.landing import insert
from support.mediawiki import RealWiki
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.quality.artifact_checks import ArtifactCheck, artifact_checks
from turnspan_records.quality.check_run import QualityReport, check_quality
from turnspan_records.quality.mediawiki import MediaWikiSource
from turnspan_records.quality.mediawiki_client import MediaWiki

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
    revision = stage.wiki.write("Agent", f"Project talk:{title}", signed)
    insert(stage.store, *artifact(name, f"project_talk: {title}", signed, version=str(revision)))


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
