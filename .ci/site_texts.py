"""The site for programs that read text: each page in Markdown, and llms.txt, their list.

A page's Markdown lies beside its folder: that of `imports/` is `imports.md`, as gathered, with the
docstrings of the public names in the place of what asks for them. The form of the list is that of
https://llmstxt.org.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin

LLMS: Final = "llms.txt"
_ASKED: Final = re.compile(r"^::: ([\w.]+)\n((?: +.*\n|\n(?= ))*)", re.MULTILINE)
_SAYS: Final = re.compile(r"^After this page (.+?\.)(?:\s|$)", re.MULTILINE | re.DOTALL)


def write(gathered: Path, site: Path, config: Mapping[str, Any], address: str) -> list[str]:
    """Write the texts; returns the paths of the pages' Markdown.

    Args:
        gathered: the folder of the pages, as the site's builder reads them.
        site: the folder of the site.
        config: what mkdocs.yml says: name, description, navigation.
        address: where the site is to be; empty: links are relative.
    """
    twins: list[str] = []
    for page in sorted(gathered.rglob("*.md")):
        name = page.relative_to(gathered).as_posix()
        if name.startswith("files/"):
            continue
        twin = site / name
        twin.parent.mkdir(parents=True, exist_ok=True)
        twin.write_text(expanded(page.read_text(encoding="utf-8")), encoding="utf-8")
        twins.append(name)
        _announce(site / built(name), twin.name)
    text = f"# {config['site_name']}\n\n> {config['site_description']}\n"
    for heading, pages in _sections(config["nav"]):
        text += f"\n## {heading}\n\n"
        for title, name in pages:
            says = _SAYS.search((site / name).read_text(encoding="utf-8"))
            note = f": {' '.join(says[1].split())}" if says else ""
            text += f"- [{title}]({urljoin(address, name)}){note}\n"
    (site / LLMS).write_text(text, encoding="utf-8")
    return twins


def built(name: str) -> str:
    """The path of the HTML that is built of a page."""
    folder, _, stem = name.removesuffix(".md").rpartition("/")
    place = folder if stem in ("index", "README") else f"{folder}/{stem}"
    return f"{place}/index.html".lstrip("/")


def _announce(html: Path, twin: str) -> None:
    """Say in a page's head where its Markdown is."""
    if html.is_file():  # it is not where only the texts are written
        up = "" if twin in ("index.md", "README.md") else "../"
        link = f'<link rel="alternate" type="text/markdown" href="{up}{twin}">'
        text = html.read_text(encoding="utf-8")
        html.write_text(text.replace("</head>", f"{link}</head>", 1), encoding="utf-8")


def _sections(nav: list[Any]) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The parts of the navigation; the pages above all parts are the first."""
    loose: list[tuple[str, str]] = []
    parts: list[tuple[str, list[tuple[str, str]]]] = [("Start", loose)]
    for entry in nav:
        ((title, inside),) = entry.items()
        if isinstance(inside, str):
            loose.append((title, inside))
        else:
            parts.append((title, list(_pages(inside))))
    yield from parts


def _pages(nav: list[Any]) -> Iterator[tuple[str, str]]:
    for entry in nav:
        ((title, inside),) = entry.items()
        if isinstance(inside, str):
            yield title, inside
        else:
            yield from _pages(inside)


def expanded(text: str) -> str:
    """The text with the signatures and docstrings that it asks for."""
    return _ASKED.sub(lambda asked: _documented(asked[1]), text)


def _documented(name: str) -> str:
    package, _, attribute = name.rpartition(".")
    value = getattr(importlib.import_module(package), attribute)
    try:
        signature = str(inspect.signature(value)).replace("'", "")
    except (TypeError, ValueError):  # a name of types
        signature = ""
    return (
        f"### {name}\n\n```python\n{attribute}{signature}\n```\n\n{inspect.getdoc(value) or ''}\n\n"
    )
