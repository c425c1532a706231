"""Statements under a name: kept in a file of this user's, run by their names."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from support.story import Invoke
from turnspan_console import saved_texts
from turnspan_console.saved_texts import QUERIES, SavedTextError

SQL = "SELECT count() AS turns FROM turn_summary WHERE project = {p:String}"


def test_a_statement_is_saved_run_and_deleted(invoke: Invoke, filled: str, tmp_path: Path) -> None:
    """By name; the file is nobody else's."""
    assert invoke("sql", "--save", "how many", f"{SQL};").exit_code == 0
    assert QUERIES.all() == {"how many": SQL}
    [file] = (tmp_path / "data").rglob("saved-queries.json")
    if os.name != "nt":
        assert file.stat().st_mode & 0o777 == 0o600
    ran = invoke(
        *("--store", filled, "sql", "--saved", "how many", "--param", "p=", "--format", "json")
    )
    assert json.loads(ran.stdout) == [{"turns": 0}]
    listed = invoke("sql", "--saved", "--format", "json")
    assert json.loads(listed.stdout) == [{"name": "how many", "sql": SQL}]
    assert invoke("sql", "--delete-saved", "how many").exit_code == 0
    assert QUERIES.all() == {}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--saved", "none"), "No statement is saved as 'none'"),
        (("--delete-saved", "none"), "No statement is saved as 'none'"),
        (("--save", "a"), "There is no SQL"),
        (("--save", " a", "SELECT 1"), "choose another"),
        (("--save", "a\u202eb", "SELECT 1"), "choose another"),
        (("--save", "a", "SELECT 1" + " " * 20_000 + "+ 1"), "20,000 characters"),
        (("--saved", "a", "SELECT 1"), "either SQL"),
        (("--save", "a", "--saved", "b"), "either SQL"),
    ],
)
def test_what_cannot_be_saved_says_why(invoke: Invoke, words: tuple[str, ...], told: str) -> None:
    result = invoke("sql", *words)
    assert result.exit_code == 2 and told in result.stderr, result.stderr


def test_a_file_that_is_none_of_ours_stays_as_it_is(invoke: Invoke, tmp_path: Path) -> None:
    QUERIES.save("a", "SELECT 1")
    [file] = (tmp_path / "data").rglob("saved-queries.json")
    for content in ("{", '["a"]', '{"a": 1}'):
        file.write_text(content)
        result = invoke("sql", "--save", "b", "SELECT 2")
        assert result.exit_code == 2 and "mend it, or remove it" in result.stderr
        assert file.read_text() == content


def test_writers_at_once_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """And there is an end."""
    monkeypatch.setattr(saved_texts, "MOST", 8)
    names = [f"name {number}" for number in range(8)]
    threads = [threading.Thread(target=QUERIES.save, args=(one, "SELECT 1")) for one in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(QUERIES.all()) == names
    QUERIES.save(names[0], "SELECT 2")
    with pytest.raises(SavedTextError, match="delete one"):
        QUERIES.save("one more", "SELECT 1")
