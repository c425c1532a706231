"""docs/reference is what the code says, and the guide beside it stays short."""

from __future__ import annotations

import ast
import re
import runpy
from typing import Any

import pytest

from support.shared import REPOSITORY

GUIDE_WORDS = 25_000


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    """The names of the script that writes the reference."""
    return runpy.run_path(str(REPOSITORY / ".ci" / "reference.py"))


def test_the_reference_is_what_the_code_says(reference: dict[str, Any]) -> None:
    """`make reference` writes it; what SDKs send is asked in tests/wire."""
    written = {path.name: path.read_text("utf-8") for path in reference["FOLDER"].iterdir()}
    del written["sdk-requests.md"]
    assert written == reference["pages"]()
    assert reference["SUMMARY"].read_text("utf-8") == reference["summary"]()


def test_every_environment_variable_is_in_the_reference(reference: dict[str, Any]) -> None:
    """Each variable of Turnspan's own that a string of the code names."""
    page = (reference["FOLDER"] / "settings.md").read_text("utf-8")
    named: set[str] = set()
    for wing in ("instrument", "exporter", "records", "console", "llm"):
        for path in (REPOSITORY / wing).rglob("*.py"):
            text = path.read_text("utf-8")
            for node in ast.walk(ast.parse(text)) if "TURNSPAN_" in text else ():
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    named.update(re.findall(r"^TURNSPAN_[A-Z_]+$", node.value))
    assert "TURNSPAN_STORE" in named
    assert sorted(name for name in named if f"`{name}`" not in page) == []


def test_the_guide_is_short() -> None:
    """By the plain count, `wc -w docs/*.md`: table bars and the generated page of stacks count, the
    folders of the reference, the public names and the decisions do not."""
    pages = (REPOSITORY / "docs").glob("*.md")
    assert sum(len(page.read_text("utf-8").split()) for page in pages) <= GUIDE_WORDS
