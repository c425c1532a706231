"""What is forgotten is gone from the store, the spool, archives and exported sets, for good."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

import pytest

from land.spooling import spooled
from support.forgetting import canary, contents, everything, naming, session_of, trace_of
from support.kept_stores import migrated
from support.landing import insert
from support.representatives import few, first_on
from support.rows import PROJECT, call, message, said, turn
from turnspan_clickhouse.rows.record import Record
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import store_id
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access import copies_registry as registry
from turnspan_records.keeping.erasure import (
    Erased,
    NothingRecordedError,
    forget,
    forget_again,
    plan,
    subjects,
)
from turnspan_records.keeping.freed_parts import old_parts
from turnspan_records.keeping.subject_keys import ForgetSubject, SubjectKind

ONE_KIND = pytest.mark.parametrize("store_kind", ["embedded"], indirect=True)
"""For what is the same on a server."""


def forgotten(store: Store, kind: SubjectKind, id_: str, project: str = PROJECT) -> Erased:
    """Forget something, without the seconds that other machines get."""
    return forget(store, ForgetSubject(kind, id_, project), settle=0.0, texts=[canary("ada")])


def places(done: Erased) -> set[str]:
    """Where something was left, but for the compressed files of tables that are named as well."""
    return {left.where for left in done.proof.left if not left.where.endswith(".bin")}


def gone(store: Store, name: str) -> None:
    """Nothing names somebody, in the tables or in their files."""
    left = contents(store)
    for word in (canary(name), session_of(name), trace_of(name), f"{name}-turn-01"):
        assert naming(left, word) == {}, word
    assert old_parts(store, RECORDS) == {}
    assert store.query("SELECT count() FROM keeping_row").rows == [(0,)]


@first_on("embedded")
def test_a_session_goes_and_everything_else_stays(store: Store) -> None:
    """From every table; a prompt that others have stays, texts of its own go."""
    insert(store, *everything("bob"), *everything("eve", project="another"))
    insert(store, *everything("eve"))
    before = contents(store)
    insert(store, *everything("ada"))
    wanted = {name: len(rows) - len(before[name]) for name, rows in contents(store).items()}

    planned = plan(store, ForgetSubject("session", session_of("ada"), PROJECT))
    done = forgotten(store, "session", session_of("ada"))

    assert planned.rows == {name: number for name, number in wanted.items() if number}
    assert len(planned.rows) == 18
    assert done.rows == planned.rows
    assert done.proof.left == []
    assert contents(store) == before
    gone(store, "ada")


@first_on("server")
@pytest.mark.parametrize("kind", few(["user", "turn", "project"], ["turn"]))
def test_a_user_a_turn_and_a_project_go(store: Store, kind: SubjectKind) -> None:
    """A turn takes what only it has, a user every session and every call that names them."""
    others = [*everything("bob"), *everything("eve", project="another")]
    insert(store, *others)
    before = contents(store)
    project = "third" if kind == "project" else PROJECT
    rows = everything("ada", user="ada@example.org", project=project)
    insert(store, *rows)
    if kind == "user":
        extra: dict[str, Any] = {"trace_id": trace_of("ada"), "session_id": ""}
        asked = message("user", said(canary("ada")), scope=trace_of("ada"))
        insert(store, asked, call("ada-alone", **extra, input_messages=[asked.hash],
               request_parameters='{"user":"ada@example.org"}'))  # fmt: skip
    id_ = {"user": "ada@example.org", "turn": "ada-turn-01", "project": project}[kind]

    assert subjects(store, kind, id_) == [ForgetSubject(kind, id_, project)]
    done = forgotten(store, kind, id_, project)

    assert done.proof.left == []
    assert contents(store) == before
    gone(store, "ada")


@ONE_KIND
def test_a_turn_leaves_what_other_turns_of_its_session_have(store: Store) -> None:
    """The next turn has sent its messages again; they are that turn's as well."""
    first, second, third = (message("user", said(f"{n} of three")) for n in "123")
    rows: list[Record] = [
        *(turn("t1"), turn("t2"), turn("t1-inner", parent_turn_id="t1")),
        call("c1", turn_id="t1", input_messages=[first.hash, second.hash]),
        call("c1-inner", turn_id="t1-inner", input_messages=[third.hash]),
        call("c2", turn_id="t2", input_messages=[first.hash]),
        *(first, second, third),
    ]
    insert(store, *rows)
    done = forgotten(store, "turn", "t1")
    assert done.rows == {"turn_summary": 2, "llm_call": 2, "message": 2}
    assert [row[0] for row in store.query("SELECT span_id FROM llm_call").rows] == ["c2"]
    assert store.query("SELECT parts LIKE '%1 of three%' FROM message").rows == [(True,)]


@pytest.mark.release
@ONE_KIND
def test_an_attempt_that_others_made_too_stays(store: Store) -> None:
    """What it was given and gave is theirs as well."""
    insert(store, *everything("ada"), call("other", session_id="other", attempt_id="ada-attempt"))
    done = forgotten(store, "session", session_of("ada"))
    assert "attempt" not in done.rows
    assert done.rows["rollout"] == 1
    # The proof says so: its input is the session's text.
    assert places(done) == {
        *(f"column {name} of table attempt" for name in ("input",)),
        "column comment of table annotation",
    }


@first_on("server")
def test_it_stays_away(store: Store) -> None:
    """A late segment, a segment set aside, and what another machine lands that does not know."""
    insert(store, *everything("bob"))
    before = contents(store)
    rows = everything("ada")
    insert(store, *rows)
    spool = Spool(store.dsn.spool)
    spooled(spool, *rows[:4]).close()
    spool.reject(spool.segments()[0], f"cannot parse {canary('ada')}")
    done = forgotten(store, "session", session_of("ada"))
    assert done.spool.rows == 4
    assert done.proof.left == []

    spooled(spool, *rows).close()
    shipped = ship(store)
    assert shipped.forgotten >= 12
    # Of those that come late, what only a judgment or a text of its own says is recognised, too.
    assert naming(contents(store), canary("ada")).keys() <= {"definition"}

    insert(store, *rows)
    again = forget_again(store, texts=[canary("ada")])
    assert again.proof.left == []
    assert contents(store) == before
    gone(store, "ada")


@pytest.mark.release
@ONE_KIND
def test_what_begins_after_is_recorded(store: Store) -> None:
    """A session that goes on, and a user who comes back, are not those that were forgotten."""
    insert(store, *everything("ada", user="ada@example.org"))
    forgotten(store, "user", "ada@example.org")
    now = time.time_ns()
    later = turn("new", session_id=session_of("ada"), user_id="ada@example.org", start_time=now)
    spooled(Spool(store.dsn.spool), later).close()
    assert ship(store).forgotten == 0
    assert store.query("SELECT turn_id FROM turn_summary").rows == [("new",)]
    assert forget_again(store).rows == {}
    done = forgotten(store, "user", "ada@example.org")
    assert done.rows == {"turn_summary": 1}
    assert done.proof.left == []


@ONE_KIND
def test_each_forgetting_has_its_own_time(store: Store) -> None:
    """What goes on after one of them is not of a later one, whatever is looked at again."""
    insert(store, turn("t1", session_id="ada"), turn("t2", session_id="bob"))
    forgotten(store, "session", "ada")
    insert(store, turn("later", session_id="ada", start_time=time.time_ns()))
    assert forgotten(store, "session", "bob").rows == {"turn_summary": 1}
    insert(store, turn("t1", session_id="ada"))
    assert forget_again(store).rows == {"turn_summary": 1}
    assert store.query("SELECT turn_id FROM turn_summary").rows == [("later",)]


@ONE_KIND
def test_nothing_recorded_is_said(store: Store) -> None:
    """And leaves no tombstone, so that a slip of the finger does not keep records out."""
    assert subjects(store, "session", "nobody") == []
    with pytest.raises(NothingRecordedError, match="There are no records of session 'nobody'"):
        forgotten(store, "session", "nobody")
    assert store.query("SELECT count() FROM tombstone").rows == [(0,)]


@first_on("embedded")
def test_the_proof_finds_what_is_planted(store: Store) -> None:
    """In another's text, in a file of the spool, in a set, in the files of the store."""
    insert(store, *everything("ada"), message("user", said(f"I am {canary('ada')}"), scope="bob"))
    spool = Spool(store.dsn.spool).folder
    spool.mkdir(parents=True, exist_ok=True)
    (spool / "notes.txt").write_text("x" * (2**20 - 4) + canary("ada"))
    made = spool.parent / "set"
    made.mkdir()
    (made / "copy.jsonl").write_text(session_of("ada"))
    registry.register("export", made, store_id(store))
    planted = {"column parts of table message", str(spool / "notes.txt"), str(made / "copy.jsonl")}
    if store.dsn.path is not None:
        file = store.dsn.path / "engine" / "left.txt"
        file.write_text(canary("ada"))
        planted.add(str(file))
    done = forgotten(store, "session", session_of("ada"))
    if store.dsn.path is not None:
        (store.dsn.path / "engine" / "left.txt").unlink()  # other tests get this store, too
    assert places(done) == planted


@ONE_KIND
def test_a_tombstone_says_who_and_why_and_not_of_whom(store: Store) -> None:
    """Whoever reads the table learns no id."""
    name = "augusta"  # longer than a word that is in a random id or a hash by chance, as "ada" is
    insert(store, *everything(name, user=f"{name}@example.org"))
    subject = ForgetSubject("user", f"{name}@example.org", PROJECT)
    forget(store, subject, reason="asked by letter", author="bob", settle=0.0)
    asked = store.query(
        "SELECT project, kind, reason, author FROM tombstone WHERE asked AND forgetting_id != ''"
    )
    assert asked.rows == [(PROJECT, "user", "asked by letter", "bob")]
    assert naming(contents(store, without=()), name) == {}
    assert store.query("SELECT count() > 8 FROM tombstone").rows == [(True,)]


@pytest.mark.release
def test_it_works_on_a_small_server(server_dsn: Dsn) -> None:
    """Of a user with many sessions, in 50 MB of the server's memory."""
    with migrated(server_dsn) as store:
        for part in range(4):
            rows: list[Record] = []
            for number in range(5_000 * part, 5_000 * (part + 1)):
                place: dict[str, Any] = {"session_id": f"s{number}", "trace_id": f"{number:032x}"}
                rows.append(turn(f"t{number}", user_id=f"user-{number % 2}", **place))
                rows.append(call(f"c{number}", turn_id=f"t{number}", **place))
                rows.append(message("user", said("x" * 200 + str(number)), scope=f"s{number}"))
            insert(store, *rows)
    with open_store(dataclasses.replace(server_dsn, user="narrow")) as store:
        done = forget(store, ForgetSubject("user", "user-1", PROJECT), settle=0.0)
        assert done.rows == dict.fromkeys(("turn_summary", "llm_call", "message"), 10_000)
        assert done.proof.left == []


@pytest.mark.release
@ONE_KIND
def test_a_text_is_searched_for_beside_many_sessions(store: Store) -> None:
    """The words of a search have an end, and a user has more sessions than that."""
    many = [turn(f"t{n}", n, session_id=f"ada-{n}", user_id="ada") for n in range(230)]
    insert(store, *many, turn("bob-1", 300, session_id="bob", user_message=f"{canary('ada')}?"))
    done = forgotten(store, "user", "ada")
    assert any("turn_summary" in place for place in places(done)), places(done)
