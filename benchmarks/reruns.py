"""Everything that is recorded is played and run again: how many requests are byte by byte the same.

    .venv/bin/python benchmarks/reruns.py                    each run in one manner, by turns
    .venv/bin/python benchmarks/reruns.py --manners 12       in every manner (an hour of CPU)
    .venv/bin/python benchmarks/reruns.py --only swe-agent   what has this in its name

Runs are the trajectories of ``shared/data`` and the conversations that ``llm`` logged of
consortiums: agents of three SDKs play them, plain and streamed, in threads and in tasks, two at a
time in one session. Traffic is the recorded HTTP, sent by the SDK that knows its API, two calls at
a time. Each session lands in a store, is read from there and run again.

Secrets are not masked: a masked reply is another one when it is given again.

Exits with 1 where a request or a reply is another, a tool ran, or something was looked for outside
the rerun's server.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, TypeVar

import turnspan
from turnspan import config
from turnspan.testing import Recorded, record
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_demo.model import Run
from turnspan_demo.trajectories import load
from turnspan_records.again.rerun.recording import load_recording

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.kept_stores import migrated
from support.rerun_comparison import Comparison, compare
from support.reruns import land
from support.run_player import MANNERS, Manner, RunPlayer, RunServer, logged_runs
from support.shared import recorded_data, trajectories
from support.traffic_player import TrafficCall, outcomes, send_together, traffic

TOGETHER: Final = 2
BATCH: Final = 12
"""Sessions that are recorded before they are landed."""
T = TypeVar("T")


@dataclass(frozen=True)
class RunSession:
    """Runs of a file that are played at once."""

    name: str
    runs: tuple[Run, ...]
    manner: Manner

    @property
    def way(self) -> str:
        """How they are played."""
        return str(self.manner)


@dataclass(frozen=True)
class TrafficSession:
    """Recorded calls of one kind that are sent at once."""

    name: str
    calls: tuple[TrafficCall, ...]
    asynchronous: bool

    @property
    def way(self) -> str:
        """How they are sent."""
        return f"traffic {'async' if self.asynchronous else 'sync'}"


Session = RunSession | TrafficSession
Play = Callable[[Recorded, bool], tuple[list[bytes], Sequence[Any]]]
"""Plays a session, or plays it again; returns what the models were sent, and what became of it."""


def run_sessions(only: str, manners: int) -> Iterator[RunSession]:
    """All runs, those of a file two and two: each in a manner, by turns, before in a second."""
    files = [(path.stem, partial(load, path)) for path in trajectories()]
    logs = sorted(recorded_data("consortium").glob("*/*.db.gz"))
    files += [(f"consortium {path.parent.name}", partial(logged_runs, path)) for path in logs]
    read = [(name, runs()) for name, runs in files if only in name]
    pairs = [(name, pair) for name, runs in read for pair in _by(TOGETHER, runs)]
    for round_ in range(manners):
        for place, (name, pair) in enumerate(pairs):
            yield RunSession(name, pair, MANNERS[(place + round_) % len(MANNERS)])


def traffic_sessions(only: str) -> Iterator[TrafficSession]:
    """All recorded traffic that can be sent, by threads and by tasks."""
    found, left = traffic()
    for reason, count in Counter(left.values()).items():
        print(f"{count} recorded exchanges are not sent: {reason}")
    by_sender: dict[str, list[TrafficCall]] = defaultdict(list)
    for call in found:
        by_sender[f"traffic by {call.sender}"].append(call)
    for name, calls in by_sender.items():
        for pair in _by(TOGETHER, calls) if only in name else ():
            yield from (TrafficSession(name, pair, way) for way in (False, True))


def _by(size: int, items: Iterable[T]) -> Iterator[tuple[T, ...]]:
    left = iter(items)
    while found := tuple(islice(left, size)):
        yield found


def rerun(sessions: Sequence[Session]) -> list[tuple[Session, Comparison]]:
    """Play some sessions, land them, and run each again."""
    os.environ["TURNSPAN_MASK_SECRETS"] = "false"
    config.activate(config.resolve({}))
    turnspan.instrument()
    found: list[tuple[Session, Comparison]] = []
    with tempfile.TemporaryDirectory() as folder, RunServer() as server:
        player = RunPlayer(server.url)
        plays = [_play(one, f"session-{n}", player, server) for n, one in enumerate(sessions)]
        with migrated(Dsn(scheme="chdb", path=Path(folder) / "store")) as store:
            with record() as recorded:
                first = [play(recorded, False) for play in plays]
            project = land(store, recorded)
            for number, (session, play) in enumerate(zip(sessions, plays, strict=True)):
                recording = load_recording(store, project, f"session-{number}")
                came, ran = len(server.received), player.ran.total()
                compared = compare(recording, *first[number], lambda rows: play(rows, True)[1])  # noqa: B023
                compared.elsewhere += len(server.received) - came
                compared.ran = player.ran.total() - ran
                found.append((session, compared))
        player.close()
    return found


def _play(session: Session, key: str, player: RunPlayer, server: RunServer) -> Play:
    if isinstance(session, TrafficSession):

        def send(recorded: Recorded, again: bool) -> tuple[list[bytes], Sequence[Any]]:
            way = session.asynchronous
            bodies = send_together(session.calls, key, asynchronous=way, real=again)
            rows = recorded.rows(LlmCall)
            return bodies, outcomes(r for r in rows if r.session_id.partition("~")[0] == key)

        return send
    runs = {f"{key}-{place}": run for place, run in enumerate(session.runs)}

    def play(_: Recorded, again: bool) -> tuple[list[bytes], Sequence[Any]]:
        for conversation, run in () if again else runs.items():
            server.expect(conversation, run, session.manner.sdk)
        said = player.play(runs, key, session.manner)
        return server.bodies(list(runs)), [said[conversation] for conversation in runs]

    return play


HEAD: Final = ("requests", "equal", "replies", "equal", "tools", "ran", "out", "words")


def _line(name: str, found: Comparison) -> str:
    shares = (
        *(found.requests, f"{found.equal / max(1, found.requests):.2%}"),
        *(found.replies, f"{found.equal_replies / max(1, found.replies):.2%}"),
        *(found.tools, found.ran, found.elsewhere, len(found.differences)),
    )
    return _row(name, shares)


def _row(name: str, cells: Iterable[object]) -> str:
    return f"{name:<50}" + "".join(f"{cell!s:>9}" for cell in cells)


def main() -> None:
    """Play, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--manners", type=int, default=1, help=f"of {len(MANNERS)}")
    parser.add_argument("--only", default="", help="what has this in its name")
    parser.add_argument("--kind", choices=("runs", "traffic"), help="else both")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--skip", type=int, default=0, help="batches that were played before")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin nothing later")
    given = parser.parse_args()
    work: list[Session] = []
    if given.kind != "traffic":
        work += run_sessions(given.only, given.manners)
    if given.kind != "runs":
        work += traffic_sessions(given.only)
    batches = islice(_by(BATCH, work), given.skip, None)
    rows: dict[str, Comparison] = defaultdict(Comparison)
    began = time.monotonic()
    until, context = began + given.minutes * 60, get_context("spawn")
    with context.Pool(given.processes, maxtasksperchild=20) as pool:
        for number, results in enumerate(pool.imap(partial(_in_time, until), batches), given.skip):
            for session, found in results:
                if not found.exact:
                    names = [one.name for one in getattr(session, "calls", ())]
                    print(f"{session.name}, {session.way} {names}: {found}", flush=True)
                for row in (session.name, session.way, "all"):
                    rows[row] += found
            print(f"batch {number}: {rows['all'].requests}", file=sys.stderr, flush=True)
    print(_row("", HEAD))
    total = rows.pop("all", Comparison())
    for name, found in (*sorted(rows.items()), ("all", total)):
        print(_line(name, found))
    print(f"{time.monotonic() - began:.0f} s")
    sys.exit(not total.exact)


def _in_time(until: float, batch: Sequence[Session]) -> list[tuple[Session, Comparison]]:
    return rerun(batch) if time.monotonic() < until else []


if __name__ == "__main__":
    main()
