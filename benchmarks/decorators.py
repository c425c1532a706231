"""What a decorated function costs the thread that runs it, beside a span put around it by hand.

Four kinds of function that do next to nothing (the generators give ten items), each alone, with
``start_as_current_span`` around its body (given all the attributes that we set, at its start), and
decorated, content on. The figure is what a variant adds to the function alone: CPU time of the
calling thread, the median of interleaved rounds.

    python benchmarks/decorators.py [--rounds 21] [--calls 300] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

import turnspan
from turnspan.runtime.ids import SecureIdGenerator
from turnspan.tracing.state import default

Measured = Callable[[], Awaitable[None]]
ITEMS = range(10)

DECORATORS: dict[str, Callable[[Any], Any]] = {
    "step": turnspan.step("work"),
    "tool": turnspan.tool("work"),
    "agent": turnspan.agent("work"),
}


def plain(query: str) -> str:
    """A function."""
    return query


async def coroutine(query: str) -> str:
    """A coroutine function."""
    return query


def generator(query: str) -> Iterator[str]:
    """A generator function."""
    for _ in ITEMS:
        yield query


async def async_generator(query: str) -> AsyncIterator[str]:
    """An asynchronous generator function."""
    for _ in ITEMS:
        yield query


class Keep(SpanProcessor):
    """The least that a processor can do."""

    def __init__(self) -> None:
        self.spans: deque[ReadableSpan] = deque(maxlen=10_000)

    def on_end(self, span: ReadableSpan) -> None:
        """Keep it."""
        self.spans.append(span)


class Bench:
    """The provider that all variants record under."""

    def __init__(self) -> None:
        self.keep = Keep()
        self.provider = TracerProvider(id_generator=SecureIdGenerator())
        self.provider.add_span_processor(self.keep)
        self.tracer = self.provider.get_tracer("by hand")
        default.provider = self.provider
        default.content.attach()

    def by_hand(self, func: Any, name: str, attributes: Mapping[str, Any]) -> Any:
        """The function with a span around its body."""
        start = self.tracer.start_as_current_span

        def around(query: str) -> Any:
            with start(name, attributes=attributes):
                return func(query)

        async def around_coroutine(query: str) -> Any:
            with start(name, attributes=attributes):
                return await func(query)

        def around_generator(query: str) -> Iterator[Any]:
            with start(name, attributes=attributes):
                yield from func(query)

        async def around_async_generator(query: str) -> AsyncIterator[Any]:
            with start(name, attributes=attributes):
                async for item in func(query):
                    yield item

        made = (around, around_coroutine, around_generator, around_async_generator)
        return made[KINDS.index(func)]

    def drain(self) -> None:
        """Take what the calls left, as an exporter would."""
        while self.keep.spans:
            span = self.keep.spans.popleft()
            if span.context is not None:
                default.content.take(span.context.trace_id, span.context.span_id)
        default.content.take_facts()


KINDS: list[Any] = [plain, coroutine, generator, async_generator]


async def once(kind: Any, func: Any) -> None:
    """One call of a variant, to its end."""
    if kind is plain:
        func("a question")
    elif kind is coroutine:
        await func("a question")
    elif kind is generator:
        for _ in func("a question"):
            pass
    else:
        async for _ in func("a question"):
            pass


async def measure(bench: Bench, kind: Any, func: Any, calls: int) -> float:
    """CPU microseconds a call."""
    gc.collect()
    gc.disable()
    try:
        before = time.thread_time_ns()
        for _ in range(calls):
            await once(kind, func)
        return (time.thread_time_ns() - before) / calls / 1_000
    finally:
        gc.enable()
        bench.drain()


async def compare(bench: Bench, name: str, kind: Any, rounds: int, calls: int) -> dict[str, float]:
    """The medians of one decorator on one kind of function, and their ratio."""
    decorated = DECORATORS[name](kind)
    await once(kind, decorated)
    span = bench.keep.spans[-1]
    by_hand = bench.by_hand(kind, span.name, dict(span.attributes or {}))
    pairs: list[tuple[float, float]] = []
    for number in range(rounds + 1):
        alone = await measure(bench, kind, kind, calls)
        hand = await measure(bench, kind, by_hand, calls)
        ours = await measure(bench, kind, decorated, calls)
        if number:  # the first warms up
            pairs.append((hand - alone, ours - alone))
    return {
        "by hand": statistics.median(hand for hand, _ in pairs),
        "turnspan": statistics.median(ours for _, ours in pairs),
        "ratio": statistics.median(ours / hand for hand, ours in pairs),
    }


async def run(rounds: int, calls: int) -> dict[str, dict[str, float]]:
    """Measure every decorator on every kind of function."""
    bench = Bench()
    return {
        f"{name}, {kind.__name__}": await compare(bench, name, kind, rounds, calls)
        for name in DECORATORS
        for kind in KINDS
    }


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = asyncio.run(run(arguments.rounds, arguments.calls))
    if arguments.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{'decorator, function':<24}{'by hand, us':>14}{'turnspan, us':>14}{'ratio':>8}")
    for name, result in results.items():
        hand, ours = result["by hand"], result["turnspan"]
        print(f"{name:<24}{hand:>14.1f}{ours:>14.1f}{result['ratio']:>8.2f}")


if __name__ == "__main__":
    main()
