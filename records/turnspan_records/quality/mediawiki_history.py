"""What a wiki is asked about pages: their newest revisions, their histories, who wrote them, what
was done to their titles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Final

from turnspan_records.quality.mediawiki_client import MediaWiki, content_of, pages_of

TOGETHER: Final = 50
"""Pages or accounts asked for in one request: what the API allows everybody."""
_REVISION: Final = ["ids", "timestamp", "user", "slotsha1", "tags", "size", "comment"]


@dataclass(frozen=True, slots=True)
class RawRevision:
    """A revision as the API tells it."""

    id: int
    at: int
    user: str
    sha1: str
    size: int
    tags: frozenset[str]
    comment: str


@dataclass(frozen=True, slots=True)
class WikiArticle:
    """A page that is there, with its newest revision."""

    id: int
    title: str
    newest: RawRevision


class WikiHistory:
    """The histories of one wiki's pages."""

    def __init__(self, wiki: MediaWiki) -> None:
        self._wiki = wiki
        self._bots: dict[str, bool] = {}

    def pages_of_revisions(self, ids: Sequence[int]) -> dict[int, int]:
        """The pages that revisions are of, by their ids; not of deleted ones."""
        if not ids:
            return {}
        found: dict[int, int] = {}
        for answer in self._wiki.answers(
            action="query", prop="revisions", revids=sorted(set(ids)), rvprop="ids"
        ):
            for page in pages_of(answer):
                for revision in page.get("revisions", ()):
                    found[int(revision["revid"])] = int(page["pageid"])
        return found

    def newest(self, **which: Any) -> dict[int | str, WikiArticle]:
        """Pages by their id, and by the title that they were asked for."""
        found: dict[int | str, WikiArticle] = {}
        asked: dict[str, list[str]] = {}
        for answer in self._wiki.answers(
            action="query", prop="revisions", rvprop=_REVISION, rvslots="main", **which
        ):
            for change in answer.get("query", {}).get("normalized", ()):
                asked.setdefault(change["to"], []).append(change["from"])
            for page in pages_of(answer):
                revisions = page.get("revisions", ())
                if not revisions:
                    continue
                made = WikiArticle(int(page["pageid"]), page["title"], raw(revisions[0]))
                found[made.id] = made
                if "titles" in which:
                    for title in (made.title, *asked.get(made.title, ())):
                        found[title] = made
        return found

    def revisions(self, page: int, start: str | None) -> Iterator[list[RawRevision]]:
        """The revisions of a page, the newest first, some at a time; from a moment back where one
        is given."""
        for answer in self._wiki.answers(
            action="query",
            prop="revisions",
            pageids=page,
            rvprop=_REVISION,
            rvslots="main",
            rvlimit="max",
            rvstart=start,
        ):
            for told in pages_of(answer):
                yield [raw(one) for one in told.get("revisions", ())]

    def bots(self, users: Set[str]) -> set[str]:
        """Those of these accounts that are bots', by their groups and rights. One that is hidden
        may be anybody: it is none."""
        unknown = sorted(users - set(self._bots) - {""})
        for start in range(0, len(unknown), TOGETHER):
            together = unknown[start : start + TOGETHER]
            self._bots.update(dict.fromkeys(together, False))
            for answer in self._wiki.answers(
                action="query", list="users", ususers=together, usprop=["groups", "rights"]
            ):
                for user in answer.get("query", {}).get("users", ()):
                    said = {*user.get("groups", ()), *user.get("rights", ())}
                    self._bots[str(user.get("name", ""))] = "bot" in said
        return {user for user in users if self._bots.get(user)}

    def text(self, revision: int) -> str | None:
        """The text of a revision; ``None`` where it is hidden."""
        answer = self._wiki.ask(
            action="query", prop="revisions", revids=revision, rvprop="content", rvslots="main"
        )
        for page in pages_of(answer):
            for found in page.get("revisions", ()):
                return content_of(found)
        return None

    def log(self, title: str, kind: str, since: int) -> list[Mapping[str, Any]]:
        """What was done to a title since then, the oldest first."""
        events: list[Mapping[str, Any]] = []
        for answer in self._wiki.answers(
            action="query",
            list="logevents",
            letype=kind,
            letitle=title,
            lestart=stamp(since),
            ledir="newer",
            lelimit="max",
            leprop=["timestamp", "type", "details", "user"],
        ):
            events += answer.get("query", {}).get("logevents", ())
        return events


def raw(told: Mapping[str, Any]) -> RawRevision:
    """A revision of an answer."""
    main = told.get("slots", {}).get("main", {})
    return RawRevision(
        int(told["revid"]),
        nanoseconds(told),
        str(told.get("user", "")),
        str(main.get("sha1", "")),
        int(told.get("size", 0)),
        frozenset(map(str, told.get("tags", ()))),
        str(told.get("comment", "")),
    )


def nanoseconds(told: Mapping[str, Any]) -> int:
    """When it was, of anything that an answer tells."""
    when = datetime.fromisoformat(str(told["timestamp"]).replace("Z", "+00:00"))
    return int(when.timestamp()) * 10**9


def stamp(at: int) -> str:
    """A moment as the API takes it."""
    moment = datetime.fromtimestamp(max(0, at) // 10**9, timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
