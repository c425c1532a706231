"""Agent processes in numbers, a reader beside them, and a comparison of what they say they did with
what has landed."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn

TURNS = """
import os, sys, time, turnspan

def take_turns(seconds, pause, told):
    turnspan.configure(service_name="many")
    stop, number = time.monotonic() + seconds, 0
    while number == 0 or time.monotonic() < stop:
        number += 1
        with turnspan.session("s"), turnspan.agent("single") as turn:
            messages = [{"role": "user", "content": f"question {number} of {turn.id}"}]
            with turnspan.inference(provider="openai", model="gpt-4o", messages=messages) as call:
                time.sleep(pause)
                call.response(text="answer", input_tokens=10, output_tokens=2)
            with turnspan.tool("look", arguments={"n": number}) as done:
                done.result = {"ok": True}
        os.write(told, f"{turn.id}\\n".encode())
    turnspan.shutdown()

told = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
"""
ONE = (
    TURNS
    + """
take_turns(float(sys.argv[2]), float(sys.argv[3]), told)
"""
)
NURSERY = (
    TURNS
    + """
import clickhouse_connect, opentelemetry.sdk.trace, turnspan.lifecycle, turnspan_clickhouse.exporter
seconds, processes = float(sys.argv[2]), int(sys.argv[3])
stop, alive, failed = time.monotonic() + seconds, 0, 0
while alive or time.monotonic() < stop:
    while alive < processes and time.monotonic() < stop:
        if os.fork() == 0:
            code = 1
            try:
                take_turns(0.0, 1.0, told)
                code = 0
            finally:
                os._exit(code)
        alive += 1
    failed += os.wait()[1] != 0
    alive -= 1
sys.exit(min(failed, 100))
"""
)
READER = """
import sys, time
from turnspan_clickhouse.errors import StoreError
from turnspan_records.access import open_records
stop = time.monotonic() + float(sys.argv[1])
read = errors = 0
while time.monotonic() < stop:
    try:
        with open_records(
            note=lambda text: print("NOTE", text, flush=True), create=True
        ) as store:
            store.query("SELECT stop_reason, count() FROM turn_summary GROUP BY stop_reason")
        read += 1
    except StoreError as error:
        errors += 1
        print("ERROR", error, flush=True)
    time.sleep(0.2)
print("READS", read, "ERRORS", errors, flush=True)
"""


def python(
    script: str, *arguments: object, store: Dsn, heard: bool = False
) -> subprocess.Popen[str]:
    """A process of its own that records to the store, or reads it; ``heard`` for what it prints."""
    command = [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)]
    environment = {**os.environ, "TURNSPAN_STORE": str(store)}
    output = subprocess.PIPE if heard else subprocess.DEVNULL
    return subprocess.Popen(command, env=environment, stdout=output, text=True)


@dataclass(frozen=True, slots=True)
class Compared:
    """Turns: reported by their processes, landed, reported but not landed, landed twice."""

    reported: int
    landed: int
    missing: int
    twice: int

    @property
    def fine(self) -> bool:
        """Whether every turn is there once."""
        return bool(self.reported) and not self.missing and not self.twice

    def __str__(self) -> str:
        return (
            f"turns reported {self.reported:,}, landed {self.landed:,}, missing {self.missing:,}, "
            f"landed twice {self.twice:,}"
        )


def compare(store: Store, told: Path) -> Compared:
    """How the turns written into the file compare with those in the store, before any merge."""
    reported = told.read_text().split()
    sql = "SELECT turn_id, count() FROM turn_summary WHERE status = 'final' GROUP BY turn_id"
    landed = {str(turn): int(n) for turn, n in store.query(sql, None, {"final": 0}).rows}
    return Compared(
        len(reported),
        len(landed),
        len(set(reported) - set(landed)),
        sum(n > 1 for n in landed.values()),
    )
