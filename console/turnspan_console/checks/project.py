"""What the files of a project say: which GenAI libraries it uses, and where its program begins."""

from __future__ import annotations

import ast
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from turnspan.content.model import as_dict, as_list
from turnspan.instrumentation import plan
from turnspan.patching.third_party import OURS, disabled, library_of
from turnspan_clickhouse.files.toml_file import toml_tables
from turnspan_console.checks.check import OK, WARN, Check

MAX_FILES: Final = 2_000
MAX_BYTES: Final = 1_000_000
_SKIPPED: Final = frozenset(("node_modules", "site-packages", "build", "dist", "__pycache__"))
_HTTP: Final = frozenset(("aiohttp", "httpx", "requests", "urllib3"))
_APPS: Final = {
    "FastAPI": "uvicorn {module}:{name}",
    "Starlette": "uvicorn {module}:{name}",
    "Quart": "quart --app {module} run",
    "Flask": "flask --app {module} run",
}
"""Classes of web applications, and how one is started."""
_DECLARING: Final = re.compile(
    r"pyproject\.toml|Pipfile|(uv|poetry|pdm)\.lock|requirements[\w.-]*\.txt"
)
_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][\w.-]*)")
_PLACES: Final = 3


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """A file with which a program begins. A lower ``rank`` is likelier to be the one."""

    path: str
    """Relative to the project's folder."""
    rank: int
    command: str
    """How the program is started; empty for a notebook."""
    asks: bool
    """Whether the file itself imports a GenAI library."""


@dataclass
class Project:
    """What was found in a folder: libraries with the places that name them (at most three each)."""

    folder: Path
    name: str
    libraries: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    entry_points: list[EntryPoint] = field(default_factory=list[EntryPoint])
    files: int = 0
    """Python files and notebooks that were read."""
    unread: list[str] = field(default_factory=list[str])
    """Files that could not be read, with the reason."""

    def chosen(self) -> list[EntryPoint]:
        """The likeliest beginnings: one, unless nothing tells several apart."""
        best = min((one.rank for one in self.entry_points), default=0)
        found = [one for one in self.entry_points if one.rank == best]
        return [one for one in found if one.asks] or found

    def note(self, library: str, place: str) -> None:
        """Remember that a file names a library."""
        places = self.libraries.setdefault(library, [])
        if len(places) < _PLACES and place not in places:
            places.append(place)


def survey(folder: Path) -> Project:
    """Read the project in a folder: the first 2,000 Python files and notebooks of at most 1 MB
    each, and the files that declare its dependencies. Nothing is imported or run."""
    project = Project(folder, re.sub(r"[^\w.-]+", "-", folder.resolve().name) or "agent")
    roots = [folder, folder / "src"]
    local = {one.name.removesuffix(".py") for root in roots if root.is_dir() for one in _in(root)}
    scripts: dict[str, str] = {}
    for path in _files(folder):
        place = path.relative_to(folder).as_posix()
        try:
            if path.stat().st_size > MAX_BYTES:
                raise ValueError("it is larger than 1 MB")
            text = path.read_text(encoding="utf-8-sig")
            if _DECLARING.fullmatch(path.name):
                _read_declared(project, place, text, scripts)
            elif project.files < MAX_FILES:
                project.files += 1
                _read_source(project, path, place, text, local)
        except (OSError, ValueError, SyntaxError, RecursionError) as error:
            project.unread.append(f"{place}: {str(error) or type(error).__name__}")
    for command, target in scripts.items():
        module = target.partition(":")[0].replace(".", "/")
        for one in (f"{r}{module}{end}" for r in ("", "src/") for end in (".py", "/__init__.py")):
            if (folder / one).is_file():
                asks = any(e.path == one and e.asks for e in project.entry_points)
                project.entry_points.append(EntryPoint(one, 0, command, asks))
    return project


def library_checks(project: Project) -> Iterator[Check]:
    """How the calls of each library that a project uses are recorded here."""
    planned = plan(disabled())
    for library, places in sorted(project.libraries.items()):
        where = f" ({', '.join(places)})"
        of_it = [one for one in planned if one.name == library]
        by = next((one for one in of_it if one.enabled), None)
        ours = next((one for one in of_it if one.by == OURS), None)
        finding, remedy = "its requests to models are recorded as HTTP requests are", ""
        if by is not None:
            whose = "Turnspan" if by.by == OURS else f"{by.by} {by.version}"
            finding = f"{by.version if by.by == OURS else ''} recorded by {whose}".strip()
        elif ours is not None and not ours.version:
            finding = "not installed in the environment of this command"
            remedy = f"Install Turnspan and {library} into the project's environment, run it there."
        elif ours is not None:
            finding, remedy = f"{ours.version} {ours.detail}", "See `turnspan doctor`."
        elif library != "http":
            finding = "recorded through the SDK or HTTP client that it asks models with"
        yield Check("libraries", library, WARN if remedy else OK, finding + where, remedy)


def _map(value: Any) -> dict[str, Any]:
    return as_dict(value) or {}


def _list(value: Any) -> list[Any]:
    return as_list(value) or []


def _in(folder: Path) -> list[Path]:
    return [
        one for one in folder.iterdir() if one.suffix == ".py" or (one / "__init__.py").exists()
    ]


def _files(folder: Path) -> Iterator[Path]:
    for at, folders, names in os.walk(folder):
        kept = (one for one in folders if one not in _SKIPPED and not one.startswith("."))
        folders[:] = sorted(f for f in kept if not Path(at, f, "pyvenv.cfg").exists())
        for name in sorted(names):
            declares = _DECLARING.fullmatch(name) and len(Path(at).relative_to(folder).parts) < 2
            if declares or name.endswith((".py", ".ipynb")):
                yield Path(at, name)


def _read_declared(project: Project, place: str, text: str, scripts: dict[str, str]) -> None:
    if place.endswith(".txt"):
        names = [m[1] for line in text.splitlines() if (m := _REQUIREMENT.match(line))]
    else:
        read = toml_tables(text)
        about, tool = _map(read.get("project")), _map(read.get("tool"))
        poetry = _map(tool.get("poetry"))
        name = about.get("name") or poetry.get("name")
        if place == "pyproject.toml" and isinstance(name, str):
            project.name = re.sub(r"[^\w.-]+", "-", name)
            found = {**_map(poetry.get("scripts")), **_map(about.get("scripts"))}
            scripts.update({k: v for k, v in found.items() if isinstance(v, str)})
        groups = {
            **_map(about.get("optional-dependencies")),
            **_map(read.get("dependency-groups")),
        }
        asked = [
            *_list(about.get("dependencies")),
            *(s for g in groups.values() for s in _list(g)),
        ]
        names = [m[1] for one in asked if isinstance(one, str) and (m := _REQUIREMENT.match(one))]
        names += [*_map(poetry.get("dependencies")), *_map(read.get("packages"))]
        names += [str(_map(one).get("name")) for one in _list(read.get("package"))]
    for name in names:
        library = "llm" if name == "llm" else library_of(name)
        if library:
            project.note(library, place)


def source_of(notebook: str) -> str:
    """The Python of a notebook's code cells, magics and shell lines left out.

    Raises:
        ValueError: it is no notebook.
    """
    cells = map(_map, _list(_map(json.loads(notebook)).get("cells")))
    sources = [one.get("source") for one in cells if one.get("cell_type") == "code"]
    texts = ["".join(map(str, _list(one))) or str(one or "") for one in sources]
    lines = "\n".join(one for one in texts if not one.startswith("%%")).split("\n")
    return "\n".join("pass" if re.match(r"\s*[%!?]", one) else one for one in lines)


def _read_source(project: Project, path: Path, place: str, text: str, local: set[str]) -> None:
    notebook = path.suffix == ".ipynb"
    tree = ast.parse(source_of(text) if notebook else text)
    asks = False
    for node in ast.walk(tree):
        for name in _imported(node):
            top = name.partition(".")[0]
            if top in local:
                continue
            library = library_of(name) or library_of(top) or ("http" if top in _HTTP else "")
            library = "llm" if top == "llm" else library
            if library:
                project.note(
                    library, place if notebook else f"{place}:{getattr(node, 'lineno', 1)}"
                )
                asks = asks or library != "http"
    parts = Path(place).with_suffix("").parts
    if parts[0] in ("tests", "test") or re.match(r"test_|conftest", path.name):
        return
    if notebook:
        project.entry_points.append(EntryPoint(place, 4, "", asks))
        return
    module = ".".join(parts[1:] if parts[0] == "src" else parts)
    for node in tree.body:
        if made := _app(node):
            command = _APPS[made[0]].format(module=module, name=made[1])
            project.entry_points.append(EntryPoint(place, 1, command, asks))
        elif isinstance(node, ast.If) and "__main__" in ast.dump(node.test):
            command = f"python {place}"
            project.entry_points.append(EntryPoint(place, 2, command, asks))
    if path.name == "__main__.py":
        command = f"python -m {module.removesuffix('.__main__')}"
        project.entry_points.append(EntryPoint(place, 2, command, asks))
    elif asks and len(parts) == 1 and any(isinstance(n, ast.Expr | ast.For) for n in tree.body[1:]):
        project.entry_points.append(EntryPoint(place, 3, f"python {place}", asks))


def _imported(node: ast.AST) -> list[str]:
    """Names of the modules that a statement imports, and of what it takes from them."""
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level and node.module:
        return [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
    return []


def _app(node: ast.stmt) -> tuple[str, str] | None:
    """The class and the name of a web application that a statement makes."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return None
    kind = ast.unparse(node.value.func).rpartition(".")[2]
    target = node.targets[0]
    return (kind, target.id) if kind in _APPS and isinstance(target, ast.Name) else None
