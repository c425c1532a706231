"""The table of results: printed, and written as docs/stacks.md."""

from __future__ import annotations

import json
import subprocess
from typing import Final

from stacks.matrix import EVERY, Cell, cells
from stacks.running import ROOT, python_of, ready

PAGE: Final = ROOT / "docs" / "stacks.md"
_FAILED: Final = "did not run"


class Results:
    """What was found wrong in each cell that was played; nothing in one that is right."""

    def __init__(self) -> None:
        self.played: dict[str, dict[str, str]] = {}

    def begin(self, cell: Cell) -> None:
        """A cell is played; until it has ended, it has failed."""
        self.played[cell.id] = {_FAILED: ""}

    def end(self, cell: Cell, found: dict[str, str]) -> None:
        """A cell was played."""
        self.played[cell.id] = found

    @property
    def complete(self) -> bool:
        """Whether every cell was played."""
        return all(cell.id in self.played for cell in cells())

    def text(self) -> str:
        """The table, as Markdown; cells that were not played are empty."""
        head = ["Stack", "Beside Turnspan", *(manner.name for manner in EVERY)]
        lines = ["", _row(head), _row(["---"] * len(head))]
        rows: dict[tuple[str, str], dict[str, str]] = {}
        for cell in cells():
            if cell.id in self.played:
                row = rows.setdefault((cell.stack.name, cell.beside), {})
                row[cell.manner.name] = _said(self.played[cell.id])
        for (stack, beside), found in rows.items():
            lines.append(_row([stack, beside, *(found.get(m.name, "") for m in EVERY)]))
        return "\n".join(lines)


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

`make test-stacks` plays the same conversation through each of these frameworks and SDKs against a
model server on this machine, once with nothing but Turnspan and once with each instrumentation that
people put beside it, and compares the records with what the server was asked and said and what the
tools did.

Each cell is a run: *yes*, or what was wrong in it. *plain* is one user's three questions with no
code but `configure()` and `instrument()`; *two at a time* are two users who begin with the same
words; *web server* is the same through FastAPI and its own instrumentation; in *theirs only* the
other package alone records, and Turnspan lands what it says. An empty cell is not played.

{table}

## Versions

{versions}
"""
