"""What stands in a session and in its forks is recorded once, whatever was imported when."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from support.coding_forks import (
    FORKS,
    A,
    B,
    Forked,
    claude,
    claude_subagent,
    claude_within,
    codex_subagent,
    opencode_database,
)
from support.coding_transcripts import imported
from support.imported import take_parts
from support.kept_stores import KeptStores
from support.representatives import few
from turnspan_clickhouse.rows.tables import MessageRow
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.coding.transcripts.tools import coding_log
from turnspan_records.importing.import_run import import_log

pytestmark = pytest.mark.with_schema

TABLES = ("llm_call", "turn_summary", "tool_call", "span")


def rows(store: Store) -> dict[str, Any]:
    """The rows of the store, but when and by whom they were written."""
    columns = "* EXCEPT (writer, written_at)"
    return {
        table: store.query(f"SELECT {columns} FROM {table} ORDER BY ALL").rows for table in TABLES
    }


class Desk:
    """An empty store, and a folder with a fork and its parent, each of which may be missing."""

    def __init__(self, store: Store, folder: Path, made: Forked) -> None:
        self.store, self.made = store, made
        self._folder, self._spool = folder, Spool(folder.with_name("spool"))
        self._texts: dict[Path, str] = {}
        shutil.rmtree(folder, ignore_errors=True)
        for path, text in made.beside.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for table in (*TABLES, "message", "import_position"):
            store.command(f"TRUNCATE TABLE {table}")

    def put(self, *, parent: str = "", fork: str = "") -> Desk:
        """The files that are there now, each with this text, or not at all."""
        texts = {self.made.parent: parent, self.made.fork: fork}
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if not text:
                path.unlink(missing_ok=True)
            elif self._texts.get(path) != text:
                path.write_text(text)
        self._texts = texts
        return self

    def land(self, *paths: Path, again: bool = False) -> Desk:
        """Import the folder, or these files alone."""
        log = coding_log(self.made.kind, paths or [self._folder])
        report = import_log(lambda: nullcontext(self.store), self._spool, log, again=again)
        assert (report.waiting, report.problem_count) == ("", 0)
        return self


@pytest.mark.release
@pytest.mark.parametrize("tool", FORKS)
def test_rows_are_the_same_in_every_order(tool: str, tmp_path: Path, embedded: Store) -> None:
    """The parent comes first, or the fork; one of them is not there yet, or not any more; the
    parent was cut, or goes on later. What was recorded of the fork meanwhile is the parent's."""
    made = FORKS[tool](tmp_path / "sessions")
    before, grown, forked = made.before, made.grown, made.forked

    def desk() -> Desk:
        return Desk(embedded, tmp_path / "sessions", made)

    desk().put(parent=grown, fork=forked).land()
    whole = rows(embedded)
    turns = embedded.query("SELECT user_message, session_id FROM turn_summary").rows
    owner = {str(text): str(session) for text, session in turns}
    assert len(turns) == len(owner) == 5
    assert owner["One"] == owner["Two"] == owner["On"] != owner["Other"] == owner["More"]

    both = {"parent": grown, "fork": forked}
    late = desk().put(fork=forked).land().put(**both).land()
    assert rows(embedded) == whole, "the fork first"
    late.land(again=True)
    assert rows(embedded) == whole, "again"
    desk().put(fork=forked).land().put(parent=before, fork=forked).land().put(**both).land()
    assert rows(embedded) == whole, "the fork first, and the parent goes on"
    desk().put(parent=grown).land().put(**both).land()
    assert rows(embedded) == whole, "the parent first"
    desk().put(parent=before).land().put(fork=forked).land().put(**both).land()
    assert rows(embedded) == whole, "the parent was away when the fork came"
    if tool != "opencode":  # its copies have ids of their own, which only the fork's file tells
        desk().put(fork=forked).land().put(parent=grown).land()
        assert rows(embedded) == whole, "the fork was away when the parent came"
    desk().put(fork=forked).land(made.fork).put(**both).land(made.parent)
    assert rows(embedded) == whole, "each by its name"


@pytest.mark.parametrize("session", few([claude_subagent, codex_subagent], [claude_subagent]))
def test_a_subagents_file_may_come_at_any_time(
    session: Any, tmp_path: Path, embedded: Store
) -> None:
    """Also before its session's, or when the turn that began it was over long ago."""
    made = session(tmp_path / "sessions")
    both = {"parent": made.grown, "fork": made.forked}

    def desk() -> Desk:
        return Desk(embedded, tmp_path / "sessions", made)

    desk().put(**both).land()
    whole = rows(embedded)
    nested = "SELECT user_message, parent_turn_id != '' FROM turn_summary ORDER BY 1"
    assert embedded.query(nested).rows == [("Look", 1), ("One", 0), ("Three", 0), ("Two", 0)]
    desk().put(parent=made.grown).land().put(**both).land()
    assert rows(embedded) == whole, "late"
    desk().put(fork=made.forked).land().put(**both).land()
    assert rows(embedded) == whole, "first"


@pytest.mark.parametrize("kind", ["embedded", "server"])
def test_a_fork_may_go_on_within_its_parents_turn(
    kind: str, tmp_path: Path, kept_stores: KeptStores
) -> None:
    """Its own part of that turn is a turn of its own, also if the parent came later."""
    made = claude_within(tmp_path / "sessions")
    with kept_stores.lend(kind) as store:
        both = {"parent": made.before, "fork": made.forked}
        Desk(store, tmp_path / "sessions", made).put(**both).land()
        whole = rows(store)
        counts = "SELECT user_message, session_id, llm_call_count FROM turn_summary ORDER BY 1, 2"
        assert store.query(counts).rows == [
            ("More", B, 1),
            ("One", A, 1),
            ("Two", A, 1),
            ("Two", B, 1),
        ]
        late = Desk(store, tmp_path / "sessions", made).put(fork=made.forked).land()
        late.put(**both).land()
        assert rows(store) == whole


def test_a_parent_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    """It was there when the folder was looked at: the fork is imported as if it was alone."""
    made = claude(tmp_path)
    made.parent.write_text(made.grown)
    before = imported("coding", [tmp_path])
    made.fork.write_text(made.forked)
    log = coding_log("coding", [tmp_path])
    made.parent.unlink()
    made.parent.mkdir()
    take_parts(log, after=before.positions[-1], into=before)
    assert [problem.row for problem in before.problems] == [str(made.parent)]
    assert {turn.user_message for turn in before.turns} == {"One", "Two", "On", "Other", "More"}


def test_opencodes_database_has_both(tmp_path: Path) -> None:
    """What a fork has copied is its parent's; the fork's calls have it as their input."""
    opencode_database(tmp_path / "opencode.db")
    made = imported("opencode", [tmp_path / "opencode.db"])
    assert {turn.user_message: turn.session_id for turn in made.turns} == {
        **dict.fromkeys(("One", "Two", "On"), "ses_a"),
        **dict.fromkeys(("Other", "More"), "ses_b"),
    }
    assert len(made.turns) == len(made.calls) == 5
    (last,) = [call for call in made.calls if call.response_id.endswith("_2100a")]
    texts = [texts for _, texts in made.said(last.input_messages)]
    assert texts == [
        [t] for t in ("One", "Done: One", "Two", "Done: Two", "Other", "Done: Other", "More")
    ]
    landed = {row.hash for row in made.of(MessageRow) if row.scope == "ses_b"}
    assert {*last.input_messages, *last.output_messages} <= landed
