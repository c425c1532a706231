"""A process or a machine that has too little of something, for a while: nothing is lost by it."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import turnspan
from land.spooling import ask, calls, no_more_files, spooled
from support.representatives import few
from turnspan import lifecycle
from turnspan.runtime.guard import errors
from turnspan_clickhouse.errors import SpoolError
from turnspan_clickhouse.exporter import ClickHouseSpanExporter
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall, SpanRow, ToolCall
from turnspan_clickhouse.ship import unwritten
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.access.spooled import refused

pytestmark = pytest.mark.with_schema

COUNT = "SELECT count(), uniqExact(span_id) FROM tool_call"


def tools(count: int) -> None:
    """Record so many tool calls."""
    for _ in range(count):
        with turnspan.tool("t"):
            pass


def test_too_many_open_files(server_dsn: Dsn) -> None:
    """EMFILE, wherever the spool or the shipper opens something: rows wait in memory, then in the
    spool, flush says that they are not there yet, and all land when the files are closed."""
    with open_store(server_dsn) as store:
        migrate(store)
    turnspan.configure(store=str(server_dsn), flush_interval=0.02)
    try:
        tools(1)
        assert turnspan.flush().ok
        with no_more_files():
            tools(50)
            time.sleep(0.3)
            for local in (True, False):
                flushed = turnspan.flush(5, local=local)
                assert (flushed.ok, dict(flushed.dropped)) == (False, {})
                assert flushed.accounts.queued >= 50
        assert turnspan.flush().ok
        assert errors.counts() == {}
    finally:
        turnspan.shutdown()
    assert ask(server_dsn, COUNT) == [(51, 51)]


FIRST_TIMES = """
import sys
import turnspan
from land.spooling import no_more_files
from turnspan.runtime.guard import errors

turnspan.configure(store=sys.argv[1], flush_interval=0.02)
with no_more_files():
    with turnspan.session("s"), turnspan.agent("a"):
        turnspan.inject({})
        turnspan.current_turn().set(intent="i")
        turnspan.annotate(outcome="used")
        for scope in (turnspan.tool("t", arguments={"a": 1}), turnspan.step("s"),
                      turnspan.agent("b"), turnspan.workflow("w"),
                      turnspan.inference(provider="openai", model="m")):
            try:
                with scope:
                    raise ValueError("x")
            except ValueError:
                pass
        with turnspan.inference(provider="openai", model="m", messages=[
            {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url",
             "image_url": {"url": "data:image/png;base64,AAAA"}}]}]) as call:
            call.response(text="x", id="1")
    assert not turnspan.flush(5).ok
print(turnspan.flush(20).ok, dict(turnspan.flush().dropped), errors.counts())
"""


def test_what_is_done_for_the_first_time_opens_no_file(embedded_dsn: Dsn) -> None:
    """Nothing that a recording thread needs is imported when no file can be opened any more."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_TIMES, str(embedded_dsn)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True {} {}\n"


def test_a_shipper_with_too_many_open_files(server_dsn: Dsn) -> None:
    """What cannot be listed, read or sent is said to be so, and stays."""
    with open_store(server_dsn) as store:
        migrate(store)
    spool = Spool(server_dsn.spool)
    writer = spooled(spool, *calls(0, 4))
    with no_more_files():
        result = ship(server_dsn)
    assert "Too many open files" in result.errors[0]
    assert (result.shipped_segments, result.rejected) == (0, 0)
    assert ship(server_dsn).shipped_rows == 4
    writer.close()


PASSING = (
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.EINTR, errno.ENOSPC),
    *(errno.EDQUOT, errno.EIO, errno.EROFS, errno.ESTALE, errno.ENETDOWN, errno.EFBIG),
)


@pytest.mark.parametrize(
    "number",
    few(PASSING, [errno.ENOSPC, errno.EMFILE]),
    ids=lambda number: errno.errorcode[number],
)
def test_whatever_keeps_the_spool_from_being_written(
    number: int, embedded_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It passes, and the rows were only late: nothing is dropped, nothing is written twice."""
    turnspan.configure(store=str(embedded_dsn), flush_interval=0.02)
    try:
        tools(1)
        assert turnspan.flush().ok

        def broken(*_: object, **__: object) -> int:
            raise OSError(number, os.strerror(number))

        with monkeypatch.context() as trouble:
            trouble.setattr(os, "open", broken)
            tools(5)
            time.sleep(0.1)
            flushed = turnspan.flush()
            assert (flushed.ok, dict(flushed.dropped)) == (False, {})
            tools(5)
        assert turnspan.flush().ok
    finally:
        turnspan.shutdown()
    ship(embedded_dsn)
    assert ask(embedded_dsn, COUNT) == [(11, 11)]


def test_the_room_in_memory_is_bounded(
    embedded_dsn: Dsn, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """When it is used up the plain spans go first, each row counted; the log has a line for the
    trouble, one for the first loss and one for the end."""
    monkeypatch.setattr(unwritten, "ROOM_BYTES", 12_000)
    turnspan.configure(store=str(embedded_dsn), flush_interval=0.02)
    running = lifecycle.default_recorder.processor
    assert running is not None
    exporter = running.exporter
    assert isinstance(exporter, ClickHouseSpanExporter)
    try:
        tools(1)
        assert turnspan.flush().ok
        with no_more_files():
            for _ in range(30):
                tools(1)
                assert not turnspan.flush(local=True).ok
            assert 0 < exporter.unwritten() < 60
        dropped = turnspan.flush().dropped
        assert 0 < dropped["spool_failed:span"] <= 30
        assert dropped.get("spool_failed:tool_call", 0) < dropped["spool_failed:span"]
        assert turnspan.flush().ok
    finally:
        turnspan.shutdown()
    ship(embedded_dsn)
    kept = ask(embedded_dsn, COUNT)
    assert kept == [(31 - dropped.get("spool_failed:tool_call", 0),) * 2]
    ours = [line for line in caplog.messages if "spool" in line and "has not landed" not in line]
    assert [line.partition(",")[0] for line in ours] == [
        "Turnspan cannot write its spool",
        "Turnspan cannot write its spool",
        "Turnspan writes its spool again.",
    ]


def test_what_still_waits_in_memory_at_the_end_is_counted(
    embedded_dsn: Dsn, caplog: pytest.LogCaptureFixture
) -> None:
    """The process ends and the disk is still full: lost, and not silently."""
    turnspan.configure(store=str(embedded_dsn), flush_interval=3600)
    tools(1)
    assert turnspan.flush().ok
    with no_more_files():
        tools(3)
        result = turnspan.shutdown()
    assert not result.ok
    assert result.dropped == {"spool_failed:tool_call": 3, "spool_failed:span": 3}
    assert "dropped 6 (spool_failed:span 3, spool_failed:tool_call 3)" in caplog.text


def test_a_segment_that_the_disk_does_not_give_back(
    store_dsn: Dsn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EIO: it is set aside, where it can be tried again, and the others land."""
    spool = Spool(store_dsn.spool)
    writer = SpoolWriter(spool)
    paths = [
        writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, calls(n, 1)))
        for n in range(5)
    ]
    read = Path.read_bytes

    def failing(path: Path) -> bytes:
        if path.name == paths[2].name:
            raise OSError(errno.EIO, "Input/output error")
        return read(path)

    with monkeypatch.context() as broken:
        broken.setattr(Path, "read_bytes", failing)
        result = ship(store_dsn)
    assert (result.shipped_segments, result.rejected, result.errors) == (4, 1, [])
    (one,) = refused(spool)
    assert one.reason == "The file cannot be read: Input/output error."
    writer.close()


def test_the_least_important_waits_least(embedded_dsn: Dsn) -> None:
    """As in a full spool: plain spans go before tools, tools before calls, the oldest first."""
    written: list[str] = []
    lost: list[tuple[str, bytes]] = []

    def refuse(block: unwritten.EncodedRows) -> None:
        written.append(block.kind.table)
        raise SpoolError("full")

    waiting = unwritten.Unwritten(refuse, lambda b, _: lost.append((b.kind.table, b.content)))
    for kind, content in ((LlmCall, b"1"), (SpanRow, b"2"), (ToolCall, b"3"), (SpanRow, b"4")):
        waiting.add(unwritten.EncodedRows(kind, 1, content))
    waiting.give_up(SpoolError("the end"))
    assert lost == [("span", b"2"), ("span", b"4"), ("tool_call", b"3"), ("llm_call", b"1")]
    assert waiting.rows == 0


def test_no_thread_to_give(server_dsn: Dsn, monkeypatch: pytest.MonkeyPatch) -> None:
    """EAGAIN: what was recorded is in the spool all the same, and is shipped once there is one."""
    with open_store(server_dsn) as store:
        migrate(store)
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name in ("turnspan-shipper", "turnspan-exporter"):
            raise RuntimeError("can't start new thread")
        start(thread)

    with monkeypatch.context() as trouble:
        trouble.setattr(threading.Thread, "start", refuse)
        turnspan.configure(store=str(server_dsn), flush_interval=0.02)
        tools(3)
        assert not turnspan.flush().ok
        assert len(Spool(server_dsn.spool).segments()) > 0
    try:
        assert turnspan.flush().ok
    finally:
        turnspan.shutdown()
    assert ask(server_dsn, COUNT) == [(3, 3)]
