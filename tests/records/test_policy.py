"""The policy of retention: what a file may say, and times to live."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from support.representatives import first_on
from turnspan_clickhouse.rows.tables import SpanRow
from turnspan_clickhouse.store.client import Store
from turnspan_records.keeping import Policy, PolicyError, read_policy, retain
from turnspan_records.keeping.keys import Tables
from turnspan_records.keeping.ttl import TtlChange, changes, statements


def test_the_built_in_policy_is_what_is_printed(tmp_path: Path) -> None:
    """What `--print-policy` prints, read again, is the same."""
    for policy in (
        Policy(archive=tmp_path / 'odd "name\\'),
        Policy(1.5, "remove", 0, ("span",), tmp_path, {"llm_call": 100, "message": 130}),
    ):
        path = tmp_path / "policy.toml"
        path.write_text(policy.as_toml(), encoding="utf-8")
        assert read_policy(path) == policy
    assert Policy().window_days == 90
    assert Policy().summary_texts == "keep"


def test_a_relative_archive_is_beside_the_file(tmp_path: Path) -> None:
    """Wherever the command is started."""
    path = tmp_path / "policy.toml"
    path.write_text('archive = "kept"')
    assert read_policy(path).folder == tmp_path / "kept"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("windw_days = 3", "did you mean 'window_days'"),
        ("window_days = '3'", "write a number of days"),
        ("window_days = true", "write a number of days"),
        ("window_days = -1", "write a number of days"),
        ("window_days = nan", "write a number of days"),
        ("content_days = 1e9", "write a number of days"),
        ('summary_texts = "drop"', 'write "keep" or "remove"'),
        ('tables = "span"', "write a list of names"),
        ('tables = ["spans"]', "did you mean 'span'"),
        ('tables = ["turn_summary"]', "is no table for tables"),
        ('archive = ""', "write the name of a folder"),
        ("ttl = 3", r"write \[ttl\]"),
        ("[ttl]\ndefinition = 3", "is no table for ttl"),
        ("[ttl]\nllm_call = 1.5", "write whole days"),
        ("[ttl]\nllm_call = 30", "before they can be flagged"),
        ("[ttl]\nmessage = 100", "as a session may last"),
        ("[ttl]\nmessage = 100\nllm_call = 200", "as a session may last"),
        ("window_days =", "is not TOML"),
    ],
)
def test_what_is_not_understood_is_said(tmp_path: Path, text: str, wanted: str) -> None:
    """With the file, and what to write instead."""
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(PolicyError, match=wanted) as raised:
        read_policy(path)
    assert str(path) in str(raised.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    """In a sentence."""
    with pytest.raises(PolicyError, match="cannot be read"):
        read_policy(tmp_path / "none.toml")


# -- times to live ------------------


@first_on("server")
def test_times_to_live_come_from_the_policy(store: Store, tmp_path: Path) -> None:
    """Put once, changed when they change, taken away with 0; a dry run only says so."""
    policy = Policy(archive=tmp_path, ttl={"llm_call": 100, "message": 130, "span": 95})
    assert {one.table for one in retain(store, policy).lives} == {"llm_call", "message", "span"}
    assert {one.before for one in retain(store, policy, apply=True).lives} == {""}
    assert retain(store, policy, apply=True).lives == ()
    other = dataclasses.replace(policy, ttl={"llm_call": 0, "span": 96})
    assert [(one.table, one.days) for one in retain(store, other, apply=True).lives] == [
        ("llm_call", 0), ("span", 96),
    ]  # fmt: skip
    assert list(changes(store, {"llm_call": 0, "span": 96, "message": 130})) == []


def test_rules_that_move_parts_stay(store: Store) -> None:
    """A time to live is not the only rule that a table may have."""
    change = TtlChange(
        "span", 95, "", ("toDateTime(start_time) + toIntervalDay(30) TO VOLUME 'cold'",)
    )
    assert statements(store, change) == [
        f"ALTER TABLE {Tables(store).changed(SpanRow)} MODIFY TTL"
        " toDateTime(start_time) + toIntervalDay(30) TO VOLUME 'cold',"
        " toDateTime(start_time) + toIntervalDay(95)"
    ]
