"""``turnspan import`` of files: what it prints, what it lands, and that again is not twice."""

from __future__ import annotations

import gzip
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from receive.otlp import as_json, chat, request
from support.import_kinds import KINDS, helicone
from support.kept_stores import copy_schema
from support.story import Invoke
from turnspan_clickhouse.store.zstd import compressed

pytestmark = pytest.mark.usefixtures("kept_engine")

TALK = [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "Hello, what can I do?"},
    {"role": "user", "content": "count"},
    {"role": "assistant", "content": "one"},
]


def written(path: Path, *lines: Any) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.fixture(autouse=True)
def _with_schema(tmp_path: Path) -> None:
    """The store has its schema: to make that takes longer than an import."""
    copy_schema(tmp_path / "store")


def test_every_kind_of_file_lands(invoke: Invoke, tmp_path: Path) -> None:
    store = ("--store", f"chdb://{tmp_path}/store")
    observation = {
        "id": "a" * 16,
        "trace_id": "b" * 32,
        "type": "GENERATION",
        "start_time": "2019-05-29 13:46:19.963000",
        "input": json.dumps(TALK[:1]),
        "output": json.dumps(TALK[1]),
    }
    span = {
        "name": "llm",
        "context": {"trace_id": "c" * 32, "span_id": "d" * 16},
        "span_kind": "LLM",
        "start_time": "2019-05-29T13:46:19+00:00",
        "end_time": "2019-05-29T13:46:20+00:00",
        "status_code": "OK",
        "attributes": {"llm.model_name": "gpt-4o"},
    }
    packed, encoding = compressed(as_json(request("story", [chat("one", "", 1)])) + b"\n")
    assert encoding == "zstd"
    (tmp_path / "otlp.zst").write_bytes(packed)
    files = {
        "openai-jsonl": written(tmp_path / "o.jsonl", {"messages": TALK}),
        "anthropic-jsonl": written(tmp_path / "a.jsonl", {"messages": TALK, "system": "s"}),
        "otlp-json": str(tmp_path / "otlp.zst"),
        "helicone": written(tmp_path / "h.jsonl", helicone(1)),
        "langfuse": written(tmp_path / "l.jsonl", observation),
        "phoenix": written(tmp_path / "p.jsonl", span),
    }
    for kind, file in files.items():
        done = invoke(*store, "import", kind, file, "--format", "json")
        assert done.exit_code == 0, done.output
        report = json.loads(done.stdout)
        assert (report["problem_count"], report["source"]) == (0, file)
    found = invoke(
        *store, "sql", "--format", "csv",
        "SELECT project, count(), uniqExact(session_id) FROM llm_call GROUP BY ALL ORDER BY ALL",
    )  # fmt: skip
    assert found.stdout.splitlines()[1:] == [
        "anthropic-jsonl,2,1",
        "helicone,1,1",
        "langfuse,1,1",
        "openai-jsonl,2,1",
        "phoenix,1,1",
        "story,1,1",
    ]


def test_again_is_not_twice_whatever_became_of_the_file(invoke: Invoke, tmp_path: Path) -> None:
    """Lines that say no time keep the time of their first import."""
    path = tmp_path / "o.jsonl"
    store = ("--store", f"chdb://{tmp_path}/store")
    written(path, {"messages": TALK})
    os.utime(path, (1_500_000_000, 1_500_000_000))
    arguments = (*store, "import", "openai-jsonl", str(path))
    assert invoke(*arguments).exit_code == 0
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"messages": TALK}) + "\n\x1b[31mno JSON\n")

    for more in ((), ("--again",)):
        done = invoke(*arguments, *more)
        assert done.exit_code == 1
        assert "o.jsonl:3" in done.stdout
        assert "\x1b" not in done.stdout
        assert "1 rows were not taken as they are" in done.stderr

    rows = invoke(
        *store, "sql", "--format", "csv",
        "SELECT count(), uniqExact(session_id), max(toYear(start_time)) FROM llm_call",
    )  # fmt: skip
    assert rows.stdout.splitlines()[1:] == ["4,2,2017"]


def test_what_cannot_be_read_is_told_with_what_to_do(invoke: Invoke, tmp_path: Path) -> None:
    store = ("--store", f"chdb://{tmp_path}/store")
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and nothing else")
    (tmp_path / "x.gz").write_bytes(b"\x1f\x8bgarbage")
    (tmp_path / "x.txt").write_text("only words")
    for name, said in (
        ("x.parquet", "is not Parquet that can be read"),
        ("x.gz", "is not gzip"),
        ("x.txt", "is neither JSON, CSV nor Parquet"),
    ):
        done = invoke(*store, "import", "langfuse", str(tmp_path / name))
        assert done.exit_code > 1
        assert said in done.stderr
    assert invoke(*store, "import", "langfuse", str(tmp_path / "none")).exit_code == 2


@pytest.mark.parametrize("kind", [*KINDS, "llm"])
def test_what_is_no_file_gets_a_sentence(invoke: Invoke, tmp_path: Path, kind: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for path in (
            tmp_path / "pipe",
            tmp_path / "link",
            tmp_path / "socket",
            "/dev/zero",
            tmp_path,
        ):
            done = invoke(
                "--store", f"chdb://{tmp_path}/store", "import", kind, str(path)
            )  # fmt: skip
            assert done.exit_code in (2, 3)
            named = "is not a file" in done.stderr or "is a directory" in done.stderr
            assert named, done.stderr


def test_the_command_has_the_limits(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(b'{"a":"' + b"a" * 5 * 2**20 + b'"}\n'))
    arguments = ("--store", f"chdb://{tmp_path}/store", "import", "openai-jsonl", str(path))

    small = invoke(*arguments, "--max-disk-bytes", str(2**20))
    assert (small.exit_code, "--max-disk-bytes" in small.stderr) == (3, True)
    heavy = invoke(*arguments, "--max-memory-bytes", str(4 * 2**20), "--format", "json")
    assert (heavy.exit_code, "--max-memory-bytes" in heavy.stdout) == (1, True)
    plain = invoke(*arguments, "--again", "--format", "json")
    assert "neither a transcript" in plain.stdout
