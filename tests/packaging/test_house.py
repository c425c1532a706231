"""The house's own rules, where no tool holds them."""

from __future__ import annotations

import ast
import re
import runpy
import subprocess
from collections.abc import Iterator
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from support.shared import REPOSITORY
from turnspan import instrumentation, semconv
from turnspan_clickhouse.rows.columns import columns_of
from turnspan_clickhouse.rows.tables import RECORDS

WINGS = {
    "instrument": "turnspan",
    "exporter": "turnspan_clickhouse",
    "records": "turnspan_records",
    "llm": "turnspan_llm",
    "console": "turnspan_console",
}
ROOMS = 25


def modules(wing: str) -> list[Path]:
    """The modules of a wing; a command imports what it needs when it runs, so that `turnspan`
    starts at once."""
    found = sorted((REPOSITORY / wing).rglob("*.py"))
    return [path for path in found if "commands" not in path.parts and path.parent.name != wing]


def imports_in_functions(path: Path) -> Iterator[int]:
    """The lines of imports of ours inside functions; of several in a row, the first."""
    text = path.read_text("utf-8")
    if not re.search(r"^ +from turnspan", text, re.MULTILINE):
        return  # to parse the whole product takes seconds
    lines = text.splitlines()
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            named = isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0]
            if named in WINGS.values():
                assert isinstance(node, ast.ImportFrom)
                before = lines[node.lineno - 2].strip()
                if not before.startswith(("from ", "import ")):
                    yield node.lineno


@pytest.mark.parametrize("wing", ["instrument", "exporter"])
def test_an_import_inside_a_function_says_what_it_saves(wing: str) -> None:
    """Else it may hide a circle."""
    silent: list[str] = []
    for path in modules(wing):
        lines = path.read_text("utf-8").splitlines()
        silent += [
            f"{path.relative_to(REPOSITORY)}:{number}"
            for number in imports_in_functions(path)
            if "#" not in lines[number - 1] and "#" not in lines[number - 2]
        ]
    assert silent == []


@pytest.mark.parametrize(("wing", "package"), WINGS.items())
def test_the_first_level_can_be_overlooked(wing: str, package: str) -> None:
    """At most so many files and folders side by side."""
    folder = REPOSITORY / wing / package
    rooms = [
        path.name
        for path in folder.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    ]
    assert len(rooms) <= ROOMS, sorted(rooms)


def test_a_class_name_stands_once_in_the_product() -> None:
    """Who meets one knows which it is."""
    places: dict[str, list[str]] = {}
    for wing in WINGS:
        for path in sorted((REPOSITORY / wing).rglob("*.py")):
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                if named := re.match(r" *class (\w+)[(:]", line):
                    where = f"{path.relative_to(REPOSITORY)}:{number}"
                    places.setdefault(named[1], []).append(where)
    assert {name: each for name, each in places.items() if len(each) > 1} == {}


NOUNS = {
    "coding",
    "landing",
    "listing",
    "matching",
    "nesting",
    "opening",
    "recording",
    "testing",
    "wiring",
}
"""Words in -ing that name a thing."""


def test_a_file_is_named_by_the_noun_it_holds() -> None:
    """Not by what it does: who looks for a thing looks for its name."""
    names = {path.stem for wing in WINGS for path in (REPOSITORY / wing).rglob("*.py")}
    last = {name: name.rsplit("_", 1)[-1] for name in names}
    assert {name for name, word in last.items() if word.endswith("ing")} <= {
        name for name, word in last.items() if word in NOUNS
    }


def test_what_is_compiled_reads_the_columns_of_the_classes() -> None:
    """The `rows/columns.py` that is compiled answers as that in the sources does."""
    built = runpy.run_path(str(REPOSITORY / "hatch_build.py"))
    folder = REPOSITORY / "exporter" / "turnspan_clickhouse" / "rows"
    sources = [(folder / name).read_text("utf-8") for name in ("record.py", "tables.py")]
    written: dict[str, Any] = {}
    exec(built["written_out"](*sources), written)
    assert {f"_{kind}" for kind in built["WRITTEN_OUT"]} <= written.keys()
    for kind in RECORDS:
        rows = [kind(), kind()]
        columns = [list(values) for values in columns_of(kind, rows)]
        assert written["columns_of"](kind, rows) == columns, kind


def test_a_provider_is_a_folder_a_row_and_an_entry_point() -> None:
    """All three name the same ones, and each has a scope of its own whose spans carry content."""
    found = metadata.entry_points(group="opentelemetry_instrumentor")
    points = {one.name: one.value for one in found if one.name.startswith("turnspan_")}
    rows: tuple[tuple[str, str, str], ...] = vars(instrumentation)["_INSTRUMENTORS"]
    assert points == {f"turnspan_{name}": f"{module}:{kind}" for name, module, kind in rows}

    providers = [(name, module, kind) for name, module, kind in rows if ".providers." in module]
    folder = REPOSITORY / "instrument" / "turnspan" / "providers"
    folders = sorted(path.name for path in folder.iterdir() if (path / "__init__.py").exists())
    assert folders == sorted(name for name, _, _ in providers)
    for name, module, kind in providers:
        instrumentor: Any = getattr(import_module(module), kind)
        assert module == f"turnspan.providers.{name}.instrumentor"
        assert instrumentor.package.partition(".")[0] in (name, "google")
        assert instrumentor.scope == f"{semconv.SCOPE_PREFIX}.{name}"


def test_what_is_compiled_is_there() -> None:
    """Each module that a wheel compiles, once."""
    built = runpy.run_path(str(REPOSITORY / "hatch_build.py"))
    compiled: tuple[str, ...] = built["COMPILED"]
    roots: dict[str, str] = built["ROOTS"]
    assert len(set(compiled)) == len(compiled)
    for module in compiled:
        assert (REPOSITORY / roots[module.partition("/")[0]] / module).is_file(), module


def test_nothing_interpreted_inherits_from_what_is_compiled() -> None:
    """Such a class can be made, and the first object of it raises: in a compiled wheel only."""
    built = runpy.run_path(str(REPOSITORY / "hatch_build.py"))
    compiled = {name[:-3].replace("/", ".") for name in built["COMPILED"]}
    found: list[str] = []
    for wing in WINGS:
        for path in modules(wing):
            name = ".".join(path.relative_to(REPOSITORY / wing).with_suffix("").parts)
            if name not in compiled:
                found += [f"{name}.{one}" for one in _inheritors(path, compiled)]
    assert found == []


def _inheritors(path: Path, compiled: set[str]) -> Iterator[str]:
    """The classes of a module whose bases come from compiled ones."""
    text = path.read_text("utf-8")
    if not re.search(r"^ *class \w+\(", text, re.MULTILINE):
        return
    tree = ast.parse(text)
    origin = {
        alias.asname or alias.name: (node.module or "", alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        for base in node.bases:
            known = ast.unparse(base).partition("[")[0].split(".")
            module, name = origin.get(known[0], ("", ""))
            if module in compiled or (len(known) > 1 and f"{module}.{name}" in compiled):
                yield node.name


def tracked(*suffixes: str) -> list[str]:
    """The files of the repository that end so."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return [name for name in listed.stdout.splitlines() if name.endswith(suffixes)]


def new_files() -> list[str]:
    """The files that the recipes of CONTRIBUTING.md make."""
    return re.findall(r"^New file `(.+?)`", text_of("CONTRIBUTING.md"), re.MULTILINE)


def test_pages_name_files_that_exist() -> None:
    """A module that moves, moves in every page too; a path may begin at any folder."""
    files = ["/" + name for name in (*tracked(".py"), *new_files())]
    gone = [
        f"{page}: {path}"
        for page in tracked(".md")
        for path in re.findall(r"`((?:[a-z_.]+/)+[a-z_]+\.py)`", text_of(page))
        if not any(name.endswith("/" + path) for name in files)
    ]
    assert gone == []


def test_pages_name_tests_that_exist() -> None:
    """What is said to be proved has a test of that name; a path may begin at ``tests/``."""
    named = re.compile(r"`(?:tests/)?((?:[a-z_]+/)+test_[a-z_]+\.py)(?:::(\w+))?`")
    gone = [
        f"{page}: {path}::{function}"
        for page in tracked(".md")
        for path, function in named.findall(text_of(page))
        if function and f"def {function}(" not in text_of(f"tests/{path}")
    ]
    assert gone == []


def text_of(name: str) -> str:
    """A file of the repository."""
    return (REPOSITORY / name).read_text("utf-8")


ATTRIBUTES = "turnspan.turn.", "turnspan.pipeline."
"""Names of attributes and metrics that begin like a room."""


def test_dotted_names_lead_to_a_module_or_into_one() -> None:
    """In strings and docstrings as well as in pages, which no tool renames with a module."""
    dotted = re.compile(r"\bturnspan(?:_[a-z]+)?(?:\.[A-Za-z_]+)+")
    new = tuple(path.removesuffix(".py").replace("/", ".") for path in new_files())
    gone = [
        f"{page}: {name}"
        for page in tracked(".py", ".md")
        for name in sorted(set(dotted.findall(text_of(page))))
        if of_a_room(name) and not leads_somewhere(name) and not any(n.endswith(name) for n in new)
    ]
    assert gone == []


def of_a_room(name: str) -> bool:
    """Whether it names a module, not an attribute, a table or a file."""
    package, room, *_ = name.split(".")
    if package == "turnspan":
        return not name.startswith(ATTRIBUTES) and find_spec(f"{package}.{room}") is not None
    return package in WINGS.values() and room != "md"


def leads_somewhere(name: str) -> bool:
    """Whether it can be imported, or is an attribute of what can."""
    package, *parts = name.split(".")
    found: Any = import_module(package)
    for part in parts:
        if not hasattr(found, part):
            try:
                import_module(f"{getattr(found, '__name__', '')}.{part}")
            except ImportError:
                return False
        found = getattr(found, part)
    return True


VAGUE = {"each", "found", "given", "one", "said", "told"}
"""Words that name nothing: who meets one has to read where it comes from."""
KEYS = {"comparison", "errors", "overview", "queues", "reading_view", "turn_end"}
"""Modules of the records whose fields are keys of the page's JSON, as those in ``web/api``."""


def test_what_others_use_is_named_by_what_it_holds() -> None:
    """Fields, attributes, functions and properties without an underscore."""
    vague: list[str] = []
    for wing in WINGS:
        for path in sorted((REPOSITORY / wing).rglob("*.py")):
            if path.parent.name == "api" or path.stem in KEYS or "node_modules" in path.parts:
                continue
            tree = ast.parse(path.read_text("utf-8"))
            vague += [f"{path.name}:{line} {name}" for line, name in _public(tree) if name in VAGUE]
    assert vague == []


def _public(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.lineno, node.name
        elif isinstance(node, ast.ClassDef):
            fields = (one for one in node.body if isinstance(one, ast.AnnAssign))
            yield from ((one.lineno, ast.unparse(one.target)) for one in fields)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
