"""``turnspan forget``: it shows, asks, and says what is left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.forgetting import canary, everything, holding, session_of, set_of
from support.kept_stores import migrated
from support.landing import insert
from support.rows import call
from support.story import Invoke
from turnspan_clickhouse.store.dsn import Dsn, data_folder
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access import copies_registry as registry

pytestmark = pytest.mark.usefixtures("kept_engine")


def calls(dsn: Dsn) -> int:
    """How many model calls there are."""
    with open_store(dsn) as store:
        return int(store.query("SELECT count() FROM llm_call").rows[0][0])


def test_forget_shows_asks_and_proves(invoke: Invoke, embedded_dsn: Dsn) -> None:
    """A dry run and a refusal delete nothing; on a pipe nobody is asked."""
    with migrated(embedded_dsn) as store:
        insert(store, *everything("ada", user="ada@example.org"), *everything("bob"))
        insert(store, call("x", project="another", session_id=session_of("ada")))
    run = ("--store", str(embedded_dsn), "forget")

    assert invoke(*run).exit_code == 2
    assert invoke(*run, "--user", "").exit_code == 2
    assert invoke(*run, "--user", "a", "--session", "b").exit_code == 2
    nobody = invoke(*run, "--session", "nobody", "--yes")
    assert nobody.exit_code == 1
    assert "There are no records of session 'nobody'." in nobody.output
    both = invoke(*run, "--session", session_of("ada"), "--yes")
    assert both.exit_code == 2
    assert "in another, shop: choose one with --project" in both.output
    dry = invoke(*run, "--user", "ada@example.org", "--dry-run")
    assert dry.exit_code == 0
    assert "turn_summary" in dry.output
    piped = invoke(*run, "--user", "ada@example.org")
    assert piped.exit_code == 2
    assert "--yes is required" in piped.output
    assert calls(embedded_dsn) == 3

    done = invoke(*run, "--user", "ada@example.org", "--yes", "--text", canary("ada"))
    assert done.exit_code == 1  # the other project's session has the same id
    assert "column session_id of table llm_call" in done.output
    other = invoke(*run, "--session", session_of("ada"), "--project", "another", "--yes")
    assert other.exit_code == 0, other.output
    assert "1 rows forgotten" in other.output
    again = invoke(*run, "--again", "--text", canary("ada"))
    assert again.exit_code == 0, again.output
    assert "nothing is left" in again.output
    assert calls(embedded_dsn) == 1


@pytest.mark.release
def test_a_copy_is_adopted_when_nothing_is_left_to_refuse(
    invoke: Invoke, embedded_dsn: Dsn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where nothing is recorded of whom to forget, nobody confirms, or another copy is none."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with migrated(embedded_dsn) as store:
        insert(store, *everything("ada"))
        set_of(store, tmp_path / "set", "ada", "bob")
    known = data_folder() / registry.NAME
    known.write_text(json.dumps({"kind": "export", "path": str(tmp_path / "set")}) + "\n")
    before = known.read_text()
    run = ("--store", str(embedded_dsn), "forget", "--copy", str(tmp_path / "set"))
    session = ("--session", session_of("ada"))

    for arguments, code in (
        (("--session", "nobody", "--yes"), 1),
        (session, 2),  # nobody is there to confirm
        ((*session, "--copy", str(tmp_path), "--yes"), 2),
        ((*session, "--user", "ada", "--yes"), 2),
        (("--again", "--copy", str(tmp_path)), 2),
    ):
        assert invoke(*run, *arguments).exit_code == code, arguments
        assert known.read_text() == before, arguments
    asked = invoke(*run, *session)
    assert f"{tmp_path / 'set'} contains it, and loses it" in asked.stdout
    assert "unless you pass it" not in asked.stdout

    done = invoke(*run, *session, "--yes")
    assert "1 lines in exported sets" in done.output
    assert known.read_text() != before
    assert holding(tmp_path / "set", "ada-") == []
