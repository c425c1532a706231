"""Many processes and one store: the parts they leave, and whether anything is missing.

    python benchmarks/many_processes.py [--seconds 60] [--processes 100] [--only server|embedded]

``server``: so many single-turn agent processes at once, each replaced by a new one as it ends, and
one ClickHouse server. They are forked from a process that has imported everything, as a job runner
does it: two cores start too few interpreters to be a trial. Active parts of all tables are counted
every second. ``embedded``: four processes that record turn after turn, and one that reads the store
all the time, as the console does. At the end every turn that a process reported has to be there
once.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.clickhouse_server import start_server
from turnspan_clickhouse.dsn import Dsn, parse
from turnspan_clickhouse.migrate import migrate
from turnspan_clickhouse.ship import ship
from turnspan_clickhouse.spool import Spool
from turnspan_clickhouse.stores import Store, open_store

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
        with open_records(note=lambda text: print("NOTE", text, flush=True)) as store:
            store.query("SELECT stop_reason, count() FROM turn_summary GROUP BY stop_reason")
        read += 1
    except StoreError as error:
        errors += 1
        print("ERROR", error, flush=True)
    time.sleep(0.2)
print("READS", read, "ERRORS", errors, flush=True)
"""


def python(script: str, *arguments: object, store: Dsn) -> subprocess.Popen[str]:
    """A process of its own that records to the store, or reads it."""
    command = [sys.executable, "-W", "ignore", "-c", script, *map(str, arguments)]
    environment = {**os.environ, "TURNSPAN_STORE": str(store)}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def compare(store: Store, told: Path, failed: int) -> bool:
    """Print how the turns that were reported compare with what is there; whether it is the same."""
    reported = told.read_text().split()
    sql = "SELECT turn_id, count() FROM turn_summary WHERE status = 'final' GROUP BY turn_id"
    landed = {str(turn): int(n) for turn, n in store.query(sql, None, {"final": 0}).rows}
    missing = len(set(reported) - set(landed))
    twice = sum(n > 1 for n in landed.values())
    print(
        f"  turns reported {len(reported):,}, landed {len(landed):,}, missing {missing}, landed "
        f"twice {twice}; processes that failed {failed}"
    )
    return not (missing or twice or failed)


@contextmanager
def server(folder: Path) -> Iterator[Dsn]:
    """A ClickHouse server of its own, migrated."""
    started = start_server(folder)
    try:
        dsn = started.dsn("many")
        with open_store(dsn) as store:
            migrate(store)
        yield dsn
    finally:
        started.kill()


def many_agents(dsn: Dsn, told: Path, processes: int, seconds: float) -> bool:
    """So many at once for so long."""
    parts = "SELECT count() FROM system.parts WHERE active AND database = {database:String}"
    written = (
        "SELECT sum(newest) FROM (SELECT max(max_block_number) AS newest FROM system.parts"
        " WHERE active AND database = {database:String} GROUP BY table, partition_id)"
    )
    named = {"database": dsn.database}
    nursery = python(NURSERY, told, seconds, processes, store=dsn)
    sampled: list[int] = []
    with open_store(dsn) as store:
        while nursery.poll() is None:
            sampled.append(int(store.query(parts, named).rows[0][0]))
            time.sleep(1.0)
        left = len(Spool(dsn.spool).segments())
        result = ship(dsn)
        usage = Spool(dsn.spool).usage()
        print(
            f"server: {processes} processes at once for {seconds:.0f} s\n"
            f"  active parts at most {max(sampled)}, median {sorted(sampled)[len(sampled) // 2]}; "
            f"{sum(usage.shipped.values()):,} rows in {store.query(written, named).rows[0][0]:,} "
            f"parts; {left} segments left to the next start, {result.rejected} refused"
        )
        return compare(store, told, nursery.returncode) and max(sampled) < 300


def writers_and_reader(dsn: Dsn, told: Path, seconds: float) -> bool:
    """Four write the embedded store's spool, one reads the store."""
    reader = python(READER, seconds, store=dsn)
    writers = [python(ONE, told, seconds, 0.01, store=dsn) for _ in range(4)]
    said = reader.communicate()[0].strip()
    failed = sum(writer.wait() != 0 for writer in writers)
    print(f"embedded: 4 writers and 1 reader for {seconds:.0f} s; the reader: {said}")
    with open_store(dsn) as store:
        ship(store)
        return compare(store, told, failed) and said.endswith("ERRORS 0") and "NOTE" not in said


def main() -> int:
    """Both, or one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=100)
    parser.add_argument("--only", choices=("server", "embedded"))
    given = parser.parse_args()
    fine = True
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        if given.only != "embedded":
            os.environ["TURNSPAN_SPOOL"] = str(folder / "spool")
            with server(folder / "server") as dsn:
                fine = many_agents(dsn, folder / "many", given.processes, given.seconds)
            del os.environ["TURNSPAN_SPOOL"]
        if given.only != "server":
            dsn = parse(f"chdb://{folder / 'store'}")
            fine = writers_and_reader(dsn, folder / "few", given.seconds) and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
