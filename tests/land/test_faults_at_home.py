"""A spool in trouble: a full or read-only disk, no folder, strange files, a wrong clock."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from land.spooling import ask
from land.trial import ROWS, Figures, Trial, on_page
from support.kept_stores import copy_schema
from support.small_disk import SmallDisk, small_disk
from turnspan.pipeline.processor import RecordProcessor
from turnspan.tracing.state import default
from turnspan_clickhouse import ClickHouseSpanExporter
from turnspan_clickhouse.rows import native_encoder
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, migrate
from turnspan_clickhouse.store.opening import open_store

pytestmark = [pytest.mark.with_schema, pytest.mark.usefixtures("kept_engine")]


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SmallDisk]:
    """A disk of 512 KiB, and the spool on it."""
    with small_disk(tmp_path / "disk", 512 * 1024) as made:
        monkeypatch.setenv("TURNSPAN_SPOOL", str(made.folder / "spool"))
        yield made


class Application:
    """Records spans through the whole pipeline; what the exporter could not keep, it counted."""

    def __init__(self, dsn: Dsn) -> None:
        with open_store(dsn) as store:
            migrate(store)
        self.dsn = dsn
        self.exporter = ClickHouseSpanExporter(str(dsn))
        self.processor = RecordProcessor(self.exporter, flush_interval=3600)
        self.provider = TracerProvider()
        self.provider.add_span_processor(self.processor)
        self.emitted = 0

    def work(self, batches: int, spans: int = 10) -> bool:
        """So many exports of plain spans; whether all were accepted."""
        tracer = self.provider.get_tracer("t")
        fine = True
        for _ in range(batches):
            for _ in range(spans):
                tracer.start_span(f"n{self.emitted}", attributes={"text": "x" * 300}).end()
                self.emitted += 1
            fine = self.processor.force_flush() and fine
        return fine

    def figures(self) -> Figures:
        """What became of the span rows, after all that can land has landed."""
        ship(self.dsn, deadline=time.monotonic() + 30)
        ((count, distinct),) = ask(self.dsn, "SELECT count(), uniqExact(span_id) FROM span")
        dropped = sum(
            rows for reason, rows in self.exporter.dropped().items() if reason.endswith(":span")
        )
        return Figures(self.emitted, distinct, count - distinct, dropped)


@pytest.fixture
def application(request: pytest.FixtureRequest) -> Iterator[Application]:
    """An application that records to the embedded store, whose spool is on the small disk where
    there is one."""
    if "disk" in request.fixturenames:
        request.getfixturevalue("disk")
    dsn: Dsn = request.getfixturevalue("bare_dsn")
    made = Application(dsn)
    yield made
    made.provider.shutdown()


@pytest.fixture
def bare_dsn(tmp_path: Path) -> Dsn:
    """An embedded store; unlike ``embedded_dsn`` it leaves TURNSPAN_SPOOL as it is."""
    copy_schema(tmp_path / "store")
    return Dsn(scheme="chdb", path=tmp_path / "store")


def test_a_full_disk(disk: SmallDisk, application: Application) -> None:
    """What finds no room waits in memory; what was written before is whole and lands although the
    disk is full, which makes room for some."""
    assert application.work(3)
    disk.fill()
    assert not application.work(4)
    waited = application.exporter.unwritten()
    assert waited >= 40
    assert ship(application.dsn).ok
    application.work(1)
    assert application.exporter.unwritten() < waited
    disk.relieve()
    assert application.work(2)
    found = application.figures()
    assert (found.landed, found.dropped, found.duplicated) == (100, 0, 0)
    on_page("disk full", found)


def test_a_full_disk_and_a_damaged_segment(
    disk: SmallDisk, store_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is no room to set it aside: the others land past it, which makes some."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(disk.folder / "spool"))
    with open_store(store_dsn) as store:
        migrate(store)
    trial = Trial(store_dsn)
    trial.emit(2)
    for garbage in (b"", b"\xff" * 2_000):
        trial.writer.write("llm_call", SCHEMA_VERSION, garbage)
    trial.emit(10)
    trial.emitted += 1
    one = encode_block(LlmCall, [LlmCall(project="p", session_id="s", span_id="late")])
    disk.fill()
    assert trial.ship().shipped_segments == 12
    trial.writer.write("llm_call", SCHEMA_VERSION, one)
    trial.ship()
    disk.relieve()
    assert trial.ship().errors == []
    assert len(trial.spool.rejected()) == 2
    trial.accounted("disk full, and a damaged segment first")


def test_a_read_only_disk(disk: SmallDisk, bare_dsn: Dsn) -> None:
    """Nothing can be written nor shipped until it is repaired; what had waited lands once."""
    before = Application(bare_dsn)
    assert before.work(3)
    before.provider.shutdown()
    disk.read_only(True)
    application = Application(bare_dsn)
    application.emitted = before.emitted
    assert not application.work(2)
    result = ship(bare_dsn)
    assert result.remaining > 0
    assert "Read-only file system" in result.errors[0]
    disk.read_only(False)
    assert application.work(2)
    found = application.figures()
    application.provider.shutdown()
    assert (found.landed, found.dropped, found.duplicated) == (70, 0, 0)
    on_page("spool on a read-only disk", found)


def test_a_spool_that_is_removed(application: Application) -> None:
    """Somebody deletes the folder of a running application: the next write makes it anew. (What
    waited in it is gone with it; here it had landed.)"""
    assert application.work(2)
    assert ship(application.dsn).ok
    shutil.rmtree(application.dsn.spool)
    assert application.work(2)
    found = application.figures()
    assert (found.landed, found.dropped, found.duplicated) == (40, 0, 0)
    on_page("spool folder removed while running", found)


def test_a_batch_over_the_limit_is_split(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By rows, as long as there are several: no segment is larger, but that of one large row."""
    monkeypatch.setattr(native_encoder, "MAX_BLOCK", 10_000)
    tracer = application.provider.get_tracer("t")
    tracer.start_span("large", attributes={"text": "x" * 30_000}).end()
    application.emitted += 1
    assert application.work(1, spans=200)
    sizes = [s.size for s in Spool(application.dsn.spool).segments() if s.table == "span"]
    assert sorted(size > 10_000 for size in sizes) == [False] * (len(sizes) - 1) + [True]
    found = application.figures()
    assert (found.landed, found.dropped, found.duplicated) == (201, 0, 0)
    on_page("a batch over an insert's limit", found)


def test_a_spool_at_its_limit(store_dsn: Dsn) -> None:
    """The oldest go, and each row that went is counted."""
    with open_store(store_dsn) as store:
        migrate(store)
    trial = Trial(store_dsn)
    trial.emit(1)
    size = trial.spool.segments()[0].size
    trial.spool.limit_bytes = size * 10 + size // 2
    trial.emit(29)
    assert trial.figures().dropped == 20 * ROWS
    assert trial.ship().ok
    trial.accounted("spool at its limit")


def test_strange_files_in_the_spool(store_dsn: Dsn) -> None:
    """Half-written ones of a dead process, other people's, folders and dangling links are left
    alone; what only has a segment's name is set aside."""
    with open_store(store_dsn) as store:
        migrate(store)
    trial = Trial(store_dsn)
    trial.emit(5)
    folder = trial.spool.folder
    name = trial.spool.segments()[0].name
    half = folder / name.replace(".native", "x.native.tmp")
    half.write_bytes(b"half")
    os.utime(half, (0, 0))
    (folder / "README.txt").write_text("what is this folder?")
    (folder / "x.native").write_bytes(b"not a segment's name")
    (folder / name.replace("-", "-other", 1)).mkdir()
    (folder / name.replace("-", "-link", 1)).symlink_to(folder / "nowhere")
    (folder / name.replace("-", "-garbage", 1)).write_bytes(b"\xff" * 2_000)
    result = trial.ship()
    assert (result.shipped_segments, result.rejected, result.errors) == (5, 1, [])
    assert not half.exists()
    assert {path.name for path in folder.iterdir() if path.is_file()} == {
        "README.txt",
        "x.native",
        "ship.lock",
        "totals.json",
    }
    on_page("half-written and strange files in the spool", trial.figures())


def test_a_clock_that_is_set_back(store_dsn: Dsn, monkeypatch: pytest.MonkeyPatch) -> None:
    """By an hour, between two writes and between two passes: names are no longer in order, a pass
    of another process lies in the future, and everything lands once."""
    with open_store(store_dsn) as store:
        migrate(store)
    trial = Trial(store_dsn)
    trial.emit(5)
    assert trial.ship().ok
    for ahead in (7200, 3600):
        trial.emit(5)
        for segment in trial.spool.segments():
            when = time.strftime("%Y%m%dT%H%M%S", time.gmtime(time.time() + ahead))
            segment.path.rename(segment.path.with_name(when + segment.name[15:]))
    lock = trial.spool.folder / "ship.lock"
    lock.write_text(json.dumps({"shipper": "another-1", "shipped": time.time() + 3600}))
    assert trial.ship().ok
    trial.accounted("clock set back an hour")


def test_a_running_turn_is_replaced_whatever_the_clock_says(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest write of a record wins by its write time, which only grows."""
    default.provider = application.provider
    now = time.time_ns
    try:
        with turnspan.agent("a"):
            application.exporter.force_flush()
            monkeypatch.setattr(time, "time_ns", lambda: now() - 3600 * 10**9)
        application.processor.force_flush()
    finally:
        default.provider = None
    ship(application.dsn)
    with open_store(application.dsn) as store:
        assert store.query("SELECT status FROM turn_summary").rows == [("final",)]
    assert not default.content.dropped


class Poison:
    """A tool's argument that cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


@pytest.fixture
def recording_to(store_dsn: Dsn) -> Iterator[Dsn]:
    """The whole product records to the store."""
    with open_store(store_dsn) as store:
        migrate(store)
    turnspan.configure(service_name="s", store=str(store_dsn), flush_interval=3600)
    yield store_dsn
    turnspan.shutdown()


@pytest.mark.tests_internal_errors
def test_a_poison_record_among_500(recording_to: Dsn) -> None:
    """It costs nobody else anything, and is there itself without what cannot be shown."""
    for number in range(500):
        with turnspan.tool("work", arguments={"n": Poison() if number == 250 else number}):
            pass
    assert set(turnspan.flush().dropped) == {"internal_error"}
    assert ship(recording_to, deadline=time.monotonic() + 30).ok
    ((count, distinct),) = ask(recording_to, "SELECT count(), uniqExact(span_id) FROM tool_call")
    assert (count, distinct) == (500, 500)
    on_page("a poison record among 500", Figures(500, distinct, count - distinct, 0))


@pytest.mark.release
def test_a_20_mb_prompt_with_30_images(recording_to: Dsn) -> None:
    """One call, one message, every byte of it."""
    turnspan.shutdown()
    turnspan.configure(
        service_name="s", store=str(recording_to), flush_interval=3600, capture_media=True
    )
    image = base64.b64encode(random.Random(3).randbytes(500_000)).decode()
    parts: list[dict[str, Any]] = [{"type": "text", "text": "look at these " * 1_000}]
    for number in range(30):
        url = f"data:image/png;base64,{number:04d}{image}"
        parts.append({"type": "image_url", "image_url": {"url": url}})
    assert sum(len(str(part)) for part in parts) > 20_000_000
    messages = [{"role": "user", "content": parts}]
    with turnspan.inference(provider="openai", model="gpt-4o", messages=messages) as call:
        call.response(text="thirty pictures")
    turnspan.flush()
    assert ship(recording_to, deadline=time.monotonic() + 30).ok
    ((count, distinct),) = ask(recording_to, "SELECT count(), uniqExact(span_id) FROM llm_call")
    (found,) = ask(recording_to, "SELECT parts FROM message WHERE role = 'user'")
    assert len(found[0]) > 20_000_000
    landed = json.loads(found[0])
    assert [part["content"] for part in landed[1:]] == [
        part["image_url"]["url"].partition(",")[2] for part in parts[1:]
    ]
    on_page("a 20 MB prompt with 30 images", Figures(1, distinct, count - distinct, 0))
