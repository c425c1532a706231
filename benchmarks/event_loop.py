"""How much longer the event loop stands still because calls are recorded.

    python benchmarks/event_loop.py [--rounds 9] [--calls 200] [--shape NAME]

200 conversations of 1 MB each, no two alike, are under way at once: each begins at a moment of its
own within a second and is answered while the others wait. Meanwhile a task does nothing but let the
loop go round and notes how long each turn of it took. Two processes, one with Turnspan (content on,
its worker writing a real spool) and one without, take turns. The SDK runs from
``AsyncAPIClient.request`` up; below it, a sleep stands for the network.

In one shape the conversations go on from round to round, each with one more question: what an agent
does. In the others all are new in each round.

Of each round: its longest stall, and what 99.9 % of the loop's turns stayed under. What is added is
the median over the rounds of the difference to the round of the other process just before, so that
what else the machine does weighs on both. Full garbage collections stop every thread for as long as
there is much to look at, whoever causes them; they are counted, and the longest is shown.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import openai
from calling_thread import ANSWER
from openai.types.chat import ChatCompletion
from recorders import stub_sdk

import turnspan

SHAPES = {
    "20 x 50 KB, new": (20, False),
    "1,000 x 1 KB, new": (1_000, False),
    "1,000 x 1 KB, sent again": (1_000, True),
}
"""Messages a conversation has, and whether it goes on from round to round."""
CONTEXT = 1_000_000
SPREAD_SECONDS = 1.0
"""All calls begin within this time, and each is answered this much after it began."""
VARIANTS = ("without", "turnspan")
FIGURES = ("longest", "p99.9", "full", "full_ms")
GOAL_MS = 1.0

Round = dict[str, float]
"""FIGURES of a round; all but ``full``, a number, in milliseconds."""


def conversation(messages: int, number: int) -> list[Any]:
    """1 MB in this many messages; no text is any other conversation's."""
    words = "the quick brown fox jumps over the lazy dog " * (CONTEXT // messages // 44 + 1)
    return [
        {"role": ("user", "assistant")[i % 2], "content": f"{number}.{i} {words}"}
        for i in range(messages)
    ]


def stub_requests() -> None:
    """Answer every request with a result made beforehand, after a wait."""
    answer = ChatCompletion.model_validate(ANSWER)

    async def request(client: Any, cast_to: Any, options: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(SPREAD_SECONDS)
        return answer

    stub_sdk(request, "AsyncAPIClient")


async def watch(gaps: list[float]) -> None:
    """Note how long each turn of the loop takes."""
    before = time.perf_counter()
    while True:
        await asyncio.sleep(0.000_1)
        now = time.perf_counter()
        gaps.append(now - before)
        before = now


async def call(client: openai.AsyncOpenAI, messages: list[Any], begin: float) -> None:
    """One call, at its moment."""
    await asyncio.sleep(begin)
    await client.chat.completions.create(model="gpt-4o-mini", messages=messages)


async def round_of(conversations: list[list[Any]]) -> list[float]:
    """All conversations at once: the loop's turns, seconds."""
    gaps: list[float] = []
    client = openai.AsyncOpenAI(api_key="k", base_url="https://api.openai.com/v1")
    moments = random.Random(0)
    watcher = asyncio.create_task(watch(gaps))
    await asyncio.gather(
        *(call(client, each, moments.uniform(0, SPREAD_SECONDS)) for each in conversations)
    )
    await asyncio.sleep(SPREAD_SECONDS)  # the last are still being written
    watcher.cancel()
    return gaps


def child(variant: str, messages: int, again: bool, calls: int) -> None:
    """Run a round a line of input; answer each with its figures."""
    stub_requests()
    with tempfile.TemporaryDirectory() as folder:
        if variant == "turnspan":
            turnspan.configure(service_name="bench", store=f"chdb://{folder}")
            turnspan.instrument(only=["turnspan_openai"])
        answer_rounds(messages, again, calls)
        turnspan.shutdown()


def answer_rounds(messages: int, again: bool, calls: int) -> None:
    """A round a line of input; what was recorded in it is written before it is answered."""
    collections = Collections()
    conversations: list[list[Any]] = []
    for number, _ in enumerate(sys.stdin):
        if conversations and again:
            for i, each in enumerate(conversations):
                each.append({"role": "assistant", "content": f"answer {number} of {i}"})
                each.append({"role": "user", "content": f"question {number} of {i}"})
        else:
            conversations = [conversation(messages, number * calls + i) for i in range(calls)]
        collections.full.clear()
        gaps = sorted(asyncio.run(round_of(conversations)))
        found = [
            gaps[-1] * 1e3,
            gaps[int(len(gaps) * 0.999)] * 1e3,
            float(len(collections.full)),
            max(collections.full, default=0.0) * 1e3,
        ]
        turnspan.flush()
        print(json.dumps(dict(zip(FIGURES, found, strict=True))), flush=True)


class Collections:
    """The full garbage collections of the process, seconds each."""

    def __init__(self) -> None:
        self.full: list[float] = []
        self._began = 0.0
        gc.callbacks.append(self._note)

    def _note(self, phase: str, facts: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.perf_counter()
        elif facts["generation"] == 2:
            self.full.append(time.perf_counter() - self._began)


def run(messages: int, again: bool, rounds: int, calls: int) -> dict[str, list[Round]]:
    """The rounds of both processes, which take turns."""
    asked = [str(messages), str(int(again)), "--calls", str(calls)]
    children = {
        variant: subprocess.Popen(
            [sys.executable, __file__, "--child", variant, *asked],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for variant in VARIANTS
    }
    found: dict[str, list[Round]] = {variant: [] for variant in VARIANTS}
    for number in range(rounds + 1):
        for variant, process in children.items():
            assert process.stdin is not None
            assert process.stdout is not None
            print(file=process.stdin, flush=True)
            answer = json.loads(process.stdout.readline())
            if number:  # the first warms up
                found[variant].append(answer)
    for process in children.values():
        process.communicate()
    return found


def show(shape: str, found: dict[str, list[Round]]) -> None:
    """Print a shape's table."""
    print(f"{shape:<26}{'without':>10}{'turnspan':>10}{'added':>10}")
    rounds = list(zip(*(found[variant] for variant in VARIANTS), strict=True))
    for figure, title in (("longest", "longest stall, ms"), ("p99.9", "99.9 % under, ms")):
        medians = [statistics.median(each[figure] for each in found[v]) for v in VARIANTS]
        added = statistics.median(ours[figure] - without[figure] for without, ours in rounds)
        verdict = "reached" if added < GOAL_MS else "MISSED"
        goal = f"  (goal: {GOAL_MS:.0f} ms: {verdict})" if figure == "longest" else ""
        print(f"  {title:<24}{medians[0]:>10.2f}{medians[1]:>10.2f}{added:>10.2f}{goal}")
    for figure, title in (("full", "full collections"), ("full_ms", "the longest, ms")):
        total = sum if figure == "full" else max
        values = [total(each[figure] for each in found[variant]) for variant in VARIANTS]
        print(f"  {title:<24}{values[0]:>10.0f}{values[1]:>10.0f}")


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--shape", choices=tuple(SHAPES), help="this one only")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        variant, messages, again = arguments.child
        child(variant, int(messages), again == "1", arguments.calls)
        return
    for shape, (messages, again) in SHAPES.items():
        if arguments.shape in (None, shape):
            show(shape, run(messages, again, arguments.rounds, arguments.calls))


if __name__ == "__main__":
    main()
