"""Logs of llm's in which things stand that no llm has written."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from support.llm_logs import Call, LlmLog
from support.llm_samples import accounted, import_llm, rows_of, sample, source_counts
from turnspan_clickhouse.store.client import Store
from turnspan_records.importing.sources import SourceLogError


def query(store: Store, sql: str) -> list[Any]:
    return [tuple(row) for row in store.query(sql).rows]


def odd_log(path: Path) -> LlmLog:
    """A response in each of whose columns is something odd."""
    log = LlmLog(path, "tools")
    log.log(*[Call(f"odd {number}", "small", f"ask {number}", "fine") for number in range(12)])
    update = "UPDATE responses SET {} = ? WHERE id = ?"
    for number, (column, value) in enumerate(
        (
            ("datetime_utc", "last Tuesday"),
            ("datetime_utc", "1815-06-18T11:30:00"),
            ("duration_ms", -5),
            ("duration_ms", "soon"),
            ("options_json", "{not json"),
            ("options_json", '["a", "list"]'),
            ("response_json", "[" * 5_000 + "]" * 5_000),
            ("token_details", "\x00"),
            ("input_tokens", "many"),
            ("prompt", "nul \x00 and \ud800".encode("utf-8", "surrogatepass")),
            ("response", None),
            ("schema_id", "gone"),
        )
    ):
        log.db.execute(update.format(column), (value, f"odd {number}"))
    log.db.execute("UPDATE responses SET id = ? WHERE id = 'odd 0'", ("01kbnr4q0g" + "0" * 16,))
    log.db.execute("ALTER TABLE responses ADD COLUMN shoe_size INTEGER")
    log.db.execute("UPDATE responses SET shoe_size = 43 WHERE id = 'odd 2'")
    log.db.execute("CREATE TABLE mine (a)")
    log.db.execute("INSERT INTO mine VALUES (1)")
    return log


def test_what_cannot_be_read_is_kept_and_reported(embedded: Store, tmp_path: Path) -> None:
    """No row is lost for a column of it."""
    log = odd_log(tmp_path / "logs.db")
    report = import_llm(embedded, log.path)

    assert accounted(report) == source_counts(log.path)
    assert report.seen["mine", "skipped: no table of llm's"] == 1
    assert report.rows["llm_call"] == 12
    assert {(one.row, one.reason.partition(":")[0]) for one in report.problems} == {
        ("responses 01kbnr4q0g0000000000000000, datetime_utc", "no time of 1970 to 2128"),
        ("responses odd 1, datetime_utc", "no time of 1970 to 2128"),
        ("responses odd 2, duration_ms", "no duration"),
        ("responses odd 3, duration_ms", "no duration"),
        ("responses odd 4, options_json",
         "it is no JSON, and kept as it is in llm.options_json"),
        ("responses odd 6, response_json",
         "it is no JSON, and kept as it is in llm.response_json"),
        ("responses odd 7, token_details",
         "it is no JSON, and kept as it is in llm.token_details"),
        ("responses odd 8, input_tokens", "no number of tokens"),
        ("responses odd 11", "its schema gone is not in the log"),
    }  # fmt: skip
    told = {
        row[0].rpartition(" ")[2]: row[1:]
        for row in query(
            embedded,
            "SELECT attributes['llm.response.id'], attributes, toString(start_time), duration,"
            " request_parameters FROM llm_call FINAL",
        )
    }
    by_id = told["01kbnr4q0g0000000000000000"]
    assert by_id[0]["llm.datetime_utc"] == "last Tuesday"
    assert by_id[1].startswith("2025-12-04 ")
    assert told["1"][1].startswith("1970-01-01 ")  # in no time at all
    assert (told["2"][0]["llm.duration_ms"], told["2"][2]) == ("-5", 0)
    assert told["2"][0]["llm.shoe_size"] == "43"
    assert told["4"][0]["llm.options_json"] == "{not json"
    assert json.loads(told["5"][3]) == {"options": ["a", "list"]}
    assert len(told["6"][0]["llm.response_json"]) == 10_000
    assert told["8"][0]["llm.input_tokens"] == "many"
    assert json.loads(told["11"][3]) == {"schema": {"missing": "gone"}}
    assert query(embedded, "SELECT count() FROM message WHERE position(parts, 'nul ') > 0") == [
        (1,)
    ]
    once = rows_of(embedded)
    import_llm(embedded, log.path, again=True)
    assert rows_of(embedded) == once


def test_what_messages_refer_to_may_be_gone(embedded: Store, tmp_path: Path) -> None:
    path = sample("0.36", tmp_path)
    db = sqlite3.connect(path)
    for statement in (
        "DELETE FROM attachments",
        "DELETE FROM fragments",
        "DELETE FROM tools",
        "UPDATE parts SET payload = '{' WHERE type = 'tool_call'",
        "UPDATE parts SET type = 'smell' WHERE text = 'Be brief.'",
        "DELETE FROM messages WHERE hash = (SELECT message_hash FROM parts WHERE text = 'second')",
        # A chain that bites its tail.
        "UPDATE messages SET parent_hash = hash WHERE hash ="
        " (SELECT message_hash FROM parts WHERE text = 'hello alone')",
    ):
        db.execute(statement)
    db.commit()
    db.close()
    report = import_llm(embedded, path)

    assert report.rows["llm_call"] == 12
    said = " ".join(one.reason for one in report.problems)
    for words in ("attachment", "fragment", "tool", "JSON", "none of llm's", "not in the log"):
        assert words in said
    assert accounted(report) == source_counts(path)


def test_a_large_attachment_becomes_its_hash(embedded: Store, tmp_path: Path) -> None:
    path = sample("0.31", tmp_path)
    db = sqlite3.connect(path)
    db.execute(
        "UPDATE attachments SET content = ? WHERE content IS NOT NULL", (os.urandom(1 << 25),)
    )
    db.commit()
    db.close()
    import_llm(embedded, path)
    assert query(
        embedded,
        "SELECT max(length(parts)) < 2000, countIf(position(parts, '\"size\":33554432') > 0)"
        " FROM message",
    ) == [(True, 1)]


def test_calls_of_long_ago_land(embedded: Store, tmp_path: Path) -> None:
    """Further back than a receiver takes spans; in more weeks than one insert usually may have,
    ``test_importing`` shows."""
    log = LlmLog(tmp_path / "logs.db")
    years = range(1971, 2026, 6)
    log.log(*[Call(f"r{y}", "small", "ask", "say", f"{y}-03-04T10:00:00+00:00") for y in years])
    report = import_llm(embedded, log.path)
    assert (report.waiting, report.problem_count) == ("", 0)
    assert query(embedded, "SELECT toYear(start_time) FROM llm_call FINAL ORDER BY 1") == [
        (year,) for year in years
    ]


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (None, "There is no file"),
        (b"", "is empty"),
        (b"not a database" * 20, "is not an SQLite database"),
        ("CREATE TABLE other (a)", "is no log of llm's"),
        ("CREATE TABLE log (a)", "llm 0.4 and older"),
    ],
)
def test_what_is_no_log_is_said(
    embedded: Store, tmp_path: Path, made: bytes | str | None, says: str
) -> None:
    path = tmp_path / "logs.db"
    if isinstance(made, bytes):
        path.write_bytes(made)
    elif made is not None:
        sqlite3.connect(path).executescript(made)
    with pytest.raises(SourceLogError, match=says):
        import_llm(embedded, path)
