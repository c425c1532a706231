"""Reading the logs of simonw/llm: all generations, without disturbing who writes them."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from support.llm_logs import RECORDED, Call, LlmLog, recorded, truth
from support.small_disk import small_disk
from turnspan_llm.logs.connection import LogsError, opened
from turnspan_llm.logs.generations import layout_of
from turnspan_llm.logs.logged import LoggedResponse, interval, microseconds
from turnspan_llm.logs.messages import UnresolvedError, resolved
from turnspan_llm.logs.responses import responses_at


def read(path: Path) -> list[LoggedResponse]:
    found: list[LoggedResponse] = []
    with opened(path) as connection:
        layout = layout_of(connection, path)
        for table in layout.sources:
            rows = connection.execute(f'SELECT rowid FROM "{table}" ORDER BY rowid').fetchall()
            found += responses_at(connection, layout, table, [row for (row,) in rows], path)
    return found


def times(row: LoggedResponse) -> tuple[int, int]:
    return interval(row.datetime_utc, row.duration_ms)


@pytest.mark.parametrize("kind", ["responses", "tools", "turns"])
def test_a_call_is_the_same_in_every_generation(kind: str, tmp_path: Path) -> None:
    """What was asked, what was answered, when, in which conversation."""
    log = LlmLog(tmp_path / "logs.db", kind)
    log.log(
        Call("a", "m1", "What?", "That.", system="Be brief.", response_json={"text": "That."}),
        Call("b", "m2", "Why?", "", duration_ms=None, conversation="talk"),
    )
    first, second = read(log.path)
    assert (first.id, first.model, first.prompt, first.response) == ("a", "m1", "What?", "That.")
    assert (first.duration_ms, first.consortium_id) == (10, None)
    assert times(first) == (1795168800000000, 1795168800010000)
    assert (second.response, second.conversation_id) == ("", "talk")
    assert len(set(times(second))) == 1


@pytest.mark.parametrize("kind", ["tools", "turns"])
def test_fragments_belong_to_the_prompt(kind: str, tmp_path: Path) -> None:
    """As the model was given them: one below the other, above the prompt."""
    log = LlmLog(tmp_path / "logs.db", kind)
    log.log(Call("a", "m", "Sum up.", "Done.", fragments=["one", "two"]))
    assert read(log.path)[0].prompt == "one\ntwo\nSum up."


def test_a_text_that_is_stored_by_its_fragments(tmp_path: Path) -> None:
    """The newest generation stores a prompt as a list of literals and fragments."""
    log = LlmLog(tmp_path / "logs.db", "turns")
    log.log(Call("a", "m", "x", "Done."))
    log.db.execute("INSERT INTO fragments (id, content) VALUES (7, 'seven')")
    payload = '{"text_ref": [{"fragment": 7}, {"literal": " and more"}]}'
    log.db.execute("UPDATE parts SET text = NULL, payload = ? WHERE text = 'x'", (payload,))
    assert read(log.path)[0].prompt == "seven and more"


def test_old_rows_of_a_migrated_log_come_first(tmp_path: Path) -> None:
    """The newest llm writes turns and leaves what was logged before in responses."""
    log = LlmLog(tmp_path / "logs.db", "turns")
    log.log(Call("new", "m", "p", "r"))
    log.response(Call("old", "m", "p", "r"))
    assert [(row.table, row.id) for row in read(log.path)] == [
        ("responses", "old"),
        ("turns", "new"),
    ]


def test_a_writer_is_not_kept_waiting(tmp_path: Path) -> None:
    """Between two rows of a batch llm writes without waiting."""
    log = LlmLog(tmp_path / "logs.db")
    log.log(*(Call(f"{number:04}", "m", "p", "r") for number in range(300)))
    log.db.execute("PRAGMA busy_timeout = 0")
    seen: list[str] = []
    with opened(log.path) as connection:
        layout = layout_of(connection, log.path)
        for row in responses_at(connection, layout, "responses", range(1, 301)):
            if not seen:
                log.log(Call("late", "m", "p", "r"))
            seen.append(row.id)
    assert (len(seen), seen[-1]) == (300, "0299")


@pytest.mark.parametrize("left", [True, False])
def test_a_log_in_wal_mode(left: bool, tmp_path: Path) -> None:
    """With a writer's files beside it, and without."""
    log = LlmLog(tmp_path / "logs.db")
    log.db.execute("PRAGMA journal_mode = wal")
    log.log(Call("a", "m", "p", "r"))
    if not left:
        log.db.close()
    assert [row.id for row in read(log.path)] == ["a"]


def test_a_log_on_a_disk_that_cannot_be_written(tmp_path: Path) -> None:
    """Neither in WAL mode nor without is anything created beside it."""
    with small_disk(tmp_path / "disk", 2**22) as disk:
        for mode in ("wal", "delete"):
            log = LlmLog(disk.folder / f"{mode}.db")
            log.db.execute(f"PRAGMA journal_mode = {mode}")
            log.log(Call(mode, "m", "p", "r"))
            log.db.close()
        disk.read_only(True)
        assert [read(disk.folder / f"{mode}.db")[0].id for mode in ("wal", "delete")] == [
            *("wal", "delete")
        ]
        disk.read_only(False)
        assert sorted(os.listdir(disk.folder)) == ["delete.db", "wal.db"]


def test_what_cannot_be_read_is_said_clearly(tmp_path: Path) -> None:
    """No file, an empty one, another kind, another database, a damaged one."""
    assert "There is no file" in refusal(tmp_path / "no.db")
    (tmp_path / "empty.db").touch()
    assert "is empty" in refusal(tmp_path / "empty.db")
    (tmp_path / "encrypted.db").write_bytes(os.urandom(8192))
    assert "encrypted" in refusal(tmp_path / "encrypted.db")
    (tmp_path / "short.db").write_bytes(b"SQLite format 3\0")
    assert "cut off" in refusal(tmp_path / "short.db")
    with sqlite3.connect(tmp_path / "other.db") as other:
        other.execute("CREATE TABLE responses (id TEXT, answer TEXT)")
    assert "no column model, prompt, response" in refusal(tmp_path / "other.db")
    with sqlite3.connect(tmp_path / "another.db") as other:
        other.execute("CREATE TABLE things (id TEXT)")
    assert "neither a table `responses` nor `turns`" in refusal(tmp_path / "another.db")


def test_a_log_that_was_cut_off(tmp_path: Path) -> None:
    """It is not read to where it ends."""
    log = LlmLog(tmp_path / "logs.db")
    log.log(*(Call(f"{number:04}", "m", "p" * 500, "r" * 500) for number in range(100)))
    log.db.close()
    whole = log.path.read_bytes()
    log.path.write_bytes(whole[: len(whole) // 2])
    assert "is damaged or cut off" in refusal(log.path)


def test_odd_values_are_read_as_they_stand(tmp_path: Path) -> None:
    """SQLite keeps any type in any column."""
    log = LlmLog(tmp_path / "logs.db")
    log.db.execute(
        "INSERT INTO responses (id, model, prompt, response, duration_ms, datetime_utc) VALUES "
        "(NULL, 7, x'ff41', CAST(x'ff42' AS TEXT), 'soon', 'yesterday'), "
        "(5, NULL, NULL, NULL, -3, '2026-11-20T10:00:00Z')"
    )
    first, second = read(log.path)
    assert (first.id, first.model, first.prompt, first.response) == (
        *("rowid:1", "7", "\ufffdA", "\ufffdB"),
    )
    assert (first.duration_ms, times(first)) == (None, (-1, -1))
    assert (second.id, second.model, second.prompt, times(second)[1]) == (
        *("5", "", "", 1795168800000000),
    )


def test_times() -> None:
    """With a zone, without, with what no calendar has."""
    assert microseconds("2026-11-20T10:00:00.000001+00:00") == 1795168800000001
    assert microseconds("2026-11-20T12:00:00+02:00") == 1795168800000000
    assert microseconds("2026-11-20 10:00:00") == 1795168800000000
    assert [
        microseconds(text) for text in (None, "", "2026-13-01", "0001-01-01T00:00:00+14:00")
    ] == [
        *(None, None, None),
        microseconds("0001-01-01T00:00:00+14:00"),
    ]


@pytest.mark.parametrize("name", RECORDED)
def test_every_row_of_the_recorded_logs(name: str, tmp_path: Path) -> None:
    """Each row that the truth names is read, with its model."""
    path = recorded(name, tmp_path)
    rows = {row.id: row for row in read(path)}
    told = truth(name)
    named = [*told["standalone"]]
    for run in told["runs"]:
        named += [*run["output"], *run["arbiters"], *run["members"]]
    here = {row["id"]: row["model"] for row in named if row["db"] == "logs.db"}
    assert {id_: rows[id_].model for id_ in here} == here
    assert all(row.prompt and times(row)[0] > 0 for row in rows.values())


@pytest.mark.parametrize("kind", ["responses", "turns"])
def test_what_the_provider_said_is_whole_again(kind: str, tmp_path: Path) -> None:
    """llm replaces the reply's text in it by a reference, also inside a longer text."""
    said = {"choices": [{"text": "That."}, "I say: That. That."], "n": 1}
    log = LlmLog(tmp_path / "logs.db", kind)
    log.log(Call("a", "m", "p", "That.", response_json=said))
    row = read(log.path)[0]
    assert row.response_json is not None and "That" not in row.response_json
    assert resolved(row.response_json, row.texts) == said
    assert resolved('{"$raw": {"$": "r:a"}}', {"r:a": "x"}) == {"$": "r:a"}
    for wrong in ("{", '{"$": "r:b"}', '{"$r": [1]}', "[" * 500 + "]" * 500):
        with pytest.raises(UnresolvedError):
            resolved(wrong, row.texts)


def refusal(path: Path) -> str:
    with pytest.raises(LogsError) as error:
        read(path)
    return str(error.value)
