"""How much longer the event loop stands still because calls are recorded.

    python benchmarks/event_loop.py [--rounds 9] [--calls 200]

200 conversations of 1 MB each, no two alike, are under way at once: each begins at a moment of its
own within a second and is answered while the others wait. Meanwhile a task does nothing but let the
loop go round and notes how long each turn of it took; the longest is the round's stall. Two
processes, one with Turnspan (content on, its worker writing a real spool) and one without, take
turns; the figure is the difference of their medians. The SDK runs from
``AsyncAPIClient.request`` up; below it, a sleep stands for the network.
"""

from __future__ import annotations

import argparse
import asyncio
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

SHAPES = {"20 x 50 KB": 20, "1,000 x 1 KB": 1_000}
CONTEXT = 1_000_000
SPREAD_SECONDS = 1.0
"""All calls begin within this time, and each is answered this much after it began."""
VARIANTS = ("without", "turnspan")
GOAL_MS = 1.0
STALL_MS = 3.0
"""What counts as a stall: a turn of the idle loop takes up to 1.1 ms, its timers' resolution."""


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


def child(variant: str, messages: int, calls: int) -> None:
    """Run a round a line of input; answer each with what the turns of the loop took."""
    stub_requests()
    with tempfile.TemporaryDirectory() as folder:
        if variant == "turnspan":
            turnspan.configure(service_name="bench", store=f"chdb://{folder}")
            turnspan.instrument(only=["turnspan_openai"])
        answer_rounds(messages, calls)
        turnspan.shutdown()


def answer_rounds(messages: int, calls: int) -> None:
    """A round a line of input; what was recorded in it is written before it is answered."""
    for number, _ in enumerate(sys.stdin):
        conversations = [conversation(messages, number * calls + i) for i in range(calls)]
        gaps = sorted(asyncio.run(round_of(conversations)))
        over = sum(gap > STALL_MS / 1e3 for gap in gaps)
        turnspan.flush()
        print(json.dumps({"longest": gaps[-1] * 1e3, "over": over}), flush=True)


def run(messages: int, rounds: int, calls: int) -> dict[str, dict[str, float]]:
    """The medians of both processes, whose rounds take turns."""
    children = {
        variant: subprocess.Popen(
            [sys.executable, __file__, "--child", variant, str(messages), str(calls)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for variant in VARIANTS
    }
    found: dict[str, list[dict[str, float]]] = {variant: [] for variant in VARIANTS}
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
    return {
        variant: {
            "longest": statistics.median(each["longest"] for each in answers),
            "over": statistics.median(each["over"] for each in answers),
        }
        for variant, answers in found.items()
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        variant, messages, calls = arguments.child
        child(variant, int(messages), int(calls))
        return
    print(f"{'':<14}{'longest stall, ms':^36}{'turns of the loop over 3 ms':>32}")
    print(f"{'':<14}{'without':>12}{'turnspan':>12}{'added':>12}{'without':>20}{'turnspan':>12}")
    for shape, messages in SHAPES.items():
        found = run(messages, arguments.rounds, arguments.calls)
        without, ours = (found[variant] for variant in VARIANTS)
        added = ours["longest"] - without["longest"]
        print(
            f"{shape:<14}{without['longest']:>12.2f}{ours['longest']:>12.2f}{added:>12.2f}"
            f"{without['over']:>20.0f}{ours['over']:>12.0f}"
            f"  (goal: {GOAL_MS:.0f} ms added: {'reached' if added < GOAL_MS else 'MISSED'})"
        )


if __name__ == "__main__":
    main()
