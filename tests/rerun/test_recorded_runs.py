"""Recorded runs and traffic, played and run again as ``benchmarks/reruns.py`` plays all of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import pytest

import turnspan
from support.representatives import few
from support.rerun_comparison import compare
from support.reruns import land
from support.run_player import MANNERS, Manner, RunPlayer, RunServer
from support.shared import trajectories
from support.traffic_player import TrafficCall, outcomes, send_together, traffic
from turnspan.testing import Recorded, record
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.store.client import Store
from turnspan_demo.model import Reply, Run, ToolUse, Turn
from turnspan_demo.trajectories import load
from turnspan_records.again.rerun.recording import load_recording

pytestmark = pytest.mark.parametrize("module_store", ["embedded"], indirect=True)
_CALLED = '{"command": "make"}'
FAILING = Run(
    "failing",
    (
        Turn(
            "Build it.",
            (
                Reply(tools=(ToolUse("call_1", "sh", _CALLED, f"{'long ' * 300}\n", failed=True),)),
                Reply("Again.", (ToolUse("call_2", "sh", _CALLED, "", failed=True),)),
                Reply(tools=(ToolUse("call_2", "sh", _CALLED, "built"),)),
                Reply("Done."),
            ),
        ),
    ),
)
"""Its tool raises an exception whose class has the name of others, with a text that a status has no
room for, and with none; its model calls two tools by one id."""


@pytest.fixture
def server() -> Iterator[RunServer]:
    """The models; everything is instrumented."""
    turnspan.instrument()
    with RunServer() as server:
        yield server
    turnspan.uninstrument()


@pytest.fixture(scope="module")
def pairs() -> list[tuple[Run, Run]]:
    """Runs of some layouts, each with another one that is played beside it."""
    files = trajectories("tau-bench__gpt-4o-airline", "swe-agent__demos", "tau2__activegraph")
    runs = [min(load(path, 20), key=lambda run: sum(map(_calls, run.turns))) for path in files]
    return list(zip_longest((FAILING, *runs), runs, fillvalue=FAILING))


def _calls(turn: Turn) -> int:
    return len(turn.replies)


@pytest.mark.parametrize("number", few(range(len(MANNERS)), (0, 3, 5, 6, 8, 11)))
def test_recorded_runs(
    module_store: Store, server: RunServer, pairs: list[tuple[Run, Run]], number: int
) -> None:
    """Of every SDK: each request is the same byte by byte, no tool runs, nothing is asked of any
    other address."""
    manner: Manner = MANNERS[number]
    pair = pairs[number % len(pairs)]
    runs = {f"{number}-{place}": run for place, run in enumerate(pair)}
    player = RunPlayer(server.url)
    for conversation, run in runs.items():
        server.expect(conversation, run, manner.sdk)
    with record() as recorded:
        replies = player.play(runs, str(manner), manner)
    recording = load_recording(module_store, land(module_store, recorded), str(manner))
    sent, ran = server.bodies(list(runs)), player.ran.total()
    found = compare(
        recording,
        sent,
        [replies[name] for name in runs],
        lambda _: list(player.play(runs, str(manner), manner).values()),
    )
    player.close()
    assert found.exact, found
    assert (found.requests, found.tools) == (len(sent), ran)
    assert (len(server.received), player.ran.total()) == (len(sent), ran)


SENDERS = ("anthropic", "google", "http", "openai")


@pytest.mark.release
@pytest.mark.parametrize("asynchronous", (False, True))
def test_recorded_traffic(module_store: Store, asynchronous: bool) -> None:
    """By every SDK and without any: two calls at a time are answered without the network."""
    found, _ = traffic()
    turnspan.instrument()
    try:
        for sender in SENDERS:
            calls = [call for call in found if call.sender == sender][:2]
            if calls:  # the sample has none of Google's
                _sent_again(module_store, tuple(calls), asynchronous)
    finally:
        turnspan.uninstrument()


def _sent_again(store: Store, calls: tuple[TrafficCall, ...], asynchronous: bool) -> None:
    key = f"{calls[0].sender}-{asynchronous}"
    with record() as recorded:
        sent = send_together(calls, key, asynchronous=asynchronous)
        first = outcomes(recorded.rows(LlmCall))
    recording = load_recording(store, land(store, recorded), key)

    def again(rows: Recorded) -> list[tuple[Any, ...]]:
        assert send_together(calls, key, asynchronous=asynchronous, real=True) == []
        return outcomes(rows.rows(LlmCall))

    compared = compare(recording, sent, first, again)
    assert compared.requests == len(calls)
    assert compared.exact, (calls, compared)
