"""``turnspan import llm`` on the command line."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from support.kept_stores import copy_schema
from support.llm_samples import sample, source_counts
from support.story import Invoke

pytestmark = pytest.mark.usefixtures("kept_engine")


def test_a_log_comes_in_and_every_row_is_accounted_for(invoke: Invoke, tmp_path: Path) -> None:
    """As a table and as JSON; what was not taken as it is makes the exit code 1."""
    copy_schema(tmp_path / "store")
    path = sample("0.26", tmp_path)
    dsn = f"chdb://{tmp_path / 'store'}"
    done = invoke("import", "llm", str(path), "--store", dsn)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "11 llm_call" in done.stdout
    assert "replies of calls" in done.stdout

    db = sqlite3.connect(path)
    db.execute("UPDATE responses SET duration_ms = -1, prompt = 'odd' WHERE prompt = 'later'")
    db.commit()
    db.close()
    again = invoke("import", "llm", str(path), "--store", dsn, "--again", "--format", "json")
    told = json.loads(again.stdout)
    assert again.exit_code == 1
    assert told["problem_count"] == 1
    assert told["problems"][0]["reason"].startswith("no duration")
    assert told["source_rows"] == sum(source_counts(path).values())
    seen = invoke("sql", "SELECT count() FROM llm_call", "--store", dsn, "--format", "csv")
    assert seen.stdout.split() == ["count()", "11"]


def test_what_is_no_log_is_said_with_a_remedy(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database")
    copy_schema(tmp_path / "store")
    done = invoke("import", "llm", str(path), "--store", f"chdb://{tmp_path / 'store'}")
    assert done.exit_code == 3
    assert "is not an SQLite database" in done.stderr
