"""How much longer the event loop stands still because calls are recorded.

    python benchmarks/event_loop.py [--rounds 9] [--calls 200] [--json]

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
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from typing import Any

import openai
from calling_thread import ANSWER
from openai.types.chat import ChatCompletion

SHAPES = {"20 x 50 KB": 20, "1,000 x 1 KB": 1_000}
CONTEXT = 1_000_000
SPREAD_SECONDS = 1.0
"""All calls begin within this time, and each is answered this much after it began."""
VARIANTS = ("without", "turnspan")
GOAL_MS = 1.0


def conversation(messages: int, number: int) -> list[Any]:
    """1 MB in this many messages; no text is any other conversation's."""
    words = "the quick brown fox jumps over the lazy dog " * (CONTEXT // messages // 44 + 1)
    return [
        {"role": ("user", "assistant")[i % 2], "content": f"{number}.{i} {words}"}
        for i in range(messages)
    ]


def stub_requests() -> None:
    """Replace what is below the methods of the SDK: a wait, and a result made beforehand."""
    answer = ChatCompletion.model_validate(ANSWER)

    async def request(client: Any, cast_to: Any, options: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(SPREAD_SECONDS)
        return answer

    def transform(data: dict[str, Any], _: Any) -> Any:
        async def given() -> dict[str, Any]:
            return {key: value for key, value in data.items() if is_given(value)}

        return given()

    is_given = import_module("openai._utils").is_given
    sdk: Any = import_module("openai._base_client").AsyncAPIClient
    sdk.request = request
    chat = import_module("openai.resources.chat.completions.completions")
    chat.async_maybe_transform = transform


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
    if variant == "turnspan":
        import turnspan

        turnspan.configure(service_name="bench", store=f"chdb://{tempfile.mkdtemp()}")
        turnspan.instrument(only=["turnspan_openai"])
    for number, _ in enumerate(sys.stdin):
        conversations = [conversation(messages, number * calls + i) for i in range(calls)]
        gaps = sorted(asyncio.run(round_of(conversations)))
        over = [sum(gap > limit / 1e3 for gap in gaps) for limit in (1, 2, 5)]
        print(json.dumps({"worst": gaps[-1] * 1e3, "over": over, "n": len(gaps)}), flush=True)


def run(messages: int, rounds: int, calls: int) -> dict[str, list[dict[str, Any]]]:
    """The rounds of both processes, by turns."""
    found: dict[str, list[dict[str, Any]]] = {}
    children = {
        variant: subprocess.Popen(
            [sys.executable, __file__, "--child", variant, str(messages), str(calls)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for variant in VARIANTS
    }
    for number in range(rounds + 1):
        for variant, process in children.items():
            assert process.stdin is not None
            assert process.stdout is not None
            print(file=process.stdin, flush=True)
            answer = json.loads(process.stdout.readline())
            if number:  # the first warms up
                found.setdefault(variant, []).append(answer)
    for process in children.values():
        process.communicate()
    return found


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
    for shape, messages in SHAPES.items():
        found = run(messages, arguments.rounds, arguments.calls)
        print(
            shape, {v: [(round(r["worst"], 2), r["over"]) for r in rs] for v, rs in found.items()}
        )


if __name__ == "__main__":
    main()
