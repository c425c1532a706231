"""The wiki: pages in namespaces, with links, requirements and sections."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol

PROJECT, INSTRUCTIONS, ENCYCLOPEDIA, SOURCES, TALK = (
    "Project",
    "Instructions",
    "Encyclopedia",
    "Sources",
    "Talk",
)
_LINK = re.compile(r"\[\[([^\]|#]+)(?:#[^\]|]*)?(?:\|[^\]]*)?\]\]")
_TEMPLATE = re.compile(r"\{\{([^{}]*)\}\}\n?")
_HEADING = re.compile(r"^==\s*(.+?)\s*==\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Page:
    """One page as it is written."""

    namespace: str
    title: str
    source: str

    @property
    def id(self) -> str:
        """Its full name."""
        return f"{self.namespace}:{self.title}"

    @cached_property
    def text(self) -> str:
        """What a reader reads: without templates."""
        return _TEMPLATE.sub("", self.source).strip()

    @cached_property
    def links(self) -> list[str]:
        """The titles that it links to, each once, in their order."""
        return list(dict.fromkeys(one.strip() for one in _LINK.findall(self.source)))

    @cached_property
    def requires(self) -> list[str]:
        """The pages without which this one cannot be understood: ``{{requires|A|B}}``."""
        found: list[str] = []
        for template in _TEMPLATE.findall(self.source):
            name, *given = (part.strip() for part in template.split("|"))
            found += given if name == "requires" else []
        return list(dict.fromkeys(one for one in found if one))

    @property
    def fully_resolve(self) -> bool:
        """Whether all that it requires is read, however deep: ``{{fully_resolve}}``."""
        return "{{fully_resolve}}" in self.source

    @cached_property
    def sections(self) -> dict[str, str]:
        """Its sections by their headings."""
        pieces = _HEADING.split(self.text)
        return {name: body.strip() for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}


class Wiki(Protocol):
    """What the agent asks of a wiki."""

    def page(self, namespace: str, title: str) -> Page | None:
        """A page, if there is one of this title."""
        ...

    def pages(self, namespace: str) -> Iterable[Page]:
        """All pages of a namespace, by title."""
        ...

    def look_up(self, term: str) -> tuple[str, str] | None:
        """What an encyclopedia of the real world says: title and summary."""
        ...


@dataclass
class MemoryWiki:
    """Pages by namespace and title."""

    known: Mapping[tuple[str, str], Page] = field(default_factory=dict[tuple[str, str], Page])
    external: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, pages: Iterable[Page], external: Mapping[str, str] | None = None) -> MemoryWiki:
        """A wiki of these pages."""
        return cls({(page.namespace, page.title): page for page in pages}, external or {})

    def page(self, namespace: str, title: str) -> Page | None:
        """A page, if there is one of this title."""
        return self.known.get((namespace, title))

    def pages(self, namespace: str) -> Iterable[Page]:
        """All pages of a namespace, by title."""
        return [self.known[key] for key in sorted(self.known) if key[0] == namespace]

    def look_up(self, term: str) -> tuple[str, str] | None:
        """What the stand-in for Wikipedia says of a title, or of one that is named in the term."""
        words = set(re.findall(r"\w+", term.lower()))
        for title, summary in self.external.items():
            if title.lower() in words:
                return title, summary
        return None


class FolderWiki(MemoryWiki):
    """A folder: ``<namespace>/<title>.wiki``, and ``external.json`` in the place of Wikipedia."""

    def __init__(self, folder: Path | None = None) -> None:
        folder = folder or Path(__file__).parent / "wiki"
        made = [
            Page(path.parent.name, path.stem, path.read_text(encoding="utf-8"))
            for path in sorted(folder.glob("*/*.wiki"))
        ]
        external = json.loads((folder / "external.json").read_text(encoding="utf-8"))
        super().__init__({(page.namespace, page.title): page for page in made}, external)
