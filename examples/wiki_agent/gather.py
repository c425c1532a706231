"""Where candidates come from: instructions and what they require, pages, links, sources, talk."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence

from wiki_agent import pages as wikis
from wiki_agent.candidates import ENCYCLOPEDIA, EXTERNAL, INSTRUCTIONS, SOURCES, TALK, Candidate
from wiki_agent.pages import Page, Wiki
from wiki_agent.settings import Settings

Look = Callable[[str], "Page | None"]


def first_instructions(wiki: Wiki, settings: Settings, task: str) -> list[Page]:
    """The pages that instructions begin with: the world bible, then the task's own."""
    titles = [settings.world_bible, settings.instructions.get(task, "")]
    found = [wiki.page(wikis.INSTRUCTIONS, title) for title in dict.fromkeys(titles) if title]
    return [page for page in found if page is not None]


def required(first: Sequence[Page], look: Look, max_depth: int) -> list[tuple[Page, int]]:
    """The pages and all that they require, breadth first, each once, with the least number of
    requirements between the first pages and it.

    Not further than ``max_depth``, except below a page that says ``fully_resolve``: so a page may
    be reached twice, with the limit and without it, and only the second way leads on.
    """
    depths: dict[str, tuple[Page, int]] = {}
    seen: set[tuple[str, bool]] = set()
    waiting = deque((page, 0, page.fully_resolve) for page in first)
    while waiting:
        page, depth, unlimited = waiting.popleft()
        if (page.title, unlimited) in seen or (page.title, True) in seen:
            continue
        seen.add((page.title, unlimited))
        depths.setdefault(page.title, (page, depth))
        if not unlimited and depth >= max_depth:
            continue
        for title in page.requires:
            found = look(title)
            if found is not None:
                waiting.append((found, depth + 1, unlimited or found.fully_resolve))
    return list(depths.values())


def instructions(found: Sequence[tuple[Page, int]]) -> list[Candidate]:
    """Pages of instructions as candidates."""
    return [
        Candidate(page.id, INSTRUCTIONS, page.title, page.text, depth=depth)
        for page, depth in found
    ]


def entity_pages(wiki: Wiki, entities: Sequence[str]) -> list[Page]:
    """The encyclopedia's pages about what was asked for, whatever the letters' case."""
    known = {page.title.casefold(): page for page in wiki.pages(wikis.ENCYCLOPEDIA)}
    found = [known.get(entity.casefold()) for entity in dict.fromkeys(entities)]
    return [page for page in found if page is not None]


def linked_pages(
    wiki: Wiki, found: Sequence[Page], entities: Sequence[str], most: int
) -> list[Page]:
    """The pages one link away, those first that occur most together with what was asked for: that
    more of its pages link to, and that name more of it themselves."""
    here = {page.title for page in found}
    together = Counter(title for page in found for title in page.links if title not in here)
    named = (wiki.page(wikis.ENCYCLOPEDIA, title) for title in together)
    linked = [page for page in named if page is not None]
    for page in linked:
        together[page.title] += sum(_names(page, entity) for entity in entities)
    return sorted(linked, key=lambda page: (-together[page.title], page.title))[:most]


def encyclopedia(found: Sequence[Page], hop: int) -> list[Candidate]:
    """Pages of the encyclopedia as candidates."""
    return [Candidate(page.id, ENCYCLOPEDIA, page.title, page.text, hop=hop) for page in found]


def sources(wiki: Wiki, entities: Sequence[str]) -> Iterator[Candidate]:
    """The sources that name what was asked for."""
    for page in wiki.pages(wikis.SOURCES):
        if any(_names(page, entity) for entity in entities):
            yield Candidate(page.id, SOURCES, page.title, page.text, source="sources")


def talk(wiki: Wiki, found: Sequence[Page], wanted: Sequence[str]) -> Iterator[Candidate]:
    """The sections of talk pages that the configuration names; no others."""
    for page in found:
        about = wiki.page(wikis.TALK, page.title)
        for name in wanted if about is not None else ():
            assert about is not None
            text = about.sections.get(name)
            if text:
                title = f"{page.title}, {name}"
                yield Candidate(f"{about.id}#{name}", TALK, title, text, source="talk")


def external(wiki: Wiki, asked: str, entities: Sequence[str]) -> Iterator[Candidate]:
    """What an encyclopedia of the real world has about the request's entities and words."""
    told: set[str] = set()
    for term in [*entities, *asked.split()]:
        found = wiki.look_up(term)
        if found is not None and found[0] not in told:
            title, summary = found
            told.add(title)
            yield Candidate(f"Wikipedia:{title}", EXTERNAL, title, summary, source="wikipedia")


def _names(page: Page, entity: str) -> bool:
    return entity.casefold() in page.text.casefold()
