"""The statements in ``turnspan_records/sql``: each is used, each fragment is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import turnspan_records.sql
from turnspan_records.diagnostics import diagnostics
from turnspan_records.sql import statement, with_fragments

FOLDER = Path(turnspan_records.sql.__file__).parent
ROOT = FOLDER.parents[2]
FILES = {
    path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in FOLDER.rglob("*.sql")
}
CODE = "\n".join(
    path.read_text("utf-8")
    for wing in ("records", "llm", "console")
    for path in (ROOT / wing).rglob("*.py")
)
FRAGMENT = re.compile(r"\{([a-z_]+)\}")


def fragments(name: str) -> set[str]:
    """The files of the fragments that a file names."""
    found = FRAGMENT.findall(FILES[name].read_text("utf-8"))
    topic = name.rpartition("/")[0]
    return {f"{topic if part.startswith('_') else 'fragments'}/{part}" for part in found}


def test_each_file_is_a_question_of_the_code_or_a_fragment_of_one() -> None:
    named = {part for name in FILES for part in fragments(name)}
    named |= {f"fragments/{part}" for part in FRAGMENT.findall(_diagnostics())}
    begun = tuple(re.findall(r'f"([a-z_]+/[a-z_]*)\{', CODE))
    asked = {name for name in FILES if f'"{name}"' in CODE or name.startswith(begun)}
    unused = set(FILES) - asked - named
    assert not unused


def _diagnostics() -> str:
    folder = FOLDER.parent / "diagnostics"
    return "\n".join(path.read_text("utf-8") for path in folder.glob("*.sql"))


def test_what_the_code_asks_for_is_a_file() -> None:
    asked = set(re.findall(r'\b(?:statement|ask|ask_row)\((?:\s*store,)?\s*"([^"]+)"', CODE))
    assert asked
    assert asked <= set(FILES)


def test_a_comment_is_not_sent_and_a_parameter_stays() -> None:
    sql = statement("errors/next_steps")
    assert "--" not in sql
    assert "{tool:String}" in sql
    assert FRAGMENT.search(sql) is None


def test_what_the_caller_gives_goes_before_the_file() -> None:
    assert with_fragments("a {model} {b}", model="m", b="c") == "a m c"
    with pytest.raises(FileNotFoundError):
        with_fragments("{no_such_fragment}")


def test_diagnostics_have_the_same_fragments() -> None:
    assert all(FRAGMENT.search(diagnostic.sql) is None for diagnostic in diagnostics().values())
