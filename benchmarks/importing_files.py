"""What an import of files costs: CPU a call, and how memory grows with the file.

    python benchmarks/importing_files.py [MEGABYTES]

Files of so many megabytes, and of a quarter of that, are made of recorded runs: transcripts, logged
calls and OTLP, the lines of eight conversations mixed. Each is imported by a process of its own
into an embedded store that is made for it.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.shared import trajectories

KINDS = ("transcripts", "calls", "otlp")
MIXED = 8


def talks() -> Iterator[list[dict[str, Any]]]:
    """Recorded runs, again and again, each with words of its own."""
    (path,) = trajectories("tau-bench__gpt-4o-airline")
    runs = [json.loads(line)["record"]["traj"] for line in path.open(encoding="utf-8")]
    number = 0
    while True:
        for run in runs:
            number += 1
            talk = [dict(message) for message in run]
            talk[1]["content"] = f"[{number}] {talk[1].get('content') or ''}"
            yield talk


def lines(kind: str, talk: list[dict[str, Any]], number: int) -> list[str]:
    """A run as lines of a kind."""
    if kind == "transcripts":
        return [json.dumps({"model": "gpt-4o", "messages": talk})]
    asked = [n for n, message in enumerate(talk) if message["role"] == "assistant"]
    made: list[str] = []
    for place in asked:
        request = {"model": "gpt-4o", "messages": talk[:place]}
        choice = {"index": 0, "message": talk[place], "finish_reason": "stop"}
        answer = {"id": f"chatcmpl-{number}-{place}", "choices": [choice]}
        call = {"request": request, "response": {**answer, "created": 1_700_000_000 + number}}
        made.append(json.dumps(call if kind == "calls" else otlp(call, number, place)))
    return made


def otlp(call: dict[str, Any], number: int, place: int) -> dict[str, Any]:
    """A call as OpenInference has it, a request of OTLP of its own."""
    start = (1_700_000_000 + number) * 10**9 + place * 10**6
    said = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "gpt-4o",
        "input.value": json.dumps(call["request"]),
        "output.value": json.dumps(call["response"]),
    }
    span = {
        "traceId": f"{number:032x}",
        "spanId": f"{number * 1_000 + place:016x}",
        "name": "chat",
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 10**5),
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in said.items()],
    }
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "mine"}, "spans": [span]}]}]}


def write(kind: str, path: Path, size: int) -> None:
    """A file of about this size."""
    source = talks()
    number = 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < size:
            waiting: list[list[str]] = []
            for _ in range(MIXED):
                number += 1
                waiting.append(lines(kind, next(source), number))
            while any(waiting):
                file.writelines(f"{each.pop(0)}\n" for each in waiting if each)


def measure(kind: str, path: str, store: str) -> None:
    """Import a file, and print lines, calls, seconds of CPU and the most memory that it took."""
    from turnspan_clickhouse.spool.spool import Spool
    from turnspan_clickhouse.store.dsn import Dsn
    from turnspan_clickhouse.store.migrations import migrate
    from turnspan_clickhouse.store.opening import open_store
    from turnspan_records.importing.exports.otlp import Otlp
    from turnspan_records.importing.files.file_log import FileLog
    from turnspan_records.importing.import_run import import_log
    from turnspan_records.importing.transcripts.openai import OPENAI
    from turnspan_records.importing.transcripts.transcript_lines import Transcripts

    dsn = Dsn(scheme="chdb", path=Path(store))
    with open_store(dsn) as opened:
        migrate(opened)
    log = FileLog(Otlp() if kind == "otlp" else Transcripts(OPENAI), [Path(path)])
    began = time.process_time()
    report = import_log(lambda: open_store(dsn), Spool(dsn.spool), log)
    seconds = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    assert not report.problem_count
    print(report.source_rows, report.rows["llm_call"], seconds, memory)


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("kind         MB    lines    calls  us/call  MB memory")
    for kind in KINDS:
        for size in (megabytes // 4, megabytes):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "file.jsonl"
                write(kind, path, size * 2**20)
                done = subprocess.run(
                    [sys.executable, __file__, kind, str(path), f"{folder}/store"],
                    check=True,
                    capture_output=True,
                    text=True,
                )
                number, calls, seconds, memory = done.stdout.split()
                each = float(seconds) / int(calls) * 1e6
                print(f"{kind:11} {size:4} {number:>8} {calls:>8} {each:8.0f} {memory:>10}")


if __name__ == "__main__":
    if len(sys.argv) == 4:
        measure(*sys.argv[1:])
    else:
        main()
