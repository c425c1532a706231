"""What the page of rooms says: each room's docstring, in the order of the contracts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from turnspan_clickhouse.files.toml_file import read_toml

ROOT: Final = Path(__file__).resolve().parent.parent


def packages() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Each package with its rooms, from the top down: name, what it does, what is in it."""
    for contract in read_toml(ROOT / "pyproject.toml")["tool"]["importlinter"]["contracts"]:
        if contract["type"] == "layers" and "containers" in contract:
            [package] = contract["containers"]
            folder = ROOT / contract["name"].partition(":")[0] / package
            rooms = re.findall(r"\b(?!_version)\w+", " ".join(contract["layers"]))
            yield package, [_row(folder, room) for room in rooms]


def _row(package: Path, room: str) -> tuple[str, str, str]:
    folder = package / room
    path = folder / "__init__.py" if folder.is_dir() else package / f"{room}.py"
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    inside = _names(folder, {".py", ".sql"}) if folder.is_dir() else []
    return f"`{room}`", text.partition("\n\n")[0], ", ".join(inside).replace("_", " ")


def _names(folder: Path, kinds: set[str]) -> list[str]:
    """What is in a folder, and behind a folder in it, in parentheses, what is in that."""
    found: list[str] = []
    for path in sorted(folder.iterdir(), key=lambda path: path.stem):
        if path.name.startswith("_"):
            continue
        if path.is_dir():
            more = _names(path, {".py"})
            found.append(f"{path.name} ({', '.join(more)})" if more else path.name)
        elif path.suffix in kinds:
            found.append(path.stem)
    return found
