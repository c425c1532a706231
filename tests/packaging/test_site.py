"""The documentation's pages hang together: navigation, links, anchors, public names."""

from __future__ import annotations

import importlib
import re
import runpy
import subprocess
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from support.shared import REPOSITORY

SITE = runpy.run_path(str(REPOSITORY / ".ci" / "site.py"))
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def tracked_pages() -> dict[str, str]:
    """The pages that belong to the repository (a report that a target writes does not)."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return {source: name for source, name in SITE["pages"]().items() if source in listed}


def in_navigation(entry: Any) -> list[str]:
    """Every page that a part of the navigation names."""
    if isinstance(entry, str):
        return [entry]
    parts = cast("dict[str, Any]", entry).values() if isinstance(entry, dict) else entry
    return [page for part in cast("Iterable[Any]", parts) for page in in_navigation(part)]


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """What may stand behind ``#`` in a link to a page: its headings, as the builder names them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE):
        plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
        plain = re.sub(r"[^\w\s-]", "", plain).strip().lower()
        found.add(re.sub(r"[-\s]+", "-", plain))
    return found


def test_every_page_is_in_the_navigation() -> None:
    """mkdocs.yml names each page of docs/, and those beside it, exactly once."""
    named = in_navigation(SITE["config"]()["nav"])
    assert sorted(named) == sorted(set(tracked_pages().values()))


def test_every_link_leads_to_a_file(tmp_path: Path) -> None:
    """Between pages and from pages to files, in the repository and as gathered for the site."""
    assert SITE["gather"](tmp_path) == []
    for page in tmp_path.rglob("*.md"):
        for target in LINK.findall(prose(page)):
            if not SITE["is_outside"](target):
                assert (page.parent / target.split("#")[0]).is_file(), (page.name, target)


def test_every_anchor_is_a_heading() -> None:
    """A link to a part of a page names a heading that is there."""
    for source in tracked_pages():
        page = REPOSITORY / source
        for target in LINK.findall(prose(page)):
            path, _, anchor = target.partition("#")
            if anchor and "://" not in target:
                there = page.parent / path if path else page
                assert anchor in anchors(there), (source, target)


@pytest.mark.parametrize(
    "package", ["turnspan", "turnspan.testing", "turnspan_records", "turnspan_clickhouse"]
)
def test_the_reference_has_every_public_name(package: str) -> None:
    """Each page of the reference shows what its package exports: no name more, none less."""
    name = package.replace(".", "_")
    page = (REPOSITORY / "docs" / "api" / f"{name}.md").read_text(encoding="utf-8")
    shown = re.findall(rf"^::: {package}\.(\w+)$", page, re.MULTILINE)
    assert sorted(shown) == sorted(importlib.import_module(package).__all__)


def test_rows_of_tables_are_whole() -> None:
    """Each row of a table is one line with as many cells as its heading."""
    for source in tracked_pages():
        cells = 0
        for line in prose(REPOSITORY / source).splitlines():
            bare = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line).strip()
            found = bare.count("|") if bare.startswith("|") else 0
            assert not cells or found in (0, cells), (source, line)
            assert not found or bare.endswith("|"), (source, line)
            assert found or not cells or not bare, (source, line)
            cells = found


def test_the_reference_shows_members_that_are_there() -> None:
    """Where a page names the members of a class, the class has them."""
    import turnspan

    page = (REPOSITORY / "docs" / "api" / "turnspan.md").read_text(encoding="utf-8")
    members = re.findall(r"^        - (\w+)$", page, re.MULTILINE)
    assert "stop" in members
    assert [name for name in members if not hasattr(turnspan.Turn, name)] == []


def test_decisions_are_numbered_and_listed() -> None:
    """Decision notes are numbered from 1 without a gap, and their list names each."""
    folder = REPOSITORY / "docs" / "decisions"
    notes = sorted(path.name for path in folder.glob("[0-9]*.md"))
    assert [int(name[:4]) for name in notes] == list(range(1, len(notes) + 1))
    listed = re.findall(r"\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text("utf-8"))
    assert listed == notes
    for name in notes:
        text = (folder / name).read_text(encoding="utf-8")
        headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert headings == [
            "Context",
            "Decision",
            "Consequences",
            "Figure",
            "What would change our mind",
        ], name


@pytest.mark.parametrize("address", ["", "https://docs.example/turnspan/"])
def test_every_page_has_its_text_and_stands_in_the_list(tmp_path: Path, address: str) -> None:
    """What `make docs` writes for programs that read text: Markdown beside each page, llms.txt."""
    texts, site = SITE["site_texts"], tmp_path / "site"
    gathered = tmp_path / "docs"
    SITE["gather"](gathered)
    for name in SITE["pages"]().values():
        html = site / texts.built(name)
        html.parent.mkdir(parents=True, exist_ok=True)
        html.write_text("<html><head></head></html>", encoding="utf-8")

    twins = texts.write(gathered, site, SITE["config"](), address)

    assert sorted(twins) == sorted(SITE["pages"]().values())
    listed = LINK.findall((site / "llms.txt").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(
        address + name for name in in_navigation(SITE["config"]()["nav"])
    )
    for name in twins:
        assert "\n::: " not in (site / name).read_text(encoding="utf-8"), name
        head = (site / texts.built(name)).read_text(encoding="utf-8")
        (href,) = re.findall(r'type="text/markdown" href="([^"]+)"', head)
        assert ((site / texts.built(name)).parent / href).resolve() == site / name
