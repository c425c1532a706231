"""The table of results: printed, and written as docs/stacks.md."""

from __future__ import annotations

import json
import subprocess
from hashlib import blake2b
from typing import Final

from stacks.matrix import EVERY, Cell, cells
from stacks.running import ROOT, python_of, ready

PAGE: Final = ROOT / "docs" / "stacks.md"
KEPT: Final = ROOT / "build" / "stacks"
"""Results by cell, so that the whole may be played in parts, at once or one after another."""
_SOURCES: Final = ("instrument", "exporter", "records", "llm", "tests/stacks")
_FAILED: Final = "did not run"


class Results:
    """What was found wrong in each cell that was played of these sources, now or in earlier runs;
    nothing in one that is right."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, str]] = {}
        self.played = False
        self._sources = _sources()
        for cell in cells():
            kept = KEPT / f"{cell.id}.json"
            if kept.exists():
                told = json.loads(kept.read_text("utf-8"))
                if told["sources"] == self._sources:
                    self.found[cell.id] = told["found"]

    def begin(self, cell: Cell) -> None:
        """A cell is played; until it has ended, it has failed."""
        self._keep(cell, {_FAILED: ""})

    def end(self, cell: Cell, found: dict[str, str]) -> None:
        """A cell was played."""
        self._keep(cell, found)

    @property
    def complete(self) -> bool:
        """Whether every cell was played."""
        return all(cell.id in self.found for cell in cells())

    def _keep(self, cell: Cell, found: dict[str, str]) -> None:
        self.played = True
        self.found[cell.id] = found
        KEPT.mkdir(parents=True, exist_ok=True)
        told = {"sources": self._sources, "found": found}
        (KEPT / f"{cell.id}.json").write_text(json.dumps(told), "utf-8")

    def text(self) -> str:
        """The table, as Markdown; cells that were not played are empty."""
        head = ["Stack", "Beside Turnspan", *(manner.name for manner in EVERY)]
        lines = ["", _row(head), _row(["---"] * len(head))]
        rows: dict[tuple[str, str], dict[str, str]] = {}
        notes: dict[str, int] = {}
        for cell in cells():
            if cell.id in self.found:
                row = rows.setdefault((cell.stack.name, cell.beside), {})
                marks = sorted(notes.setdefault(note, len(notes) + 1) for note in cell.not_asked())
                marked = f" ({', '.join(map(str, marks))})" if marks else ""
                row[cell.manner.name] = _said(self.found[cell.id]) + marked
        for (stack, beside), found in rows.items():
            lines.append(_row([stack, beside, *(found.get(m.name, "") for m in EVERY)]))
        return "\n".join([*lines, "", *(f"{number}. {note}" for note, number in notes.items())])


def _sources() -> str:
    """What the sources are that a result is of."""
    digest = blake2b(digest_size=8)
    for folder in _SOURCES:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".py", ".txt", ".sql", ".mjs"):
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _said(found: dict[str, str]) -> str:
    return ", ".join(found) if found else "yes"


def _row(fields: list[str]) -> str:
    return f"| {' | '.join(fields)} |"


def write(results: Results) -> None:
    """Write the page, where every cell was played."""
    if results.complete:
        PAGE.write_text(_PAGE.format(table=results.text().strip(), versions=_versions()))


_LIST = """
import json
from importlib import metadata
print(json.dumps({one.name.lower(): one.version for one in metadata.distributions()}))
"""


def _versions() -> str:
    """The packages of every stack, as they were installed together."""
    lines = [_row(["Stack", "Versions"]), _row(["---", "---"])]
    for name, venv in _stacks().items():
        if venv == "node":
            lines.append(_row([name, _node_versions()]))
            continue
        command = [str(python_of(venv)), "-c", _LIST]
        listed = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        asked = (ROOT / "tests/stacks/requirements" / f"{venv}.txt").read_text().splitlines()
        names = [line.partition(">=")[0].partition("[")[0] for line in asked if ">=" in line]
        said = ", ".join(f"{each} {listed.get(each, '?')}" for each in names)
        lines.append(_row([name, said]))
    return "\n".join(lines)


def _node_versions() -> str:
    folder = ready("node")
    wanted = json.loads((folder / "package.json").read_text())["dependencies"]
    installed = {
        name: json.loads((folder / "node_modules" / name / "package.json").read_text())["version"]
        for name in wanted
    }
    return ", ".join(f"{name} {version}" for name, version in installed.items())


def _stacks() -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for cell in cells():
        names = found.setdefault(cell.stack.venv, [])
        if cell.stack.name not in names:
            names.append(cell.stack.name)
    return {", ".join(names): venv for venv, names in found.items()}


_PAGE: Final = """\
# The stacks it was tried with

After this page you know how well Turnspan records your framework or SDK. `make test-stacks` plays
one conversation through each against a model server on this machine, and compares the records with
its requests, its replies and the executed tools.

Each cell is a run: *yes*, or what was wrong; a number names a limit below the table; an empty cell
was not played. *plain* is three questions of one user with only `configure()` and `instrument()`;
*two at a time* are two users who begin with the same words; *web server* is the same through
FastAPI; in *theirs only* the other package alone records (empty also: it does not record the calls,
or not which belong together).

{table}

## Versions

{versions}
"""
