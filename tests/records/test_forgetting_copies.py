"""Forgetting reaches archives, exported sets and the spool, killed at any moment or not."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from land.spooling import spooled
from support.forgetting import (
    OF_ONE,
    archive_of,
    canary,
    contents,
    everything,
    holding,
    naming,
    session_of,
    set_of,
)
from support.kept_stores import migrated
from support.landing import insert
from support.representatives import few
from support.rows import PROJECT, call
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn, data_folder, parse
from turnspan_clickhouse.store.migrations import migrate, store_id
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access import copies_registry as registry
from turnspan_records.access.whole_folders import hashed
from turnspan_records.keeping import Archive, ForgetSubject, forget, plan, restore
from turnspan_records.keeping.subject_keys import SubjectKind

MOMENTS = int(os.environ.get("TURNSPAN_KILL_MOMENTS", "2"))
"""At how many moments a forgetting is killed; 50 take some minutes."""


@pytest.fixture
def data_home(tmp_path: Path) -> Path:
    """Where copies lie; the test's own."""
    return tmp_path


def test_archives_and_sets_lose_what_was_forgotten(embedded: Store, data_home: Path) -> None:
    """Their manifests say what is there now; a restore brings back the others alone."""
    insert(embedded, *everything("bob"))
    before = contents(embedded)
    insert(embedded, *everything("ada"))
    archive_of(embedded, data_home / "both", "ada", "bob")
    archive_of(embedded, data_home / "copy-elsewhere", "ada", "bob")
    archive_of(embedded, data_home / "only-ada", "ada-")
    for form in ("trl", "openai", "parquet"):
        set_of(embedded, data_home / form, "ada", "bob", form=form)
    elsewhere = data_home / "elsewhere"
    (data_home / "copy-elsewhere").rename(elsewhere)

    done = forget(
        embedded, ForgetSubject("session", session_of("ada"), PROJECT), texts=[canary("ada")]
    )

    assert done.proof.left == []
    assert done.copies.exported == 3
    assert done.copies.failed == {}
    for name in ("both", "trl", "openai", "parquet"):
        assert holding(data_home / name, "ada-") == []
        assert holding(data_home / name, canary("bob"))
    # Of a prompt that is everybody's, which the archive has beside its rows, nothing is known.
    assert holding(data_home / "only-ada", "ada-") == []
    Archive(data_home / "both").verify()
    for form in ("trl", "openai", "parquet"):
        manifest = json.loads((data_home / form / "manifest.json").read_text())
        assert manifest["counts"]["lines"] == manifest["splits"]["train"]["prompts"] == 1
        assert manifest["forgotten"] == 1
        for file in manifest["files"]:
            path = data_home / form / file["name"]
            assert (file["sha256"], file["bytes"]) == (hashed(path), path.stat().st_size)
            assert file["lines"] == 1
        card = (data_home / form / "README.md").read_text()
        assert "| train | 1 | 1 |" in card
        assert card.endswith("Forgotten since: 1 line.\n")
    # A copy of the archive that nobody knows of does not bring it back.
    back = restore(embedded, elsewhere)
    assert sum(back.forgotten.values()) == OF_ONE
    assert contents(embedded) == before


@pytest.mark.release
def test_beside_a_shipper_and_an_application(server_dsn: Dsn) -> None:
    """Nothing of the one comes through, and nothing of the others is lost."""
    with migrated(server_dsn) as store:
        insert(store, *everything("ada"))
        spool, stop = Spool(server_dsn.spool), threading.Event()
        written: list[str] = []

        def record() -> None:
            writer = spooled(spool, call("first", session_id="other"))
            number = 0
            while not stop.is_set():
                written.append(f"c{number}")
                rows = (call(f"c{number}", session_id="other"),
                        call(f"a{number}", session_id=session_of("ada")))  # fmt: skip
                spooled(spool, *rows).close()
                number += 1
                time.sleep(0.01)
            writer.close()

        def land() -> None:
            while not stop.is_set():
                ship(server_dsn)

        threads = [threading.Thread(target=one) for one in (record, land)]
        for thread in threads:
            thread.start()
        try:
            while not store.query("SELECT count() FROM llm_call WHERE session_id = 'other'").rows:
                time.sleep(0.05)
            forget(store, ForgetSubject("session", session_of("ada"), PROJECT), settle=0.0)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert ship(server_dsn).ok
        found = store.query("SELECT session_id, count() FROM llm_call GROUP BY 1").rows
        assert found == [("other", len(written) + 1)]
        assert spool.segments() == []


@pytest.mark.release
@pytest.mark.parametrize("kind", ["embedded", "server"])
def test_killed_at_any_moment_and_done_again(
    kind: str, request: pytest.FixtureRequest, data_home: Path
) -> None:
    """The others are whole, nothing of the one is anywhere, and nothing comes back."""
    dsn: Dsn = request.getfixturevalue(f"{kind}_dsn")
    dice = random.Random(7)
    with migrated(dsn) as store:
        insert(store, *everything("bob"))
        before = contents(store)
    killed = 0
    for number in range(max(1, MOMENTS // 2)):
        name = f"ada{number:02}"
        rows = everything(name)
        with open_store(dsn) as store:
            insert(store, *rows)
            archive_of(store, data_home / f"archive-{name}", name, "bob")
            set_of(store, data_home / f"set-{name}", name, "bob")
        spooled(Spool(dsn.spool), *rows[:4], call(f"{name}-other", session_id="bob")).close()
        killed += forget_and_be_killed(dsn, name, dice.randrange(1, 190), dice.random() * 0.02)
        with open_store(dsn) as store:
            again = forget(
                *(store, ForgetSubject("session", session_of(name), PROJECT)),
                texts=[canary(name)], settle=0.0,
            )  # fmt: skip
            assert again.proof.left == [], (number, again.proof.left)
            insert(store, *rows[:4])
            spooled(Spool(dsn.spool), *rows).close()
            assert ship(store).ok
            assert naming(contents(store), canary(name)).keys() <= {
                *("turn_summary", "llm_call", "llm_call_running", "tool_call", "definition")
            }
            done = forget(store, ForgetSubject("session", session_of(name), PROJECT), settle=0.0)
            assert done.proof.left == []
            left = contents(store)
            assert len(left["llm_call"]) == len(before["llm_call"]) + number + 1
            assert {k: v for k, v in left.items() if k != "llm_call"} == {
                k: v for k, v in before.items() if k != "llm_call"
            }
            assert store.query("SELECT count() FROM keeping_row").rows in ([(0,)], [])
        for folder in (f"archive-{name}", f"set-{name}"):
            assert holding(data_home / folder, name) == []
            assert holding(data_home / folder, canary("bob"))
        assert not [path for path in data_home.rglob(".*") if path.suffix in (".new", ".old")]
    assert killed


def forget_and_be_killed(dsn: Dsn, name: str, statement: int, seconds: float) -> bool:
    """Forget somebody in a process that is killed so long after this statement has begun."""
    text = f"{dsn.scheme}://{dsn.user}@{dsn.host}:{dsn.port}/{dsn.database}"
    if dsn.path is not None:
        text = f"chdb://{dsn.path}"
    script = Path(__file__).with_name("forgetting_process.py")
    arguments = [sys.executable, str(script), text, name, str(statement), str(seconds)]
    tests = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": tests}
    ended = subprocess.run(arguments, env=environment, capture_output=True, timeout=90, check=False)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr.decode()
    return ended.returncode != 0


@pytest.mark.parametrize("kind", few(["session", "user", "turn", "project"], ()))
def test_a_plan_names_what_forgetting_touches(
    embedded: Store, data_home: Path, kind: SubjectKind
) -> None:
    """The same archives and sets with as many rows and lines, before anything is changed; what was
    forgotten before is no news of theirs."""
    insert(embedded, *everything("bob"))
    forget(embedded, ForgetSubject("session", session_of("bob"), PROJECT))
    insert(embedded, *everything("ada", user="ada@example.org"))
    archive_of(embedded, data_home / "archive", "ada")
    archive_of(embedded, data_home / "nobody", "nobody")
    for form in ("trl", "openai", "parquet"):
        set_of(embedded, data_home / form, "ada", "eve", form=form)
    before = {path: path.read_bytes() for path in data_home.rglob("*") if path.is_file()}
    id_ = {"session": session_of("ada"), "user": "ada@example.org", "turn": "ada-turn-01"}
    subject = ForgetSubject(kind, id_.get(kind, PROJECT), PROJECT)

    planned = plan(embedded, subject)
    kept = {path: path.read_bytes() for path in before if "store" not in path.parts}
    assert kept == {path: before[path] for path in kept}
    done = forget(embedded, subject)

    assert planned.copies == done.copies
    assert {"archive", "trl", "openai", "parquet"} <= {p.name for p in planned.copies.folders}
    assert planned.copies.exported == (6 if kind == "project" else 3)


@pytest.mark.release
def test_a_copy_belongs_to_the_store_that_it_was_made_from(
    embedded: Store, tmp_path: Path, data_home: Path
) -> None:
    """Another store's forgetting of the same names leaves it alone; one that does not say whose it
    is is named, and left until somebody says so."""
    names = ("archive", "set", "unknown")
    with open_store(parse(f"chdb://{tmp_path / 'other'}")) as other:
        migrate(other)  # a copy would be the same store
        for store in (other, embedded):
            insert(store, *everything("ada"), *everything("bob"))
        archive_of(other, data_home / "archive", "ada", "bob")
        set_of(other, data_home / "set", "ada", "bob")
        set_of(other, data_home / "unknown", "ada", "bob")
        known = data_folder() / registry.NAME
        lines = [json.loads(line) for line in known.read_text().splitlines()]
        lines[-1].pop("store")  # as a version before wrote it
        known.write_text("".join(json.dumps(line) + "\n" for line in lines))
        own = store_id(other)
        subject = ForgetSubject("session", session_of("ada"), PROJECT)
        foreign = plan(embedded, subject).copies
        assert (foreign.folders, foreign.unknown) == ([], [data_home / "unknown"])
        done = forget(embedded, subject)
        assert [one.where for one in done.proof.left] == [str(data_home / "unknown")]
        assert all(holding(data_home / name, "ada-") for name in names)

        planned = plan(other, subject).copies
        assert planned.folders == [data_home / "archive", data_home / "set"]
        assert all(holding(data_home / name, "ada-") for name in names)
        mine = registry.adoptable(data_home / "unknown", own)
        assert mine is not None
        registry.register(mine.kind, mine.path, own)
        assert len(plan(other, subject).copies.folders) == 3
        assert forget(other, subject).proof.left == []
    assert not any(holding(data_home / name, "ada-") for name in names)
