"""What the wiki's own configuration page says: it is read before anything else."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from wiki_agent.pages import PROJECT, Page, Wiki

PAGE: Final = "Agent configuration"
UNKNOWN: Final = "unknown"
TASKS: Final = (
    "create_encyclopedia_article",
    "create_source",
    "edit_page",
    "maintenance_report",
    "query",
    "batch_operation",
    "stub_expansion",
    "red_link_generation",
    UNKNOWN,
)
"""The kinds of task that every wiki has; the configuration page may add to them."""
TALK_SECTIONS: Final = ("Editorial notes", "Continuity", "Open questions")
_LINE = re.compile(r"^\*\s*([\w ]+?)\s*:\s*(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Settings:
    """How the agent works on this wiki."""

    budget: int = 4_000
    """Tokens that the context may take."""
    max_depth: int = 2
    """How many requirements away from the first instructions one is still read."""
    links: int = 5
    """Linked pages that are read at most."""
    world_bible: str = "World bible"
    talk_sections: tuple[str, ...] = TALK_SECTIONS
    instructions: Mapping[str, str] = field(default_factory=dict[str, str])
    """The first page of instructions of each task."""

    @property
    def tasks(self) -> tuple[str, ...]:
        """All kinds of task, the wiki's own last."""
        return tuple(dict.fromkeys([*TASKS, *self.instructions]))


def load(wiki: Wiki) -> Settings:
    """Read the configuration page; what it does not say, or says wrongly, is as by default."""
    page = wiki.page(PROJECT, PAGE)
    if page is None:
        return Settings()
    known = Settings()
    limits, pages = _lines(page, "Limits"), _lines(page, "Pages")
    talk = [name.strip() for name in pages.get("talk_sections", "").split(",") if name.strip()]
    return Settings(
        budget=_number(limits.get("budget"), known.budget),
        max_depth=_number(limits.get("max_depth"), known.max_depth),
        links=_number(limits.get("links"), known.links),
        world_bible=pages.get("world_bible", known.world_bible),
        talk_sections=tuple(talk) or known.talk_sections,
        instructions=_lines(page, "Tasks"),
    )


def _lines(page: Page, section: str) -> dict[str, str]:
    return dict(_LINE.findall(page.sections.get(section, "")))


def _number(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isdecimal() else default
