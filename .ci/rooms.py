"""Write the page of rooms: what each does, by its docstring, in the order of the contracts."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from turnspan_clickhouse.files.toml_file import read_toml

ROOT: Final = Path(__file__).resolve().parent.parent
_FOLDERS: Final = {
    "turnspan": "instrument",
    "turnspan_clickhouse": "exporter",
    "turnspan_records": "records",
    "turnspan_console": "console",
    "turnspan_llm": "llm",
}
_HEAD: Final = ("room", "what it does", "what is in it")


def page() -> Iterator[str | tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """The parts of the page below its head: texts, and tables as (head, rows)."""
    for package, contract in _contracts():
        folder = ROOT / _FOLDERS[package] / package
        layers: list[str] = contract["layers"]
        rooms = [room.strip("|: ") for layer in layers for room in layer.split()]
        yield f"## {package}"
        yield _HEAD, [_row(folder, room) for room in rooms if room not in {"", "_version"}]


def _contracts() -> list[tuple[str, dict[str, Any]]]:
    project = read_toml(ROOT / "pyproject.toml")
    by_package = {
        contract["containers"][0]: contract
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers" and "containers" in contract
    }
    return [(package, by_package[package]) for package in _FOLDERS]


def _row(package: Path, room: str) -> tuple[str, ...]:
    folder = package / room
    path = folder / "__init__.py" if folder.is_dir() else package / f"{room}.py"
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    inside = _names(folder, {".py", ".sql"}) if folder.is_dir() else []
    return f"`{room}`", " ".join(text.split("\n\n")[0].split()), ", ".join(inside).replace("_", " ")


def _names(folder: Path, kinds: set[str]) -> list[str]:
    """What is in a folder, and behind a folder in it, in parentheses, what is in that."""
    found: list[str] = []
    for one in sorted(folder.iterdir(), key=lambda path: path.stem):
        if one.is_dir() and not one.name.startswith("_"):
            more = _names(one, {".py"})
            found.append(f"{one.name} ({', '.join(more)})" if more else one.name)
        elif one.suffix in kinds and not one.name.startswith("_"):
            found.append(one.stem)
    return found
