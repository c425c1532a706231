"""Processes of the tests' own that write to a spool, and can be killed."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

_WRITER = """
import sys, time
from pathlib import Path
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION
from turnspan_clickhouse.rows.tables import LlmCall, TurnSummary
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter

writer = SpoolWriter(Spool(Path(sys.argv[1])))
limit = int(sys.argv[2])
T0 = 1_790_000_000_000_000_000
turn = TurnSummary(project="p", session_id="s", turn_id="t", trace_id="x", span_id="turn",
                   start_time=T0, status="running", stop_reason="running",
                   writer=writer.token, written_at=T0)
writer.write("turn_summary", SCHEMA_VERSION, encode_block(TurnSummary, [turn]))
print(writer.token, flush=True)
number = 0
while number < limit:
    rows = [LlmCall(project="p", session_id="s", turn_id="t", trace_id="x", round=number + 1,
                    span_id=f"{number}-{i}", start_time=T0 + number, duration=1.0,
                    input_tokens=10, writer=writer.token, written_at=T0) for i in range(3)]
    writer.write("llm_call", SCHEMA_VERSION, encode_block(LlmCall, rows))
    number += 1
    print(number, flush=True)
time.sleep(600)
"""


def run_python(script: str, *arguments: object, timeout: float = 60) -> str:
    """Run a script in a process of its own, which may fork as it likes; returns what it printed."""
    command = [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stderr
    return done.stdout


class WriterProcess:
    """Writes a running turn, then segments of three calls each, saying so after each write."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._seen = 0
        self.token = self._line()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def wait_for(self, segments: int) -> None:
        """Until so many segments were written."""
        while self._seen < segments:
            self._seen = int(self._line())

    def kill(self) -> int:
        """kill -9; returns how many segments it is known to have written."""
        self.process.kill()
        rest = self.process.communicate()[0].split()
        return int(rest[-1]) if rest else self._seen


@contextlib.contextmanager
def writer_process(spool: Path, *, limit: int = 1_000_000) -> Generator[WriterProcess]:
    """A process that writes up to ``limit`` segments of calls and then lives on."""
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(spool), str(limit)], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield WriterProcess(process)
        finally:
            process.kill()
