"""A real MediaWiki by the address of its API, in the place of the folder.

The namespaces have the names that the agent knows them by, but for those that are told otherwise:
``{"Encyclopedia": "", "Talk": "Talk"}`` where articles are in the main namespace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import turnspan
from turnspan_records.quality.mediawiki_client import MediaWiki, content_of, pages_of
from wiki_agent.pages import ENCYCLOPEDIA, TALK, MemoryWiki, Page

NAMES: Final[Mapping[str, str]] = {TALK: f"{ENCYCLOPEDIA} talk"}
"""What a wiki calls namespaces that the agent knows by another name."""


class ApiWiki:
    """The pages of a wiki, as they were when they were first asked for; one for each request."""

    def __init__(
        self,
        wiki: MediaWiki,
        *,
        names: Mapping[str, str] = NAMES,
        external: Mapping[str, str] | None = None,
    ) -> None:
        self._wiki = wiki
        self._names = names
        self._outside = MemoryWiki(external=external or {})
        self._ids: dict[str, int] = {}
        self._known: dict[tuple[str, str], Page | None] = {}
        self._whole: dict[str, list[Page]] = {}

    def page(self, namespace: str, title: str) -> Page | None:
        """A page, if there is one of this title."""
        key = (namespace, title)
        if key not in self._known:
            found = self._wiki.page(self.full_name(namespace, title))
            self._known[key] = None if found is None else Page(namespace, title, found.text)
        return self._known[key]

    def pages(self, namespace: str) -> list[Page]:
        """All pages of a namespace, by title; redirects are none."""
        if namespace not in self._whole:
            found = self._read(namespace)
            self._whole[namespace] = found
            self._known.update({(namespace, page.title): page for page in found})
        return self._whole[namespace]

    def look_up(self, term: str) -> tuple[str, str] | None:
        """What an encyclopedia of the real world says: title and summary."""
        return self._outside.look_up(term)

    def write(self, namespace: str, title: str, text: str, *, summary: str = "") -> str:
        """Write a page, and record it with its revision; returns the artifact's id."""
        name = self.full_name(namespace, title)
        edited = self._wiki.edit(name, text, summary=summary)
        self._known.pop((namespace, title), None)
        self._whole.pop(namespace, None)
        return turnspan.artifact(name, text, kind="page", version=str(edited.revision))

    def full_name(self, namespace: str, title: str) -> str:
        """What the wiki calls a page."""
        prefix = self._names.get(namespace, namespace)
        return f"{prefix}:{title}" if prefix else title

    def _read(self, namespace: str) -> list[Page]:
        id_ = self._namespaces().get(self._names.get(namespace, namespace).casefold())
        if id_ is None:
            return []
        made: dict[str, Page] = {}
        for answer in self._wiki.answers(
            action="query",
            generator="allpages",
            gapnamespace=id_,
            gapfilterredir="nonredirects",
            gaplimit=50,
            prop="revisions",
            rvprop="content",
            rvslots="main",
        ):
            for found in pages_of(answer):
                title = str(found["title"]).partition(":")[2] if id_ else str(found["title"])
                for revision in found.get("revisions", ()):
                    text = content_of(revision)
                    if text is not None:
                        made[title] = Page(namespace, title, text)
        return [made[title] for title in sorted(made)]

    def _namespaces(self) -> Mapping[str, int]:
        """The ids of namespaces by all of their names."""
        if not self._ids:
            answer = self._wiki.ask(
                action="query", meta="siteinfo", siprop=["namespaces", "namespacealiases"]
            )["query"]
            for one in [*answer["namespaces"].values(), *answer["namespacealiases"]]:
                names = [one.get(key) for key in ("name", "canonical", "alias")]
                for name in names:
                    if name is not None:
                        self._ids[str(name).casefold()] = int(one["id"])
        return self._ids
