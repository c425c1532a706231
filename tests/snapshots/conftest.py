"""One store with something of everything, which every snapshot is taken of."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from support.artifacts import artifact
from support.assembled import assembled
from support.camp_rows import ATTEMPTS, camp_rows
from support.consortium_rows import consortium_rows
from support.landing import insert
from support.rows import PROJECT, SECOND, T0, answered, asked, call, message, said, tool, turn
from support.shared_folder import made_once
from support.shop_session import hashes
from support.snapshots import Asked, Recorder, formatted
from support.story import TURN, story
from turnspan_clickhouse.rows.record import Record
from turnspan_clickhouse.rows.tables import Annotation, Withdrawal
from turnspan_clickhouse.ship import forgotten
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access import open_dsn
from turnspan_records.keeping import freed_parts
from turnspan_records.keeping.freed_parts import old_parts
from turnspan_records.lookup import find


def judgment(kind: str, subject: str, id_: str, **values: Any) -> Annotation:
    """A judgment of a turn, unless ``subject_kind`` says otherwise."""
    at = T0 + (200 + int(id_[-1])) * SECOND
    known: dict[str, Any] = {"subject_kind": "turn", "author": "ada", "source": "test"}
    return Annotation(
        project=PROJECT, subject_id=subject, kind=kind, annotation_id=id_, created_at=at,
        written_at=at, **{**known, **values},
    )  # fmt: skip


def looping() -> list[Record]:
    """A turn that asks the same tool three times, and a nested one."""
    ids: dict[str, Any] = {"session_id": "loops", "trace_id": "9f" * 16, "agent_name": "poller"}
    user = message("user", said("Wait for it."), scope="loops")
    polls = [message("assistant", asked(f"p{n}", "poll"), scope="loops") for n in (1, 2, 3)]
    busy = [message("tool", answered(f"p{n}", "busy"), scope="loops") for n in (1, 2, 3)]
    here: dict[str, Any] = {**ids, "turn_id": "7a" * 8}
    return [
        *(user, *polls, *busy),
        turn("7a" * 8, 100, **ids, user_message="Wait for it.", rounds=3, tool_call_count=3,
             stop_reason="loop_detected: poll", max_identical_tool_streak=3, no_progress_rounds=2,
             cost_usd=Decimal("0.5"), duration=9.0),
        *(call(f"7b0000000000000{n}", 100 + 3 * n, **here, round=n, duration=0.5 * n,
               input_messages=hashes(user, *polls[:n - 1], *busy[:n - 1]),
               output_messages=hashes(polls[n - 1]), input_tokens=100 * n, output_tokens=10)
          for n in (1, 2, 3)),
        *(tool(f"7c0000000000000{n}", 101 + 3 * n, **here, round=n, name="poll", call_id=f"p{n}",
               arguments="{}", result="busy", duration=0.25) for n in (1, 2, 3)),
        turn("7d" * 8, 104, **{**ids, "agent_name": "helper"}, parent_turn_id="7a" * 8,
             status="interrupted", stop_reason=""),
    ]  # fmt: skip


def twins() -> list[Record]:
    """Two answers to one question."""
    made: list[Record] = []
    for number, (id_, answer) in enumerate((("8a" * 8, "Blue."), ("8b" * 8, "Green."))):
        ids: dict[str, Any] = {"session_id": f"twin-{number}", "turn_id": id_}
        user, reply = (
            message(role, said(text), scope=f"twin-{number}")
            for role, text in (("user", "Which colour?"), ("assistant", answer))
        )
        made += [
            *(user, reply),
            turn(id_, 400 + number, session_id=f"twin-{number}", user_message="Which colour?",
                 response_text=answer, rounds=1, user_id="ada"),
            call(f"8c0000000000000{number}", 400.5 + number, **ids, round=1,
                 input_messages=hashes(user), output_messages=hashes(reply)),
        ]  # fmt: skip
    return made


def records() -> list[Record]:
    """A told session, a looping one, two answers to one question, contexts, an experiment,
    consortium runs, what was written, and judgments of them."""
    return [
        *story(),
        *looping(),
        *twins(),
        *assembled(),
        *camp_rows(),
        *consortium_rows(),
        *artifact("written", "page.md", "A page.\n", turn_id=TURN, created_at=T0 + 3 * SECOND),
        judgment("outcome", TURN, "j1", outcome="used"),
        judgment("training_flag", TURN, "j2", training_flag=1),
        judgment("score", TURN, "j3", score=8.0, author="grace", comment="clear"),
        judgment("outcome", "e5" * 8, "j4", outcome="rejected", comment="cut short"),
        judgment("outcome", "8a" * 8, "j7", outcome="used"),
        judgment("outcome", "8b" * 8, "j8", outcome="rejected"),
        judgment("comment", "7a" * 8, "j5", comment="It does not stop."),
        judgment("preference", ATTEMPTS[2], "j6", subject_kind="attempt", chosen_id=ATTEMPTS[2],
                 rejected_id=ATTEMPTS[1]),
        Withdrawal(project=PROJECT, subject_kind="turn", subject_id="7a" * 8, kind="comment",
                   withdrawal_id="w1", annotation_id="j5", author="ada",
                   created_at=T0 + 300 * SECOND, written_at=T0 + 300 * SECOND),
    ]  # fmt: skip


@pytest.fixture(scope="session")
def records_dsn(tmp_path_factory: pytest.TempPathFactory) -> Dsn:
    """The store with these records; tests only read it."""

    def fill(folder: Path) -> None:
        with open_store(Dsn(scheme="chdb", path=folder / "store")) as store:
            migrate(store)
            insert(store, *records())

    return Dsn(scheme="chdb", path=made_once(tmp_path_factory, "snapshots", fill) / "store")


@pytest.fixture(scope="module")
def copied_dsn(records_dsn: Dsn, tmp_path_factory: pytest.TempPathFactory) -> Dsn:
    """A copy of it, for a module that writes."""
    folder = tmp_path_factory.mktemp("copied") / "store"
    assert records_dsn.path is not None
    shutil.copytree(records_dsn.path, folder, symlinks=True)
    return Dsn(scheme="chdb", path=folder)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home of this module's own, a user called ada, and no variable of the machine."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name in [*os.environ]:
            if name.startswith(("TURNSPAN_", "OTEL_")) and not name.startswith("TURNSPAN_TEST_"):
                patch.delenv(name)
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        patch.setenv("LOGNAME", "ada")
        for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
            patch.delenv(name, raising=False)
        yield folder


def _look_up(store: Store) -> None:
    for id_ in (TURN, TURN[:8]):
        assert find(store, id_)


@pytest.fixture(scope="session")
def opening(records_dsn: Dsn) -> Mapping[str, Asked]:
    """What nearly every question sends, and stands once: by which statements a store that is up to
    date is opened, and an id, or the beginning of one, is looked up."""
    recorder = Recorder({})
    with recorder.recording(), open_dsn(records_dsn) as store:
        return {
            "opening": recorder.noted(None),
            "looking-up": recorder.ask(lambda: _look_up(store)),
        }


@pytest.fixture(scope="module")
def recorder(
    home: Path, records_dsn: Dsn, copied_dsn: Dsn, opening: Mapping[str, Asked]
) -> Iterator[Recorder]:
    """Notes what this module's questions send beside what nearly all do."""
    places = {
        str(records_dsn.path): "<store>",
        str(copied_dsn.path): "<store>",
        str(home): "<home>",
    }
    made = Recorder(places, [text for one in opening.values() for text in one.statements])
    with pytest.MonkeyPatch.context() as patch, made.recording():
        # Whether something was forgotten is asked at every landing, not when seconds have passed.
        patch.setattr(forgotten, "LOOK_SECONDS", -1.0)
        patch.setattr(freed_parts, "old_parts", _old_parts)
        yield made


def _old_parts(
    store: Store, records: Collection[type[Record]], where: str = "NOT active"
) -> dict[type[Record], int]:
    """Every table has old parts at first, and none later: in which the engine has removed its own
    already depends on how long a test takes."""
    found = old_parts(store, records, where)
    if where != "NOT active":
        return found
    return dict.fromkeys(records, 1) if len(records) > 1 else {}


@pytest.fixture(scope="module")
def sql(asked: Mapping[str, Asked], records_dsn: Dsn) -> Mapping[str, str]:
    """What the questions of a module sent (its fixture ``asked``), formatted."""
    with open_store(records_dsn) as store:
        return formatted(store, [*{text for one in asked.values() for text in one.statements}])
