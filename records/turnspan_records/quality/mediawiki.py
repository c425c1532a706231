"""Later revisions of a wiki's pages, asked of MediaWiki's own API."""

from __future__ import annotations

import hashlib
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from datetime import timedelta
from typing import Final

from turnspan_records.quality.mediawiki_client import MediaWiki, WikiError, normal
from turnspan_records.quality.mediawiki_history import (
    TOGETHER,
    RawRevision,
    WikiArticle,
    WikiHistory,
    nanoseconds,
    stamp,
)
from turnspan_records.quality.revisions import AGENT, ALL, BOT, PERSON, SOME, Revision, decide
from turnspan_records.quality.sources import (
    NOT_FOUND,
    NOT_JUDGED,
    REJECTED,
    ArtifactVerdict,
    SourceError,
    WrittenArtifact,
)

BEFORE: Final = 50
"""Revisions before the agent's that a revert may bring back."""
LONGEST: Final = 20_000
"""Revisions of one page that are looked through."""
EARLY: Final = 3_600 * 10**9
"""The agent's revision may be so much older than the record of it: clocks differ, and some agents
tell at the end of a long turn what they wrote."""
NEAR: Final = 600 * 10**9
"""How near in time a revision of the agent's account is taken for the one that is looked for."""
MOVES: Final = 10
_REVERTS: Final = frozenset({"mw-undo", "mw-rollback", "mw-manual-revert"})
_NO_TITLE: Final = re.compile(r"[#<>\[\]|{}\x00-\x1f\x7f]")


class MediaWikiSource:
    """The pages of one wiki.

    Args:
        wiki: whom to ask.
        own: the accounts by which the agent writes; else whoever made the agent's revision.
        clock: nanoseconds since the epoch.
    """

    author = "passive:mediawiki"

    def __init__(
        self,
        wiki: MediaWiki,
        *,
        own: Iterable[str] = (),
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self._wiki = wiki
        self._own = frozenset(map(_as_user, own))
        self._clock = clock
        self._asked = WikiHistory(wiki)

    @property
    def name(self) -> str:
        """The address of the wiki's API."""
        return self._wiki.api

    def verdicts(
        self, written: Sequence[WrittenArtifact], window: timedelta
    ) -> Iterator[tuple[WrittenArtifact, ArtifactVerdict]]:
        """What became of each of these.

        Raises:
            SourceError: the wiki does not answer, or refuses.
        """
        try:
            for at in range(0, len(written), TOGETHER):
                yield from self._together(written[at : at + TOGETHER], window)
        except WikiError as error:
            raise SourceError(str(error)) from None

    def _together(
        self, written: Sequence[WrittenArtifact], window: timedelta
    ) -> Iterator[tuple[WrittenArtifact, ArtifactVerdict]]:
        named = [one for one in written if is_title(one.target)]
        for one in written:
            if not is_title(one.target):
                yield one, ArtifactVerdict(NOT_FOUND, "its target is no title of a page")
        pages = self._pages(named)
        by_page: dict[int, list[WrittenArtifact]] = {}
        for one in named:
            page = pages.get(one.artifact_id)
            if page is None:
                yield one, self._elsewhere(one, window, None)
            else:
                by_page.setdefault(page.id, []).append(one)
        known = {page.id: page for page in pages.values()}
        for id_, several in by_page.items():
            yield from self._of_page(known[id_], several, window)

    def _pages(self, written: Sequence[WrittenArtifact]) -> dict[str, WikiArticle]:
        """The page of each artifact: that of its revision where one is known, wherever it was moved
        to, else the one of its title."""
        of_revision = self._asked.pages_of_revisions(
            [_number(one) for one in written if _number(one)]
        )
        found: dict[int | str, WikiArticle] = {}
        ids = sorted(set(of_revision.values()))
        if ids:
            found.update(self._asked.newest(pageids=ids))
        titles = sorted(
            {_title(one) for one in written if of_revision.get(_number(one)) not in found}
        )
        if titles:
            found.update(self._asked.newest(titles=titles))
        pages: dict[str, WikiArticle] = {}
        for one in written:
            page = found.get(of_revision.get(_number(one), 0)) or found.get(_title(one))
            if page is not None:
                pages[one.artifact_id] = page
        return pages

    def _of_page(
        self, page: WikiArticle, several: Sequence[WrittenArtifact], window: timedelta
    ) -> Iterator[tuple[WrittenArtifact, ArtifactVerdict]]:
        history: list[RawRevision] | None = None
        for one in several:
            if len(several) == 1 and _is_newest(page.newest, one):
                history = [page.newest]
            elif history is None or len(several) == 1:
                history = self._history(page, several, window)
            own, found_by = self._find(one, history, _told_before(one, several))
            if own is None:
                yield one, self._elsewhere(one, window, history)
            elif found_by == "version" and not one.revision and not self._is_of(one, page):
                # A number only: that of another wiki is some page's here, too.
                yield one, self._elsewhere(one, window, None)
            else:
                told = {sha1_of(other.text) for other in several if other.text is not None}
                yield one, self._decided(one, own, found_by, history, window, told)

    def _is_of(self, one: WrittenArtifact, page: WikiArticle) -> bool:
        """Whether a page is called as the artifact's target is."""
        title = _title(one)
        if page.title.casefold() == title.casefold():
            return True
        named = self._asked.newest(titles=[title]).get(title)
        return named is not None and named.id == page.id

    def _history(
        self, page: WikiArticle, several: Sequence[WrittenArtifact], window: timedelta
    ) -> list[RawRevision]:
        """The revisions that matter, the oldest first: up to some time after the windows, and some
        before the agent's."""
        latest = max(one.created_at for one in several) + EARLY
        latest += 2 * round(window.total_seconds() * 1e9)
        oldest = min(one.created_at for one in several) - EARLY
        known = [_number(one) for one in several if _number(one)]
        first = min(known, default=0)
        start = stamp(latest) if latest < self._clock() and not first else None
        found: list[RawRevision] = []
        before = 0
        for revisions in self._asked.revisions(page.id, start):
            found += revisions
            before += sum(one.at < oldest and (not first or one.id < first) for one in revisions)
            if before >= BEFORE or len(found) >= LONGEST:
                break
        return sorted(found, key=lambda one: (one.at, one.id))

    def _find(
        self, one: WrittenArtifact, history: Sequence[RawRevision], told_before: int = 0
    ) -> tuple[RawRevision | None, str]:
        """The agent's own revision, and how it was found. Of several with its text, all but the
        first bring it back, unless the agent told before that it had written the same."""
        named = next((found for found in history if found.id == _number(one)), None)
        if one.text is not None:
            sha1 = sha1_of(one.text)
            if named is not None and named.sha1 == sha1:
                return named, "text"
            same = [raw for raw in history if raw.sha1 == sha1 and raw.at >= one.created_at - EARLY]
            if same:
                again = (raw for raw in same if raw.at + 10**9 > told_before)
                return next(again, same[0]), "text"
        if named is not None:
            return named, "version"
        return self._by_user_and_time(one, history), "user and time"

    def _by_user_and_time(
        self, one: WrittenArtifact, history: Sequence[RawRevision]
    ) -> RawRevision | None:
        """The only revision of the agent's accounts at that time; of two, none is taken."""
        own = self._accounts()
        near = [
            found
            for found in history
            if found.user in own and abs(found.at - one.created_at) <= NEAR
        ]
        return near[0] if len(near) == 1 else None

    def _decided(
        self,
        one: WrittenArtifact,
        own: RawRevision,
        found_by: str,
        history: Sequence[RawRevision],
        window: timedelta,
        told: Set[str] = frozenset(),
    ) -> ArtifactVerdict:
        at = history.index(own)
        mine = self._own or {own.user} - {""}
        # What the agent told of is its own, whoever saved it; what comes back is not.
        first = {raw.sha1: raw.id for raw in reversed(history)}
        by_agent = {first[sha1] for sha1 in told if sha1 in first}
        later = self._as_revisions(own, history[at + 1 :], mine, by_agent)
        verdict, changed = decide(
            Revision(str(own.id), own.at, own.sha1, own.user),
            [Revision(str(raw.id), raw.at, raw.sha1) for raw in history[:at]],
            later,
            window,
            self._clock(),
        )
        text = self._asked.text(int(changed.id)) if changed is not None else None
        return replace(verdict, found_by=found_by, later_text=text)

    def _as_revisions(
        self, own: RawRevision, later: Sequence[RawRevision], mine: Set[str], by_agent: Set[int]
    ) -> list[Revision]:
        makers = self._makers({raw.user for raw in later}, mine)
        made: list[Revision] = []
        for raw in later:
            how = _how_gone(raw, own)
            made.append(
                Revision(
                    str(raw.id),
                    raw.at,
                    raw.sha1,
                    raw.user,
                    maker=AGENT if raw.id in by_agent else makers[raw.user],
                    change=ALL if how else SOME,
                    undoes=_undoes(raw, own),
                    how=how,
                )
            )
        return made

    def _makers(self, users: Set[str], mine: Set[str]) -> dict[str, str]:
        """What each account is: the agent's, a bot's, else a person's."""
        bots = self._asked.bots(users - mine)
        return {user: AGENT if user in mine else BOT if user in bots else PERSON for user in users}

    def _accounts(self) -> Set[str]:
        """The agent's accounts, as far as they are known without any of its revisions."""
        return self._own or ({_as_user(self._wiki.user)} if self._wiki.user else set[str]())

    def _elsewhere(
        self, one: WrittenArtifact, window: timedelta, history: Sequence[RawRevision] | None
    ) -> ArtifactVerdict:
        """Of an artifact whose revision is not on the page of its title: where that was moved to,
        or that it was deleted; else that the revision was not found."""
        try:
            known = self._moved_or_deleted(one, window)
        except WikiError as error:
            if error.code != "invalidtitle":
                raise
            return ArtifactVerdict(NOT_FOUND, "its target is no title of a page")
        if known is not None:
            return known
        if history is None:
            return ArtifactVerdict(NOT_FOUND, "there is no such page")
        then = [raw for raw in history if raw.at <= one.created_at]
        if then and one.text is not None and then[-1].sha1 == sha1_of(one.text):
            reason = "the page said so already: nothing new was written"
            return ArtifactVerdict(NOT_JUDGED, reason, revision=str(then[-1].id))
        return ArtifactVerdict(NOT_FOUND, "no revision of the page is what the agent wrote")

    def _moved_or_deleted(self, one: WrittenArtifact, window: timedelta) -> ArtifactVerdict | None:
        """What became of it on the page that its own was moved to, if it is there; else that this
        page was deleted."""
        title, since = _title(one), one.created_at
        for _ in range(MOVES):
            moves = self._asked.log(title, "move", since - EARLY if title == _title(one) else since)
            if not moves:
                break
            title, since = str(moves[0]["params"]["target_title"]), nanoseconds(moves[0])
            page = self._asked.newest(titles=[title]).get(title)
            if page is not None:
                history = self._history(page, [one], window)
                own, found_by = self._find(one, history)
                if own is not None:
                    return self._decided(one, own, found_by, history, window)
        return self._deleted(one, title, since, window)

    def _deleted(
        self, one: WrittenArtifact, title: str, since: int, window: timedelta
    ) -> ArtifactVerdict | None:
        """That a page was deleted since then, and not restored."""
        events = self._asked.log(title, "delete", since)
        gone = [event for event in events if event.get("action") in ("delete", "restore")]
        if not gone or gone[-1]["action"] == "restore":
            return None
        event = gone[-1]
        own = Revision(one.revision, one.created_at, "")
        by = str(event.get("user", ""))
        removed = Revision(
            "",
            nanoseconds(event),
            "",
            by,
            maker=self._makers({by}, self._accounts())[by],
            change=ALL,
            how="the page was deleted",
        )
        verdict, _ = decide(own, (), [removed], window, self._clock())
        if verdict.decision not in (REJECTED, NOT_JUDGED):
            reason = "the page was deleted after the window, before anybody looked"
            return ArtifactVerdict(NOT_JUDGED, reason, revision=one.revision)
        return verdict


def is_title(target: str) -> bool:
    """Whether a page may be called so, as far as every wiki has it."""
    return bool(target.strip()) and not _NO_TITLE.search(target) and len(target.encode()) <= 500


def sha1_of(text: str) -> str:
    """The hash that a wiki has of a text, in hex."""
    return hashlib.sha1(normal(text).encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def _title(one: WrittenArtifact) -> str:
    return unicodedata.normalize("NFC", one.target).replace("_", " ").strip()


def _number(one: WrittenArtifact) -> int:
    """The agent's revision as a number; 0 where none is known."""
    text = one.revision or one.version
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _told_before(one: WrittenArtifact, several: Sequence[WrittenArtifact]) -> int:
    """When the agent told last, before this, that it had written the same on the page."""
    times = [other.created_at for other in several if other.text == one.text]
    return max((at for at in times if at < one.created_at), default=0)


def _is_newest(newest: RawRevision, one: WrittenArtifact) -> bool:
    """Whether the page's newest revision is the agent's, and not one that brings its text back:
    nothing came after it."""
    if one.text is None or newest.sha1 != sha1_of(one.text) or newest.tags & _REVERTS:
        return False
    return newest.id == _number(one) or (
        not _number(one) and abs(newest.at - one.created_at) <= EARLY
    )


def _how_gone(raw: RawRevision, own: RawRevision) -> str:
    """In words, what leaves nothing of the agent's text, whatever it was."""
    if (raw.size == 0 or "mw-blank" in raw.tags) and own.size:
        return "blanked"
    if "mw-new-redirect" in raw.tags:
        return "the page was made a redirect"
    return ""


def _undoes(raw: RawRevision, own: RawRevision) -> bool:
    """Whether a revert is one of the agent's revision, also where others came in between: it names
    it in its comment, or MediaWiki has marked the agent's as reverted."""
    if not raw.tags & _REVERTS:
        return False
    named = re.search(rf"(?<!\d){own.id}(?!\d)", raw.comment)
    return named is not None or "mw-reverted" in own.tags


def _as_user(name: str) -> str:
    """A name as the wiki writes it: a bot password's purpose is no part of it."""
    name = name.partition("@")[0].strip().replace("_", " ")
    return name[:1].upper() + name[1:]
