"""Retention: what goes, what is archived, what stays, and that nothing is left half-done."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from support.keeping import DAY, World, broken_references, every_row, now_of, world
from support.landing import insert
from support.representatives import first_on
from support.rows import PROJECT, call, message, said, tool, turn
from support.small_disk import small_disk
from turnspan_clickhouse.rows.loop_tables import ArtifactRow
from turnspan_clickhouse.rows.tables import RECORDS, Annotation, LlmCall, SpanRow, Withdrawal
from turnspan_clickhouse.store.client import Store
from turnspan_records.keeping import Archive, KeepingError, Policy, Retained, restore, retain
from turnspan_records.keeping.work import Work, unfinished

ONE_KIND = pytest.mark.parametrize("module_store", ["embedded"], indirect=True)
"""For what is the same on a server: a pass takes about a second of CPU."""


@pytest.fixture
def empty(module_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """The store of this module without a row."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    clear(module_store)
    for name in unfinished(module_store):
        Work(module_store, name).clear()
    return module_store


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    """The one that is built in, without the days of grace."""
    return Policy(content_days=0, archive=tmp_path / "archives")


def clear(store: Store) -> None:
    """Remove every row."""
    for record in RECORDS:
        store.command(f"TRUNCATE TABLE {record.table}")


def fill(store: Store, seed: int) -> World:
    """Random records."""
    made = world(seed, now_of(store))
    insert(store, *made.rows)
    return made


def calls(store: Store) -> set[str]:
    """The calls that are there."""
    return {str(row[0]) for row in store.query("SELECT span_id FROM llm_call").rows}


def reasons(done: Retained, table: str) -> dict[str, int]:
    """How many rows of a table go, by reason."""
    return {one.reason: one.rows for one in done.going if one.table == table}


# -- what goes ------------------


@first_on("embedded", "module_store")
@pytest.mark.parametrize("seed", [1])
def test_everything_becomes_what_it_should(empty: Store, policy: Policy, seed: int) -> None:
    """Whatever was recorded and judged: the calls that go are those of the rules, what is flagged
    good is in the archive, no row names a content that is gone and no content is left that nothing
    names, summaries and judgments are there still, and a second pass finds nothing."""
    made = fill(empty, seed)
    before = every_row(empty)
    done = retain(empty, policy, apply=True)
    fates = made.fates
    assert calls(empty) == {one for one, fate in fates.items() if not fate}
    assert reasons(done, "llm_call") == {
        fate: list(fates.values()).count(fate) for fate in set(fates.values()) - {""}
    }
    assert done.archive is not None
    archived = [row for some in Archive(done.archive).records("llm_call") for row in some]
    assert {row.span_id for row in archived if isinstance(row, LlmCall)} == {
        one for one, fate in fates.items() if fate == "archived"
    }
    assert set(broken_references(empty).values()) == {0}
    after = every_row(empty)
    for kept in ("turn_summary", "annotation", "agent_version"):
        assert after[kept] == before[kept]
    again = retain(empty, policy, apply=True)
    assert (again.rows, again.archive) == (0, None)
    assert every_row(empty) == after


@pytest.mark.release
@ONE_KIND
def test_a_dry_run_says_what_applying_does(empty: Store, policy: Policy, tmp_path: Path) -> None:
    """By the same decision; it changes nothing and leaves nothing."""
    fill(empty, 7)
    before = every_row(empty)
    planned = retain(empty, policy)
    assert every_row(empty) == before
    assert unfinished(empty) == []
    assert not (tmp_path / "archives").exists()
    done = retain(empty, policy, apply=True)
    assert [(one.table, one.reason, one.rows) for one in planned.going] == [
        (one.table, one.reason, one.rows) for one in done.going
    ]
    assert planned.rows == done.rows > 100
    assert all(one.bytes > 0 for one in planned.going)
    assert done.checks
    assert {check.count for check in done.checks} == {0}


FLAGS: tuple[tuple[int | None, int | None, int | None, str], ...] = (
    (None, None, None, ""),
    (1, None, None, "archived"),
    (-1, None, None, "excluded"),
    (0, None, -1, ""),
    (None, 1, None, "archived"),
    (None, -1, None, ""),
    (1, -1, -1, "archived"),
    (-1, 1, 1, "excluded"),
    (None, 1, -1, "archived"),
    (None, -1, 1, "archived"),
    (None, None, -1, "excluded"),
)
"""Of a turn, of a call in it, of its session, and what becomes of it."""


@ONE_KIND
def test_the_nearest_flag_wins_and_a_good_call_keeps_its_turn(empty: Store, policy: Policy) -> None:
    """Nothing is old here: what is not flagged stays."""
    made = World(now_of(empty))
    begun: dict[str, Any] = {"start_time": made.now - DAY}
    for number, (*values, _) in enumerate(FLAGS):
        ids = (f"t{number}", f"c{number}", f"s{number}")
        for kind, id_, value in zip(("turn", "call", "session"), ids, values, strict=True):
            if value is not None:
                made.flag(kind, id_, value)
        known: dict[str, Any] = {**begun, "session_id": ids[2]}
        made.rows += [
            turn(ids[0], **known),
            call(ids[1], turn_id=ids[0], **known),
            call(f"{ids[1]}-2", turn_id=ids[0], **known),
        ]
    insert(empty, *made.rows)
    done = retain(empty, policy, apply=True)
    gone = {f"c{number}{end}" for number, (*_, fate) in enumerate(FLAGS) if fate
            for end in ("", "-2")}  # fmt: skip
    every = {f"c{number}{end}" for number in range(len(FLAGS)) for end in ("", "-2")}
    assert calls(empty) == every - gone
    assert reasons(done, "llm_call") == {"archived": 10, "excluded": 6}


@ONE_KIND
def test_a_withdrawn_flag_is_none_and_a_person_s_counts(empty: Store, policy: Policy) -> None:
    """As everywhere: `annotation_current` says what holds."""
    now = now_of(empty)
    made = World(now)
    made.flag("turn", "t1", -1)
    made.flag("turn", "t1", 0)
    insert(empty, *made.rows, turn("t1", start_time=now - DAY),
           call("c1", start_time=now - DAY, turn_id="t1"),
           Annotation(project=PROJECT, subject_kind="turn", subject_id="t1", kind="training_flag",
                      annotation_id="m", training_flag=-1, author="passive:x",
                      created_at=now, written_at=now))  # fmt: skip
    assert retain(empty, policy).rows == 0


@first_on("server", "module_store")
def test_what_belongs_to_no_turn_goes_by_its_age(empty: Store, policy: Policy) -> None:
    """Rows without a turn, and rows of a turn of which there is no summary."""
    now = now_of(empty)
    for name, age in (("old", 91), ("new", 89)):
        values: dict[str, Any] = {"start_time": now - age * DAY, "trace_id": name}
        insert(empty, tool(f"{name}-t", **values),
               tool(f"{name}-o", turn_id=f"{name}-gone", **values),
               SpanRow(project=PROJECT, span_id=f"{name}-s", **values))  # fmt: skip
    retain(empty, policy, apply=True)
    assert sorted(row[0] for row in empty.query("SELECT span_id FROM tool_call").rows) == [
        "new-o", "new-t",
    ]  # fmt: skip
    assert [row[0] for row in empty.query("SELECT span_id FROM span").rows] == ["new-s"]


@ONE_KIND
def test_what_others_refer_to_stays(empty: Store, policy: Policy) -> None:
    """An artifact of a lineage, of an attempt, or that was judged; and so its text."""
    now = now_of(empty)
    made = World(now)
    made.flag("turn", "t1", -1)
    for name in ("free", "lineage", "attempt", "judged"):
        made.rows.append(ArtifactRow(
            project=PROJECT, target="p", artifact_id=name, turn_id="t1", created_at=now - DAY,
            content=made.text("artifact", name), lineage_id="l" if name == "lineage" else "",
            attempt_id="a" if name == "attempt" else "",
        ))  # fmt: skip
    insert(empty, turn("t1", start_time=now - DAY), *made.rows,
           Annotation(project=PROJECT, subject_kind="artifact", subject_id="judged", kind="score",
                      annotation_id="x", score=5.0))  # fmt: skip
    retain(empty, policy, apply=True)
    left = empty.query("SELECT artifact_id FROM artifact ORDER BY 1").rows
    assert [row[0] for row in left] == ["attempt", "judged", "lineage"]
    assert broken_references(empty)["missing definition"] == 0
    assert len(every_row(empty)["definition"]) == 3


@pytest.mark.release
@ONE_KIND
def test_only_the_tables_of_the_policy_lose_rows(empty: Store, policy: Policy) -> None:
    """Calls that stay keep their contents."""
    made = fill(empty, 11)
    done = retain(empty, dataclasses.replace(policy, tables=("span", "tool_call")), apply=True)
    assert {one.table for one in done.going} == {"span", "tool_call"}
    assert calls(empty) == set(made.fates)
    assert set(broken_references(empty).values()) == {0}
    assert retain(empty, dataclasses.replace(policy, tables=())).rows == 0


# -- texts of summaries ------------------


@first_on("server", "module_store")
def test_summaries_lose_their_texts_and_nothing_else(empty: Store, policy: Policy) -> None:
    """Counts, times and reasons stay, and the words are in no part of the table any more."""
    now = now_of(empty)
    old: dict[str, Any] = {"user_message": "canary", "response_text": "canary", "rounds": 3}
    insert(empty, turn("t1", start_time=now - 91 * DAY, **old, error_message="canary"),
           turn("t2", start_time=now - DAY, **old))  # fmt: skip
    removing = dataclasses.replace(policy, summary_texts="remove")
    assert reasons(retain(empty, removing, apply=True), "turn_summary") == {"texts": 1}
    found = empty.query(
        "SELECT turn_id, user_message, response_text, error_message, rounds, stop_reason"
        " FROM turn_summary ORDER BY turn_id", None, {"final": 0},
    ).rows  # fmt: skip
    assert found == [
        ("t1", "", "", "", 3, "completed"), ("t2", "canary", "canary", "", 3, "completed"),
    ]  # fmt: skip
    assert retain(empty, removing, apply=True).rows == 0


@pytest.mark.release
@ONE_KIND
def test_texts_come_back_with_the_archive(empty: Store, policy: Policy) -> None:
    """Of what was flagged good; the row that was brought back is the newer one."""
    made = fill(empty, 5)
    before = every_row(empty)
    removing = dataclasses.replace(policy, summary_texts="remove")
    done = retain(empty, removing, apply=True)
    assert done.archive is not None
    restore(empty, done.archive)
    texts = {str(row[0]): str(row[1]) for row in empty.query(
        "SELECT turn_id, user_message FROM turn_summary").rows}  # fmt: skip
    good = {one.partition("c")[0] for one, fate in made.fates.items() if fate == "archived"}
    assert {id_ for id_, text in texts.items() if text} >= {one for one in good if one in texts}
    assert len(every_row(empty)["turn_summary"]) == len(before["turn_summary"])


# -- coming back ------------------


@ONE_KIND
@pytest.mark.release  # console/test_retain brings an archive back
def test_what_was_archived_comes_back_as_it_was(empty: Store, policy: Policy) -> None:
    """Every column, `written_at` included; a second time makes no difference, and neither does it
    to rows that were never gone. Pruned again, it comes back again."""
    made = fill(empty, 21)
    before = every_row(empty)
    done = retain(empty, policy, apply=True)
    assert done.archive is not None
    gone = every_row(empty)
    restored = restore(empty, done.archive)
    assert sum(restored.rows.values()) == restored.manifest.rows
    back = every_row(empty)
    assert all(row in before[table] for table, rows in back.items() for row in rows)
    assert calls(empty) == {one for one, fate in made.fates.items() if fate in ("", "archived")}
    assert broken_references(empty)["missing message"] == 0
    assert broken_references(empty)["missing definition"] == 0
    restore(empty, done.archive)
    assert every_row(empty) == back
    again = retain(empty, policy, apply=True)
    assert every_row(empty) == gone
    assert again.archive is not None
    restore(empty, again.archive)
    assert every_row(empty) == back


@pytest.mark.release
@ONE_KIND
def test_a_restore_into_an_empty_store_has_all_that_was_archived(
    empty: Store, policy: Policy
) -> None:
    """The rows with the contents that they name: an archive needs nothing beside it."""
    fill(empty, 22)
    done = retain(empty, policy, apply=True)
    assert done.archive is not None
    clear(empty)
    restore(empty, done.archive)
    assert set(broken_references(empty).values()) == {0}
    assert len(calls(empty)) == Archive(done.archive).manifest.tables["llm_call"].rows


@pytest.mark.release
@first_on("server", "module_store")
def test_judgments_come_back_with_what_they_are_of(empty: Store, policy: Policy) -> None:
    """Of turns, calls and sessions, and what was withdrawn of them; of nothing else."""
    made = fill(empty, 24)
    good = [one for one in made.rows if isinstance(one, LlmCall) and one.turn_id]
    good = [one for one in good if made.fates.get(one.span_id) == "archived"]
    bad = [one for one, fate in made.fates.items() if fate == "unassessed"]
    judged = [("call", good[0].span_id), ("session", good[0].session_id), ("call", bad[0])]
    extra = [
        Annotation(
            PROJECT, kind, id_, "score", f"x-{id_}", score=5.0, created_at=made.now, written_at=1
        )
        for kind, id_ in judged
        if id_
    ]
    taken = Withdrawal(
        PROJECT, "call", good[0].span_id, "score", "w", created_at=made.now + 1, written_at=1
    )
    insert(empty, *extra, taken)
    everything = "SELECT * FROM annotation ORDER BY ALL"
    before = set(map(str, empty.query(everything).rows))
    done = retain(empty, policy, apply=True)
    assert done.archive is not None
    assert set(map(str, empty.query(everything).rows)) == before
    clear(empty)
    restore(empty, done.archive)
    turns = {str(row[0]) for row in empty.query("SELECT turn_id FROM llm_call").rows}
    back = empty.query(everything).rows
    assert set(map(str, back)) <= before
    assert turns & {str(row[2]) for row in back if row[1] == "turn"}
    ids = {str(row[4]) for row in back}
    assert {f"x-{id_}" for _, id_ in judged[:2] if id_} <= ids
    assert f"x-{bad[0]}" not in ids
    assert empty.query("SELECT count() FROM withdrawal").rows == [(1,)]


@pytest.mark.release
@ONE_KIND
def test_a_full_disk_and_then_another_archive(empty: Store, policy: Policy, tmp_path: Path) -> None:
    """What a pass that was cut short has decided on goes where it had said: a policy that names
    another archive is told so; one that names the same, or none, finishes it."""
    made = fill(empty, 25)
    with small_disk(tmp_path / "disk", 8 << 20) as disk:
        kept = dataclasses.replace(policy, archive=disk.folder / "archives")
        disk.fill()
        with pytest.raises(OSError, match="No space left"):
            retain(empty, kept, apply=True)
        assert len(calls(empty)) == len(made.fates)
        disk.relieve()
        for apply in (False, True):
            with pytest.raises(KeepingError, match=r"archives into .*disk/archives, not into"):
                retain(empty, policy, apply=apply)
        done = retain(empty, dataclasses.replace(policy, archive=None), apply=True)
        (archive,) = kept.folder.iterdir()
        assert done.continued == (archive.name,)
        assert Archive(archive).manifest.rows


@pytest.mark.release
@ONE_KIND
def test_what_was_forgotten_stays_away(empty: Store, policy: Policy) -> None:
    """Whoever restores is asked about every row."""
    made = fill(empty, 23)
    done = retain(empty, policy, apply=True)
    assert done.archive is not None
    good = [one for one, fate in made.fates.items() if fate == "archived"]
    restored = restore(empty, done.archive, forgotten=lambda _, row: row.get("span_id") == good[0])
    assert restored.forgotten == {"llm_call": 1, "span": 1}
    assert good[0] not in calls(empty)
    assert set(good[1:]) <= calls(empty)


@pytest.mark.release
@ONE_KIND
def test_a_damaged_archive_brings_nothing_back(empty: Store, policy: Policy) -> None:
    """Not even its whole tables."""
    fill(empty, 24)
    done = retain(empty, policy, apply=True)
    assert done.archive is not None
    before = every_row(empty)
    path = done.archive / "tool_call.jsonl.zst"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(Exception, match="damaged"):
        restore(empty, done.archive)
    assert every_row(empty) == before


# -- what comes late ------------------


@pytest.mark.release
@ONE_KIND
def test_rows_that_come_late_go_with_the_next_pass(empty: Store, policy: Policy) -> None:
    """Into an archive of their own where their turn is flagged good."""
    now = now_of(empty)
    made = World(now)
    made.flag("turn", "t1", 1)
    words = message("user", said("late"), written_at=now - DAY)
    insert(empty, *made.rows, turn("t1", start_time=now - DAY),
           call("c1", start_time=now - DAY, turn_id="t1"))  # fmt: skip
    first = retain(empty, policy, apply=True)
    insert(
        empty, call("c2", start_time=now - DAY, turn_id="t1", input_messages=[words.hash]), words
    )
    second = retain(empty, policy, apply=True)
    assert calls(empty) == set()
    assert first.archive is not None
    assert second.archive is not None
    late = [row for some in Archive(second.archive).records("message") for row in some]
    assert len(late) == 1
    assert first.archive != second.archive


@first_on("embedded", "module_store")
def test_one_pass_at_a_time(empty: Store, policy: Policy) -> None:
    """An embedded store is another's between two statements: a second pass would meet the first."""
    insert(empty, call("c1", start_time=now_of(empty) - 91 * DAY))
    met: list[str] = []

    def meanwhile(stage: str, _done: int, _total: int) -> None:
        with pytest.raises(KeepingError, match="wait for it to finish"):
            retain(empty, policy, apply=True)
        met.append(stage)

    retain(empty, policy, apply=True, progress=meanwhile)
    assert met
    assert calls(empty) == set()
    assert not retain(empty, policy, apply=True).going
