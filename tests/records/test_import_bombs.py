"""Files that are made to cost: small ones that unpack to much, lines without an end, deep nesting.
Each import of a bomb is a process of its own, whose memory is measured."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from receive.otlp import Made, as_json, request
from support.import_kinds import FORMATS, KINDS, MADE, zstd
from support.imported import import_files
from support.representatives import few
from turnspan_clickhouse.receive.decoded import InternCache, MalformedOtlpError
from turnspan_clickhouse.receive.otlp_json import decode_json
from turnspan_records.importing.files.file_log import FileLog
from turnspan_records.importing.files.limits import ReadLimits
from turnspan_records.importing.sources import SourceLogError

MEGA = 2**20
MADE_OF = 96 * MEGA
MEMORY, DISK = 16 * MEGA, 128 * MEGA
ROOM = 8 * MEMORY
"""What a process may take beside what it took before: the memory, and what was freed and is not
given back."""

CHILD = """
import resource, sys
from pathlib import Path
from support.import_kinds import FORMATS
from turnspan_records.importing.files.file_log import FileLog
from turnspan_records.importing.files.limits import ReadLimits
from turnspan_records.importing.sources import SourceLogError

kind, path, memory, disk, room = sys.argv[1:]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
if not path.endswith("parquet"):  # its engine, another process, takes address space as it likes
    resource.setrlimit(resource.RLIMIT_AS, (now + 2 * int(room), now + 2 * int(room)))
spans, said = 0, []
try:
    log = FileLog(FORMATS[kind](), [Path(path)], ReadLimits(int(memory), int(disk)))
    for part in log.parts(""):
        spans += len(part.spans) + len(part.contents)
        said += [problem.reason for problem in part.problems[:2]]
    log.close()
except SourceLogError as error:
    said.append(str(error))
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024, spans)
print(*said[:5], sep="\\n")
"""


def again(what: bytes, size: int = MADE_OF) -> Iterator[bytes]:
    piece = what * (MEGA // len(what))
    return (piece for _ in range(size // len(piece)))


TOO_MUCH = "bytes of memory to read (raise --max-memory-bytes;"
BOMBS: dict[str, tuple[str, Callable[[], Iterator[bytes]], str]] = {
    "zeroes": ("openai-jsonl", lambda: again(b"\0"), TOO_MUCH),
    "blanks": ("openai-jsonl", lambda: again(b" "), ""),
    "empty lines": ("langfuse", lambda: again(b"\n"), ""),
    "a line": ("phoenix", lambda: chain([b'{"name":"'], again(b"a")), TOO_MUCH),
    "a line of lists": ("openai-jsonl", lambda: chain([b'{"a":['], again(b"[],")), TOO_MUCH),
    "short lines": ("otlp-json", lambda: again(b"{}\n"), TOO_MUCH),
    "an array": ("langfuse", lambda: chain([b"["], again(b'{"id":"x"},')), TOO_MUCH),
    "an element": ("anthropic-jsonl", lambda: chain([b'[{"a":"'], again(b"a")), TOO_MUCH),
    "wide elements": ("phoenix", lambda: chain([b'[{"a":"'], again("😀".encode())), TOO_MUCH),
    "an element of objects": ("openai-jsonl", lambda: chain([b"[["], again(b'{"":0},')), TOO_MUCH),
    "a document": ("openai-jsonl", lambda: chain([b"{\n"], again(b'"a": [],\n')), TOO_MUCH),
    "a row": ("langfuse", lambda: chain([b'id,trace_id\n"'], again(b"a")), TOO_MUCH),
    "columns": ("phoenix", lambda: again(b"a,"), TOO_MUCH),
    "rows of a row": ("langfuse", lambda: chain([b"id,b\n"], again(b'"\n",')), TOO_MUCH),
    "half characters": (
        "openai-jsonl",
        lambda: chain([b'{"a":"\\ud83d'], again(b"a", 2 * MEGA), [b'"}\n']),
        TOO_MUCH,
    ),
    "a trace": (
        "otlp-json",
        lambda: again(json.dumps(MADE["otlp-json"](1)).encode() + b"\n", 8 * MEGA),
        TOO_MUCH,
    ),
    "much": ("otlp-json", lambda: again(b"{}", 2 * DISK), "--max-disk-bytes"),
    "levels": ("openai-jsonl", lambda: again(b"["), "nested too deep"),
    "levels of objects": ("phoenix", lambda: chain([b"["], again(b'{"a":')), "nested too deep"),
}


def measured(kind: str, path: Path) -> tuple[int, int, str]:
    """The memory that an import took more than before it, its spans, and what it said."""
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", CHILD, kind, str(path), str(MEMORY), str(DISK), str(ROOM)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": tests},
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    figures, _, said = done.stdout.partition("\n")
    took, spans = figures.split()
    return int(took), int(spans), said


@pytest.mark.parametrize("name", few(BOMBS, ["a line", "much", "levels"]))
def test_a_bomb_costs_no_more_than_the_limit(tmp_path: Path, name: str) -> None:
    kind, pieces, why = BOMBS[name]
    path = tmp_path / "bomb.zst"
    path.write_bytes(zstd(b"".join(pieces())))

    took, _, said = measured(kind, path)

    assert took < ROOM, f"{took / MEGA:.0f} MB: {said[:300]}"
    assert why in said
    assert len(said) < 3_000


@pytest.mark.parametrize("how", few(["gzip", "plain", "many streams"], ["gzip"]))
def test_so_it_is_however_it_comes(tmp_path: Path, how: str) -> None:
    path = tmp_path / "bomb.jsonl"
    if how == "plain":
        with path.open("wb") as file:
            file.write(b'{"a":"')
            file.truncate(2**31)
    else:
        packed = gzip.compress(b"".join(again(b"[0,")))
        path.write_bytes(gzip.compress(b"") * 2_000 + packed if how == "many streams" else packed)

    took, _, said = measured("openai-jsonl", path)

    assert took < ROOM
    assert TOO_MUCH in said or "nested too deep" in said


@pytest.mark.release
def test_parquet_costs_no_more_than_the_limit(tmp_path: Path) -> None:
    arrow: Any = pytest.importorskip("pyarrow")
    files: Any = pytest.importorskip("pyarrow.parquet")
    table = arrow.table({"id": ["x" * 1_000] * 300_000, "trace_id": ["y"] * 300_000})
    files.write_table(table, tmp_path / "bomb.parquet", compression="zstd")
    assert (tmp_path / "bomb.parquet").stat().st_size < MEGA

    took, _, said = measured("langfuse", tmp_path / "bomb.parquet")

    assert took < ROOM
    assert TOO_MUCH in said  # the engine's
    with pytest.raises(SourceLogError, match="--max-disk-bytes"):
        FileLog(FORMATS["langfuse"](), [tmp_path / "bomb.parquet"], ReadLimits(disk=DISK))


@pytest.mark.parametrize("kind", KINDS)
def test_a_bomb_costs_only_itself(tmp_path: Path, kind: str) -> None:
    """The lines before and behind it are imported."""
    good = [json.dumps(MADE[kind](n)).encode() for n in range(2)]
    path = tmp_path / "x.jsonl"
    bombs = [b'{"a":"' + b"a" * (4 * MEGA) + b'"}', b'{"a":[' + b"[]," * MEGA + b"0]}"]
    path.write_bytes(b"\n".join([good[0], *bombs, good[1], b""]))

    with pytest.raises(SourceLogError, match="--max-disk-bytes"):
        path.with_suffix(".gz").write_bytes(gzip.compress(path.read_bytes()))
        FileLog(FORMATS[kind](), [path.with_suffix(".gz")], ReadLimits(disk=MEGA))
    log = FileLog(FORMATS[kind](), [path], ReadLimits(memory=MEMORY))
    parts = list(log.parts(""))
    log.close()

    reasons = [problem.reason for part in parts for problem in part.problems]
    assert [problem.row for part in parts for problem in part.problems] == [
        "x.jsonl:2",
        "x.jsonl:3",
    ]
    assert all(TOO_MUCH in reason for reason in reasons)
    assert sum(len(part.spans) for part in parts) == 2


DEPTHS = (100, 300, 900, 5_000, 100_000)


def shapes(kind: str, deep: str) -> Iterator[tuple[str, str]]:
    """Lines of a kind that have a deep value in each field, as JSON and as JSON in a text."""
    made = MADE[kind](2)
    for name in (*made, "metadata", "tools"):
        yield f"{name} as JSON", json.dumps({**made, name: "@"}).replace('"@"', deep)
        yield f"{name} as text", json.dumps({**made, name: deep})
    yield "alone", json.dumps({"request": "@", "response": {}}).replace('"@"', deep)
    text = json.dumps(made)
    for old in ('"content": "', '"stringValue": "', '"llm.model_name": "'):
        if old in text:
            end = text.index('"', text.index(old) + len(old)) + 1
            value = text[text.index(old) : end]
            yield old, text.replace(value, f"{old[:-1]}{deep}")


@pytest.mark.parametrize("depth", few(DEPTHS, [300, 100_000]))
@pytest.mark.parametrize("kind", KINDS)
def test_deep_nesting_costs_only_itself(tmp_path: Path, kind: str, depth: int) -> None:
    """Of any depth in any field: the line is imported, or told of in a sentence; the next one is
    there in any case."""
    good = json.dumps(MADE[kind](1))
    for deep in ("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth):
        lines = [line for _, line in shapes(kind, deep)]
        path = tmp_path / "x.jsonl"
        for line in lines:
            path.write_text(f"{line}\n{good}\n")

            made = import_files(FORMATS[kind](), [path])

            assert made.calls, line[:200]
            assert len(made.problems) <= 1
            assert "it cannot be read" not in "".join(one.reason for one in made.problems)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("text", ["[{0}, {1}]", '{{\n"x":{0}\n}}', "[{1}, {0}]", "{0}\n{1}"])
def test_a_deep_document_gets_a_sentence(tmp_path: Path, depth: int, text: str) -> None:
    good = json.dumps(MADE["openai-jsonl"](1))
    path = tmp_path / "x.json"
    path.write_text(text.format("[" * depth + "]" * depth, good))
    try:
        said = [one.reason for one in import_files(FORMATS["openai-jsonl"](), [path]).problems]
    except SourceLogError as error:
        said = [str(error)]

    assert len(said) >= 1
    assert all("it cannot be read" not in each for each in said)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("place", ["resource", "scope"])
def test_a_deep_request_is_malformed(depth: int, place: str) -> None:
    """What is received goes the same way."""
    deep = f'"{place}": {{"x": ' + '{"a":' * depth + "1" + "}" * depth + ","
    body = as_json(request("s", [Made("one")])).replace(f'"{place}": {{'.encode(), deep.encode())
    if depth < 200:
        assert len(decode_json(body, InternCache()).spans) == 1
        return
    with pytest.raises(MalformedOtlpError, match=r"deep|depth"):
        decode_json(body, InternCache())
