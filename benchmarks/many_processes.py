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
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.clickhouse_server import start_server
from support.many_processes import NURSERY, ONE, READER, compare, python
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn, parse
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store


@contextmanager
def server(folder: Path) -> Generator[Dsn]:
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
        compared = compare(store, told)
        print(f"  {compared}; processes that failed: {nursery.returncode}")
        return compared.fine and not nursery.returncode and max(sampled) < 300


def writers_and_reader(dsn: Dsn, told: Path, seconds: float) -> bool:
    """Four write the embedded store's spool, one reads the store."""
    reader = python(READER, seconds, store=dsn, heard=True)
    writers = [python(ONE, told, seconds, 0.01, store=dsn) for _ in range(4)]
    said = reader.communicate()[0].strip()
    failed = sum(writer.wait() != 0 for writer in writers)
    print(f"embedded: 4 writers and 1 reader for {seconds:.0f} s; the reader: {said}")
    with open_store(dsn) as store:
        ship(store)
        compared = compare(store, told)
        print(f"  {compared}; processes that failed: {failed}")
        return compared.fine and not failed and said.endswith("ERRORS 0") and "NOTE" not in said


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
