"""OpenTelemetry's private parts are named in one file, and in no other of ours."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from support.shared import REPOSITORY

SOURCE: Final = REPOSITORY / "instrument" / "turnspan" / "runtime" / "otel_private.py"
PUBLISHED: Final = ("opentelemetry._logs", "opentelemetry.sdk._logs")
"""Where the API and the SDK of logs are published."""


def is_private(name: str) -> bool:
    """By its name."""
    return name.startswith("_") and not name.startswith("__")


def is_private_path(path: str) -> bool:
    """Whether this leads to a private part of OpenTelemetry."""
    for published in PUBLISHED:
        if path == published or path.startswith(f"{published}."):
            path = path.removeprefix(published)
            return any(map(is_private, path.split(".")))
    return path.startswith("opentelemetry") and any(map(is_private, path.split(".")))


def known_names() -> frozenset[str]:
    """The private names in our one file, but its own."""
    tree = ast.parse(SOURCE.read_text("utf-8"))
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return frozenset(name for name in found if is_private(name) and name.isidentifier())


class Uses(ast.NodeVisitor):
    """Where a module uses private parts of OpenTelemetry."""

    def __init__(self, tree: ast.Module, known: frozenset[str]) -> None:
        self.found: list[tuple[int, str]] = []
        self._known = known
        self._imported: set[str] = set()
        self._own = set(own_names(tree))
        self._inherits = [False]
        self.visit(tree)

    def _note(self, node: ast.AST, name: str) -> None:
        self.found.append((getattr(node, "lineno", 0), name))

    def visit_Import(self, node: ast.Import) -> None:
        """By its path."""
        for one in node.names:
            if is_private_path(one.name):
                self._note(node, one.name)
            if one.name.startswith("opentelemetry"):
                self._imported.add((one.asname or one.name).partition(".")[0])

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        """By its path, and what is imported."""
        module = node.module or ""
        if module.partition(".")[0] != "opentelemetry":
            return
        for one in node.names:
            self._imported.add(one.asname or one.name)
            if is_private_path(f"{module}.{one.name}"):
                self._note(node, f"{module}.{one.name}")

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Of a class of OpenTelemetry's, ``self`` has its private parts as well."""
        bases = {ast.unparse(base).partition(".")[0] for base in node.bases}
        self._inherits.append(bool(bases & self._imported))
        self.generic_visit(node)
        self._inherits.pop()

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Of a known name; or any of what is OpenTelemetry's."""
        if is_private(node.attr) and node.attr not in self._own:
            of = ast.unparse(node.value)
            theirs = of.partition(".")[0] in self._imported
            inherited = self._inherits[-1] and of in ("self", "cls", "super()")
            if node.attr in self._known or theirs or inherited:
                self._note(node, node.attr)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """``getattr`` and its like, with any private name, of what is OpenTelemetry's."""
        if len(node.args) > 1 and isinstance(node.args[1], ast.Constant):
            of, name = ast.unparse(node.args[0]).partition(".")[0], node.args[1].value
            if isinstance(name, str) and is_private(name) and of in self._imported:
                self._note(node, name)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """A known name, or the path of a module."""
        text = node.value
        if isinstance(text, str) and (
            (text in self._known and text not in self._own)
            or (" " not in text and is_private_path(text))
        ):
            self._note(node, text)


def own_names(tree: ast.Module) -> Iterator[str]:
    """The private names that a module gives to attributes of its own classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for each in node.body:
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield each.name
                elif isinstance(each, ast.AnnAssign | ast.Assign):
                    targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                    names = [one.id for one in targets if isinstance(one, ast.Name)]
                    yield from names
                    if names == ["__slots__"] and each.value is not None:
                        yield from ast.literal_eval(each.value)
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and ast.unparse(node.value) == "self"
        ):
            yield node.attr


def uses(source: str) -> list[str]:
    """The private parts of OpenTelemetry that this source uses."""
    return [name for _, name in Uses(ast.parse(source), known_names()).found]


@pytest.mark.parametrize("wing", ["instrument", "exporter", "records", "llm", "console"])
def test_no_other_file_names_one(wing: str) -> None:
    """What a release may take away is looked for in one place."""
    known = known_names()
    assert {"_attributes", "_METER_PROVIDER", "_OTelSDKConfigurator"} <= known
    looked_at = re.compile(rf"opentelemetry|\b(?:{'|'.join(known)})\b")
    found = [
        f"{path.relative_to(REPOSITORY)}:{line}: {name}"
        for path in sorted(Path(REPOSITORY, wing).rglob("*.py"))
        if path != SOURCE and looked_at.search(text := path.read_text("utf-8"))
        for line, name in Uses(ast.parse(text), known).found
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import opentelemetry.metrics._internal", "opentelemetry.metrics._internal"),
        (
            "from opentelemetry.context import _RUNTIME_CONTEXT",
            "opentelemetry.context._RUNTIME_CONTEXT",
        ),
        ("from opentelemetry.sdk._logs._internal import x", "opentelemetry.sdk._logs._internal.x"),
        ("sys.modules['opentelemetry.metrics._internal']", "opentelemetry.metrics._internal"),
        ("bounded = span._attributes", "_attributes"),
        ("bounded = getattr(span, '_attributes', None)", "_attributes"),
        ("part = vars(provider)['_disabled']", "_disabled"),
        ("from opentelemetry import trace\ntrace._unheard_of", "_unheard_of"),
        ("from opentelemetry import trace\ngetattr(trace, '_unheard_of')", "_unheard_of"),
        (
            "from opentelemetry.trace import Span\nclass S(Span):\n  def f(self): self._unheard_of",
            "_unheard_of",
        ),
    ],
    ids=lambda each: each[:60],
)
def test_the_search_finds_what_it_is_for(source: str, name: str) -> None:
    """Each way of naming one."""
    assert name in uses(source)


@pytest.mark.parametrize(
    "source",
    [
        "from opentelemetry._logs import get_logger_provider",
        "from opentelemetry.sdk._logs.export import BatchLogRecordProcessor",
        "class Ours:\n  def __init__(self, one):\n    self._lock = one._lock",
        "class Ours:\n  __slots__ = ('_events',)",
        "from opentelemetry.trace import Span\nclass S(Span):\n  _a = 1\n  def f(self): self._a",
    ],
    ids=lambda each: each[:60],
)
def test_the_search_leaves_our_own_alone(source: str) -> None:
    """And what is published with an underscore."""
    assert uses(source) == []
