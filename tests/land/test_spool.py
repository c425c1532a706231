"""The spool: whole files or none, private, bounded, and aware of which writers live."""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import stat
import time
import zlib
from pathlib import Path

import pytest

from land.processes import run_python, writer_process
from land.spooling import largest_file
from turnspan_clickhouse.errors import SpoolError
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.files.lock_holders import host_and_pid
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall, SpanRow, ToolCall
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter

CALLS = encode_block(LlmCall, [LlmCall(span_id=str(n)) for n in range(3)])
SPANS = encode_block(SpanRow, [SpanRow(span_id=str(n)) for n in range(5)])
TOOLS = encode_block(ToolCall, [ToolCall(span_id=str(n)) for n in range(2)])


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    """A spool whose folder does not exist yet."""
    return Spool(tmp_path / "data" / "spool")


def dead(spool: Spool) -> list[str]:
    """The tokens of dead writers, left as they are."""
    return [path.stem for path in spool.dead_writers()]


def test_nothing_is_created_before_the_first_write(spool: Spool) -> None:
    """A spool and its writer may be made where nothing can be written."""
    SpoolWriter(spool).close()
    assert spool.segments() == []
    assert spool.usage().segments == 0
    assert not spool.folder.exists()


def test_a_segment_s_name_says_what_it_is(spool: Spool) -> None:
    """UTC time, host, process, sequence, schema version, table."""
    writer = SpoolWriter(spool)
    path = writer.write("llm_call", 24, CALLS)
    assert re.fullmatch(
        rf"\d{{8}}T\d{{6}}\.\d{{6}}Z-{host_and_pid(os.getpid())}-\d+-{zlib.crc32(CALLS):08x}\.24\.llm_call\.native",
        path.name,
    )
    assert path.read_bytes() == CALLS
    (segment,) = spool.segments()
    assert (segment.path, segment.table, segment.schema_version) == (path, "llm_call", 24)
    assert (segment.size, segment.rows()) == (len(CALLS), 3)
    assert abs(segment.created.timestamp() - time.time()) < 60
    assert writer.token.startswith(segment.writer + "-")


def test_segments_are_listed_oldest_first_over_all_writers(spool: Spool) -> None:
    """Two writers of one process never choose the same name."""
    writers = [SpoolWriter(spool), SpoolWriter(spool)]
    written = [writers[n % 2].write("span", 1, SPANS) for n in range(50)]
    assert [segment.path for segment in spool.segments()] == written
    assert writers[0].token != writers[1].token


def test_only_the_owner_can_read_it(spool: Spool) -> None:
    """0700 folders, 0600 files: prompts are private."""
    path = SpoolWriter(spool).write("llm_call", 1, CALLS)
    folders = [spool.folder, spool.folder / "writers"]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700, 0o700]
    files = [path, *(spool.folder / "writers").iterdir()]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_a_removed_folder_is_made_again(spool: Spool) -> None:
    """With the writer's lock in it, so that the writer still counts as living."""
    writer = SpoolWriter(spool)
    writer.write("llm_call", 1, CALLS)
    shutil.rmtree(spool.folder)
    writer.write("llm_call", 1, CALLS)
    assert len(spool.segments()) == 1
    assert dead(spool) == []
    assert (spool.folder / "writers" / f"{writer.token}.lock").exists()


def test_a_write_that_fails_half_way_leaves_nothing(spool: Spool) -> None:
    """A clear error, no temporary file, and the next write works."""
    writer = SpoolWriter(spool)
    writer.write("llm_call", 1, CALLS)
    with largest_file(100), pytest.raises(SpoolError, match=r"the spool .* cannot be written: "):
        writer.write("llm_call", 1, CALLS)
    assert [path.suffix for path in spool.folder.iterdir() if path.is_file()] == [".native"]
    writer.write("llm_call", 1, CALLS)
    assert len(spool.segments()) == 2


def test_an_impossible_folder_is_a_spool_error(tmp_path: Path) -> None:
    """A file where the folder should be."""
    (tmp_path / "taken").write_text("")
    with pytest.raises(SpoolError, match="cannot be written"):
        SpoolWriter(Spool(tmp_path / "taken" / "spool")).write("llm_call", 1, CALLS)


def test_a_durable_write(spool: Spool) -> None:
    """``sync`` asks for the disk; the segment is the same."""
    assert SpoolWriter(spool).write("llm_call", 1, CALLS, sync=True).read_bytes() == CALLS


def test_what_could_not_be_synced_is_tried_again(spool: Spool) -> None:
    """A sync that fails does not make the next one say that all is on the disk."""
    writer = SpoolWriter(spool)
    writer.write("llm_call", 1, CALLS)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))  # no file can be opened
    try:
        found = [writer.sync(), writer.sync()]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found == [False, False]
    assert writer.sync()


# -- the limit ------------------


def test_at_the_limit_the_oldest_plain_spans_go_first(tmp_path: Path) -> None:
    """Then less precious records, each drop counted by rows."""
    spool = Spool(tmp_path, limit_bytes=len(SPANS) * 2 + len(TOOLS) + len(CALLS))
    writer = SpoolWriter(spool)
    for table, block in (("llm_call", CALLS), ("span", SPANS), ("tool_call", TOOLS)):
        writer.write(table, 1, block)
    newest = writer.write("span", 1, SPANS)
    writer.write("span", 1, SPANS)
    assert [s.table for s in spool.segments()] == ["llm_call", "tool_call", "span", "span"]
    assert newest.exists()
    assert spool.dropped == {"spool_full:span": 5}
    for _ in range(3):
        writer.write("llm_call", 1, CALLS)
    assert {s.table for s in spool.segments()} <= {"llm_call", "tool_call"}
    assert spool.dropped["spool_full:span"] == 15
    assert sum(s.size for s in spool.segments()) <= spool.limit_bytes
    assert Spool(tmp_path).usage().dropped["spool_full:span"] == 15  # another process sees it


def test_calls_are_never_dropped_for_spans(tmp_path: Path) -> None:
    """A spool full of calls refuses a span, and keeps the newest calls by dropping the oldest."""
    spool = Spool(tmp_path, limit_bytes=len(CALLS) * 2)
    writer = SpoolWriter(spool)
    first = writer.write("llm_call", 1, CALLS)
    second = writer.write("llm_call", 1, CALLS)
    with pytest.raises(SpoolError, match="is full"):
        writer.write("span", 1, SPANS)
    assert [s.path for s in spool.segments()] == [first, second]
    third = writer.write("llm_call", 1, CALLS)
    assert [s.path for s in spool.segments()] == [second, third]
    assert spool.dropped == {"spool_full:llm_call": 3}


def test_room_made_by_the_shipper_is_seen(tmp_path: Path) -> None:
    """The limit holds for what is there, not for what this process once wrote."""
    spool = Spool(tmp_path, limit_bytes=len(CALLS) * 2)
    writer = SpoolWriter(spool)
    for _ in range(5):
        writer.write("llm_call", 1, CALLS).unlink()
    assert spool.dropped == {}


def test_refused_segments_make_room_first(tmp_path: Path) -> None:
    """They can never land; their reason goes with them."""
    spool = Spool(tmp_path, limit_bytes=len(CALLS) * 2)
    writer = SpoolWriter(spool)
    writer.write("llm_call", 1, CALLS)
    (segment,) = spool.segments()
    spool.reject(segment, "Code: 33.")
    kept = [writer.write("llm_call", 1, CALLS) for _ in range(2)]
    assert [s.path for s in spool.segments()] == kept
    assert list(spool.rejected_folder.iterdir()) == []
    assert spool.dropped == {"spool_full:llm_call": 3}


def test_usage_is_what_people_want_to_know(spool: Spool) -> None:
    """Segments and bytes by table, the oldest, and what was refused."""
    writer = SpoolWriter(spool)
    for table, block in (("llm_call", CALLS), ("span", SPANS), ("span", SPANS), ("span", b"?")):
        writer.write(table, 1, block)
    first, *_, last = spool.segments()
    spool.reject(last, "Code: 33. Cannot read all data.")
    usage = spool.usage()
    assert usage.segments == 3
    assert usage.bytes == len(CALLS) + 2 * len(SPANS)
    assert usage.by_table == {"llm_call": (1, len(CALLS)), "span": (2, 2 * len(SPANS))}
    assert usage.oldest == first.created
    assert (usage.rejected, usage.rejected_bytes) == (1, 1)
    assert (spool.rejected_folder / f"{last.name}.error").read_text().startswith("Code: 33.")


# -- writers ------------------


def test_a_living_writer_is_not_dead_and_a_closed_one_is(spool: Spool) -> None:
    """Its lock file stays until its unfinished turns are seen to."""
    living, closed = SpoolWriter(spool), SpoolWriter(spool)
    for writer in (living, closed):
        writer.write("llm_call", 1, CALLS)
    closed.close()
    assert dead(spool) == [closed.token]


def test_a_killed_process_is_dead_at_once(spool: Spool) -> None:
    """kill -9: the kernel gives up its lock; what it wrote is whole."""
    with writer_process(spool.folder) as writer:
        writer.wait_for(5)
        assert dead(spool) == []
        written = writer.kill()
        assert dead(spool) == [writer.token]
    found = [segment for segment in spool.segments() if segment.table == "llm_call"]
    assert written <= len(found) <= written + 1
    assert {segment.rows() for segment in found} == {3}


_FORK = """
import os, sys
from pathlib import Path
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
writer = SpoolWriter(Spool(Path(sys.argv[1])))
writer.write("llm_call", 1, b"parent")
print(writer.token, flush=True)
if os.fork() == 0:
    writer.after_fork()
    writer.write("span", 1, b"child")
    print(writer.token, flush=True)
    os._exit(0)
os.wait()
found = writer.spool.dead_writers()
print(*[path.stem for path in found], flush=True)
"""


def test_a_forked_child_has_an_identity_of_its_own(spool: Spool) -> None:
    """Both write, under different names; the child's end does not make the parent look dead."""
    parent, child, dead_then = run_python(_FORK, spool.folder).split()
    assert parent != child
    assert dead_then == child
    mine, its = spool.segments()
    assert (mine.table, its.table) == ("llm_call", "span")
    assert mine.writer != its.writer
    assert sorted(dead(spool)) == sorted([parent, child])


_ORPHAN = """
import os, sys, time
from pathlib import Path
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
writer = SpoolWriter(Spool(Path(sys.argv[1])))
writer.write("llm_call", 1, b"x")
child = os.fork()
if child == 0:  # lives on with what it inherited; nobody tells our writer of the fork
    os.close(1)
    os.close(2)
    time.sleep(60)
    os._exit(0)
print(writer.token, child, flush=True)
os._exit(0)
"""


def test_a_surviving_child_does_not_make_a_dead_parent_look_alive(spool: Spool) -> None:
    """The child let go of the inherited lock."""
    token, child = run_python(_ORPHAN, spool.folder).split()
    try:
        assert dead(spool) == [token]
    finally:
        os.kill(int(child), signal.SIGKILL)


def test_temporary_files_of_the_dead_are_swept(spool: Spool) -> None:
    """Old ones only: a young one is being written."""
    SpoolWriter(spool).write("llm_call", 1, CALLS)
    old, young = spool.folder / "a.native.tmp", spool.folder / "b.native.tmp"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    spool.clean()
    assert not old.exists()
    assert young.exists()
    assert len(spool.segments()) == 1


def test_a_lock_is_held_once(tmp_path: Path) -> None:
    """Also within one process; given up, it can be taken again."""
    lock = FileLock.take(tmp_path / "lock")
    assert lock is not None
    assert FileLock.take(tmp_path / "lock") is None
    lock.release()
    again = FileLock.take(tmp_path / "lock")
    assert again is not None
    again.release()
