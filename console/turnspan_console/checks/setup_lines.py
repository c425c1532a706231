"""The lines that turn recording on, put into a file of a project where they belong."""

from __future__ import annotations

import ast
import difflib
import json
import os
import re
import shutil
import tokenize
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turnspan_console.checks.project import source_of


class UnusualFileError(ValueError):
    """A file is left alone; the message says why."""


@dataclass(frozen=True, slots=True)
class SetupEdit:
    """A file as it is and as it would be; equal where the lines are there."""

    path: Path
    before: str
    after: str

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        name = self.path.as_posix()
        return "".join(
            difflib.unified_diff(
                _lines(self.before), _lines(self.after), name, name, n=2, lineterm="\n"
            )
        )

    def write(self) -> None:
        """Put the new text in the file's place, with its mode. Raises ``OSError``."""
        aside = self.path.with_name(f"{self.path.name}.turnspan-new")
        aside.write_bytes(self.after.encode())
        shutil.copymode(self.path, aside)
        os.replace(aside, self.path)


def setup_edit(path: Path, service: str) -> SetupEdit:
    """The file with ``turnspan.configure()`` and ``turnspan.instrument()`` in it.

    They stand behind the imports at its top; what is imported later is recorded too.

    Raises:
        UnusualFileError: it is not clear that the result would be right.
    """
    if path.is_symlink():
        raise UnusualFileError("it is a link to another file")
    try:
        with path.open("rb") as file:
            encoding = tokenize.detect_encoding(file.readline)[0]
        text = path.read_bytes().decode("utf-8")
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        raise UnusualFileError(f"it cannot be read ({error})") from None
    if encoding != "utf-8":
        raise UnusualFileError(f"its encoding is {encoding}")
    if re.search(r"\r(?!\n)", text) or ("\r\n" in text and re.search(r"(?<!\r)\n", text)):
        raise UnusualFileError("its lines end in several ways")
    try:
        edited = _in_notebook if path.suffix == ".ipynb" else _in_module
        return SetupEdit(path, text, edited(text, _calls(service)))
    except (SyntaxError, RecursionError, json.JSONDecodeError) as error:
        raise UnusualFileError(f"it cannot be read as Python ({error})") from None


def _calls(service: str) -> list[str]:
    named = json.dumps(service, ensure_ascii=False)
    return [
        "import turnspan",
        "",
        f"turnspan.configure(service_name={named})",
        "turnspan.instrument()",
    ]


def _has_them(tree: ast.AST) -> bool:
    """Whether ``turnspan`` is imported and told to instrument."""
    used = {ast.unparse(one.func) for one in ast.walk(tree) if isinstance(one, ast.Call)}
    return {"turnspan.configure", "turnspan.instrument"} <= used


def _in_module(text: str, calls: list[str]) -> str:
    tree = ast.parse(text)
    if _has_them(tree):
        return text
    if "turnspan" in {
        n.name for one in ast.walk(tree) if isinstance(one, ast.Import) for n in one.names
    }:
        raise UnusualFileError("it imports turnspan already, but does not call what turns it on")
    place = _place(tree.body)
    lines = _lines(text)
    at = (tree.body[place - 1].end_lineno or 0) if place else _first_line(tree.body, lines)
    end = "\r\n" if "\r\n" in text else "\n"
    if at and not lines[at - 1].endswith("\n"):
        lines[at - 1] += end
    more = [""] if at < len(lines) and lines[at].strip() else []
    first = [""] if place == 1 and not isinstance(tree.body[0], ast.Import | ast.ImportFrom) else []
    lines[at:at] = [f"{one}{end}" for one in (*first, *calls, *more)]
    after = "".join(lines)
    wanted = [*tree.body[:place], *ast.parse("\n".join(calls)).body, *tree.body[place:]]
    if ast.dump(ast.parse(after)) != ast.dump(ast.Module(wanted, type_ignores=[])):
        raise UnusualFileError("statements share a line with the imports at its top")
    return after


def _place(body: list[ast.stmt]) -> int:
    """How many statements stand before the lines: docstring and imports."""
    place = 0
    for at, node in enumerate(body, 1):
        docstring = at == 1 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or isinstance(node, ast.Import | ast.ImportFrom):
            place = at
        elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            break
    return place


def _first_line(body: list[ast.stmt], lines: list[str]) -> int:
    """Of a module without docstring and imports: behind the comments at its top."""
    first = min((one.lineno for one in body[:1]), default=len(lines) + 1)
    at = 0
    while at < first - 1 and lines[at].startswith("#"):
        at += 1
    return at


def _in_notebook(text: str, calls: list[str]) -> str:
    """With a cell of its own before the first one that has code."""
    if _has_them(ast.parse(source_of(text))):
        return text
    book: dict[str, Any] = json.loads(text)
    ending = "\n" if text.endswith("\n") else ""
    if json.dumps(book, indent=1, ensure_ascii=False) + ending != text:
        raise UnusualFileError("it is not written as Jupyter writes notebooks")
    cells: list[dict[str, Any]] = book["cells"]
    kinds = [one.get("cell_type") for one in cells]
    cell: dict[str, Any] = {"cell_type": "code", "execution_count": None}
    if any("id" in one for one in cells):
        cell["id"] = "turnspan-setup"
    cell |= {"metadata": {}, "outputs": [], "source": _lines("\n".join(calls))}
    cells.insert(kinds.index("code") if "code" in kinds else len(kinds), cell)
    return json.dumps(book, indent=1, ensure_ascii=False) + ending


def _lines(text: str) -> list[str]:
    """Lines with their ends. ``splitlines`` also ends them where Python's parser does not."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)
