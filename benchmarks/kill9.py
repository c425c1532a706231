"""kill -9 at random moments: what had been recorded one flush interval before has landed, once.

usage: kill9.py [--kills 200] [--seed 9] [--store DSN]

Agents work through turns of five tool calls, a few agents at once, each noting every call that has
ended. Each is killed at a random moment of its first two seconds at work; then everything is
shipped and compared, call by call. Exits with 1 where a call is missing that ended earlier than
that, one landed twice, or a turn of a dead agent is still called running.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store import dsn as dsns
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

FLUSH_INTERVAL = 0.1
SLACK = 0.25
"""Seconds that a busy machine may wake the writing thread late."""
AGENTS_AT_ONCE = 4
_AGENT = f"""
import os, sys, time
import turnspan
name, log = sys.argv[1], os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
turnspan.configure(service_name=name, flush_interval={FLUSH_INTERVAL})
number = 0
while True:
    with turnspan.session(name), turnspan.agent("killed"):
        for _ in range(5):
            number += 1
            with turnspan.tool("work", call_id=f"{{name}}-{{number}}", arguments=number):
                pass
            os.write(log, f"{{name}}-{{number}} {{time.time()}}\\n".encode())
            time.sleep(0.001)
"""


@dataclass
class Outcome:
    """All kills together; counts of tool calls unless it says otherwise."""

    kills: int = 0
    emitted: int = 0
    landed: int = 0
    duplicated: int = 0
    lost_in_interval: int = 0
    """Ended within the last flush interval (and slack) before the kill, and gone."""
    lost: int = 0
    """Ended before that, and gone: there must be none."""
    oldest_lost: float = 0.0
    """Seconds between the end of a lost call and the kill, at most."""
    turns: int = 0
    running: int = 0
    """Turns that are still called running: there must be none."""


def killed(folder: Path, store: str, name: str, delay: float) -> tuple[Path, float]:
    """Run an agent, kill it ``delay`` seconds after its first call; its log, and when."""
    log = folder / f"{name}.log"
    environment = {**os.environ, "TURNSPAN_STORE": store}
    with subprocess.Popen([sys.executable, "-c", _AGENT, name, str(log)], env=environment) as agent:
        give_up = time.monotonic() + 60
        while not (log.exists() and log.stat().st_size) and time.monotonic() < give_up:
            time.sleep(0.01)
        time.sleep(delay)
        moment = time.time()
        agent.kill()
    return log, moment


def kill_many(store: str, kills: int, seed: int) -> Outcome:
    """Kill so many agents; ship; compare."""
    dsn = dsns.parse(store)
    with open_store(dsn) as opened:
        migrate(opened)
    source = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AGENTS_AT_ONCE) as pool:
        begun = [
            pool.submit(killed, Path(folder), store, f"agent-{number}", source.uniform(0, 2))
            for number in range(kills)
        ]
        runs = [future.result() for future in begun]
        with open_store(dsn) as opened:
            result = ship(opened)
            assert result.ok, result
            return _compared(opened, runs)


def _compared(store: Store, runs: list[tuple[Path, float]]) -> Outcome:
    rows = store.query("SELECT call_id, count() FROM tool_call GROUP BY 1", settings={"final": 0})
    landed = {str(call): int(count) for call, count in rows.rows}
    outcome = Outcome(kills=len(runs))
    for log, moment in runs:
        for line in log.read_text().splitlines():
            call, ended = line.split()
            outcome.emitted += 1
            count = landed.get(call, 0)
            outcome.landed += count > 0
            outcome.duplicated += count > 1
            if not count:
                age = moment - float(ended)
                outcome.oldest_lost = max(outcome.oldest_lost, age)
                outcome.lost_in_interval += age <= FLUSH_INTERVAL + SLACK
                outcome.lost += age > FLUSH_INTERVAL + SLACK
    states = store.query("SELECT status, count() FROM turn_summary GROUP BY 1").rows
    counts = {str(status): int(count) for status, count in states}
    outcome.turns, outcome.running = sum(counts.values()), counts.get("running", 0)
    return outcome


def main() -> None:
    """Kill, and print what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=9)
    parser.add_argument("--store", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = kill_many(given.store or f"chdb://{folder}/store", given.kills, given.seed)
    print(outcome)
    sys.exit(bool(outcome.lost or outcome.duplicated or outcome.running))


if __name__ == "__main__":
    main()
