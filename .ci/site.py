"""Build the documentation site into build/site; anything that is not in order fails the build.

    python site.py            gather the pages, build the site, fail on any warning
    python site.py --gather   gather the pages only

The pages are written for the repository: their links lead to files beside them. The site has only
pages, so they are gathered into build/docs first, and each link is led to where its file went:
another page, a copy of a file (under files/), or, of a folder without a page, its bare name.

TURNSPAN_SITE is the address that the site is to have; without it, links are relative only.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import yaml

sys.path.insert(0, str(Path(__file__).parent))  # also where a test runs this file

import site_texts

ROOT = Path(__file__).resolve().parent.parent
GATHERED = ROOT / "build" / "docs"

ELSEWHERE = {
    "README.md": "tour.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "ROADMAP.md": "roadmap.md",
    "benchmarks/README.md": "benchmarks.md",
    "deploy/README.md": "deployment-files.md",
    "skills/README.md": "skills.md",
}
"""Pages that lie outside docs/, and their names in the site."""

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"^( *)(```|~~~)")
SAID = re.compile(r"Build (started|finished)\b|No issues found", re.IGNORECASE)
"""What the builder says of a build without a warning. Whatever else it says is one: its own strict
mode does not count the warnings of the plugin that reads the docstrings."""

Follow = Callable[[str, str, str], str]


def pages() -> dict[str, str]:
    """Every page of the site by its path in the repository."""
    inside = sorted(path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md"))
    return {f"docs/{path.as_posix()}": path.as_posix() for path in inside} | {
        source: name for source, name in ELSEWHERE.items() if (ROOT / source).is_file()
    }


def rewritten(text: str, follow: Follow) -> str:
    """The text with each link, outside of code, as ``follow(mark, label, target)`` gives it."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if mark and not fence:
            fence = mark[2]
        elif fence and line.strip() == fence:
            fence = ""
        elif not fence:
            line = LINK.sub(lambda found: follow(*found.groups()), line)
        lines.append(line)
    return "\n".join(lines)


def is_outside(target: str) -> bool:
    """Whether a link leaves the repository or stays on its page."""
    return target.startswith(("http://", "https://", "mailto:", "#"))


def gather(into: Path = GATHERED) -> list[str]:
    """Write the pages; returns the links that lead nowhere."""
    shutil.rmtree(into, ignore_errors=True)
    gathering = Gathering(into)
    for source, name in gathering.names.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        copy = into / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        follow = partial(gathering.followed, source, name)
        copy.write_text(rewritten(text, follow), encoding="utf-8")
    return gathering.broken


class Gathering:
    """The pages' names, the links that lead nowhere, and the files that others lead to."""

    def __init__(self, into: Path) -> None:
        self.into = into
        self.names = pages()
        self.broken: list[str] = []

    def followed(self, source: str, name: str, mark: str, label: str, target: str) -> str:
        """A link of the page ``source`` as it is to stand in the page ``name`` of the site."""
        path, _, anchor = target.partition("#")
        found = (ROOT / source).parent.joinpath(path).resolve()
        if is_outside(target):
            return f"{mark}[{label}]({target})"
        if not found.exists() or ROOT not in found.parents:
            self.broken.append(f"{source}: {target}")
            return label
        if found.is_dir():
            inside = [found / page for page in ("README.md", "index.md")]
            found = next((page for page in inside if page.is_file()), found)
            if found.is_dir():
                return label
        place = os.path.relpath(self.place(found, mark), Path(name).parent).replace(os.sep, "/")
        return f"{mark}[{label}]({place}{'#' + anchor if anchor else ''})"

    def place(self, found: Path, mark: str) -> str:
        """Where a file is in the site; what is no page is copied there."""
        inside = found.relative_to(ROOT).as_posix()
        if inside in self.names:
            return self.names[inside]
        place = inside.removeprefix("docs/") if mark else f"files{f'/{inside}'.replace('/.', '/')}"
        copy = self.into / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, copy)
        return place


def build() -> int:
    """Build the site; returns the exit code."""
    shutil.rmtree(ROOT / "build" / "site", ignore_errors=True)
    builder = Path(sys.executable).parent / "zensical"
    ran = subprocess.run(
        [str(builder), "build", "--strict", "--clean"],
        cwd=ROOT,
        env=os.environ | {"NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    said = re.sub(r"\x1b\[[\d;]*m", "", ran.stdout)
    warnings = [line for line in said.splitlines() if line.strip() and not SAID.search(line)]
    if ran.returncode or warnings:
        print(said, file=sys.stderr)
        return 1
    site = ROOT / "build" / "site"
    address = os.environ.get("TURNSPAN_SITE", "")
    site_texts.write(GATHERED, site, config(), address and f"{address.rstrip('/')}/")
    broken = dangling(site)
    for one in broken:
        print(f"leads nowhere: {one}", file=sys.stderr)
    print(f"build/site: {len(list((ROOT / 'build' / 'site').rglob('index.html')))} pages")
    return 1 if broken else 0


def config() -> dict[str, Any]:
    """What mkdocs.yml says, with the variables of the environment that it names."""
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.add_constructor("!ENV", lambda _, node: os.environ.get(node.value[0].value, ""))
    said: dict[str, Any] = yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), loader)
    return said


def dangling(site: Path) -> list[str]:
    """Links of the site's pages to files that the builder has not written."""
    found: list[str] = []
    for page in site.rglob("index.html"):
        for target in re.findall(r'(?:href|src)="([^"#?]+)', page.read_text(encoding="utf-8")):
            if "//" in target or target.startswith(("/", "data:", "mailto:")):
                continue
            there = page.parent / target
            if not (there / "index.html" if there.is_dir() else there).is_file():
                found.append(f"{page.relative_to(site)}: {target}")
    return found


def main(only_gather: bool) -> int:
    """Gather and build; returns the exit code."""
    broken = gather()
    for one in broken:
        print(f"leads nowhere: {one}", file=sys.stderr)
    if broken or only_gather:
        return 1 if broken else 0
    return build()


if __name__ == "__main__":
    sys.exit(main("--gather" in sys.argv[1:]))
