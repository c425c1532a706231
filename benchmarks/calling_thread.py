"""What one instrumented OpenAI call costs the thread that makes it, beside a bare SDK span.

Measured from where the SDK takes a request over to where it makes the result of the response, with
both replaced by functions that do nothing but give a result made beforehand: what the SDK does in
between is the same with and without tracing, and would only add noise. Three variants run
interleaved: the SDK alone, the SDK with a bare span (``start_span`` with all the attributes that
we set, given at its start; no content), and the SDK with Turnspan, content on. The figure is what
a variant adds to the SDK alone: CPU time of the calling thread, the median of the rounds.

    python benchmarks/calling_thread.py [--rounds 21] [--calls 200] [--json]
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.trace import SpanKind

import turnspan
from turnspan.runtime.ids import SecureIdGenerator
from turnspan.tracing.state import default

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": f"tool_{number}",
            "description": "Looks something up and says what it found. " * 4,
            "parameters": {
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What to look for."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                },
                "required": ["query"],
            },
        },
    }
    for number in range(8)
]


def conversation(messages: int, size: int) -> list[Any]:
    """A history of this many messages and about this many characters, with tool calls in it."""
    text = "The quick brown fox jumps over the lazy dog. " * (size // messages // 45 + 1)
    history: list[Any] = [{"role": "system", "content": text}]
    while len(history) < messages:
        number = len(history)
        call = {"name": "tool_1", "arguments": '{"query": "fox"}'}
        asked = {"id": f"call_{number}", "type": "function", "function": call}
        history += [
            {"role": "user", "content": text},
            {"role": "assistant", "content": text, "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": f"call_{number}", "content": text},
            {"role": "assistant", "content": text},
        ]
    return history[:messages]


CASES: dict[str, dict[str, Any]] = {
    "small": {"messages": [{"role": "user", "content": "hi"}]},
    "realistic": {"messages": conversation(20, 30_000), "tools": TOOLS, "temperature": 0.2},
    "large": {"messages": conversation(20, 500_000), "tools": TOOLS, "temperature": 0.2},
}

ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "gpt-4o-mini-2024-07-18",
    "system_fingerprint": "fp_1",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Here is what I found. " * 20},
        }
    ],
    "usage": {
        "prompt_tokens": 7000,
        "completion_tokens": 120,
        "total_tokens": 7120,
        "prompt_tokens_details": {"cached_tokens": 6000},
        "completion_tokens_details": {"reasoning_tokens": 0},
    },
}


def chunks(count: int) -> list[ChatCompletionChunk]:
    """A stream of this many pieces of text, with its ends."""

    def chunk(delta: dict[str, Any], reason: str | None = None, **more: Any) -> ChatCompletionChunk:
        fields: dict[str, Any] = {
            "id": "chatcmpl-1",
            "created": 1,
            "model": "gpt-4o-mini-2024-07-18",
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
        return ChatCompletionChunk.model_validate({**fields, **more})

    texts = [chunk({"content": "word "}) for _ in range(count)]
    usage = chunk({}, choices=[], usage=ANSWER["usage"])
    return [chunk({"role": "assistant", "content": ""}), *texts, chunk({}, "stop"), usage]


class Keep(SpanProcessor):
    """The least that a processor can do."""

    def __init__(self) -> None:
        self.spans: deque[ReadableSpan] = deque(maxlen=10_000)

    def on_end(self, span: ReadableSpan) -> None:
        """Keep it."""
        self.spans.append(span)


class Stream:
    """What the SDK's stream has to do with us: an iterator of its own, and attributes."""

    def __init__(self, parts: list[Any]) -> None:
        self._iterator: Iterator[Any] = (part for part in parts)

    def __iter__(self) -> Iterator[Any]:
        yield from self._iterator


class Bench:
    """One client, its stubbed SDK, and the three variants of a call."""

    def __init__(self) -> None:
        self.keep = Keep()
        self.provider = TracerProvider(id_generator=SecureIdGenerator())
        self.provider.add_span_processor(self.keep)
        self.tracer = self.provider.get_tracer("bare")
        self.answer = ChatCompletion.model_validate(ANSWER)
        self.parts: list[ChatCompletionChunk] = []
        self.client = openai.OpenAI(api_key="k", base_url="https://api.openai.com/v1")
        self.attributes: dict[str, Any] = {}
        self.options: Any = None

        body = httpx2.Response(200, content=json.dumps(ANSWER).encode())

        def request(client: Any, cast_to: Any, options: Any, **kwargs: Any) -> Any:
            self.options = options
            return client._process_response(response=body, stream=kwargs.get("stream"))

        def process(client: Any, response: Any, stream: bool) -> Any:
            return Stream(self.parts) if stream else self.answer

        sdk: Any = import_module("openai._base_client").SyncAPIClient
        sdk.request, sdk._process_response = request, process

    def prepare(self, case: dict[str, Any]) -> tuple[Any, bool]:
        """The request that the SDK makes of a call, as it reaches ``request``."""
        self.client.chat.completions.create(model="gpt-4o-mini", **case)
        return self.options, bool(case.get("stream"))

    def plain(self, case: tuple[Any, bool]) -> None:
        """The SDK alone, from where it hands the request over."""
        options, stream = case
        answer: Any = self.client.request(ChatCompletion, options, stream=stream)
        if stream:
            for _ in answer:
                pass

    def bare(self, case: tuple[Any, bool]) -> None:
        """The SDK and a span."""
        span = self.tracer.start_span(
            "chat gpt-4o-mini", kind=SpanKind.CLIENT, attributes=self.attributes
        )
        self.plain(case)
        span.end()

    def measure(self, run: Callable[[Any], None], case: Any, calls: int) -> float:
        """CPU microseconds a call."""
        gc.collect()
        gc.disable()
        try:
            before = time.thread_time_ns()
            for _ in range(calls):
                run(case)
            return (time.thread_time_ns() - before) / calls / 1_000
        finally:
            gc.enable()
            self.drain()

    def drain(self) -> None:
        """Take what the calls left, as an exporter would."""
        while self.keep.spans:
            span = self.keep.spans.popleft()
            if span.context is not None:
                default.content.take(span.context.trace_id, span.context.span_id)

    def instrumented(self, on: bool) -> None:
        """Switch Turnspan on or off."""
        if on:
            turnspan.instrument(tracer_provider=self.provider)
        else:
            turnspan.uninstrument()

    def round(self, case: tuple[Any, bool], calls: int) -> tuple[float, float]:
        """What a bare span and what Turnspan add to one call."""
        plain = self.measure(self.plain, case, calls)
        bare = self.measure(self.bare, case, calls)
        self.instrumented(True)
        ours = self.measure(self.plain, case, calls)
        self.instrumented(False)
        return bare - plain, ours - plain

    def learn(self, case: tuple[Any, bool]) -> None:
        """Read off one recorded call which attributes the bare span has to carry."""
        self.instrumented(True)
        self.plain(case)
        self.instrumented(False)
        self.attributes = dict(self.keep.spans[-1].attributes or {})
        self.drain()


def run(rounds: int, calls: int) -> dict[str, dict[str, float]]:
    """Measure every case."""
    bench = Bench()
    default.content.attach()
    results: dict[str, dict[str, float]] = {}
    for name, case in CASES.items():
        results[name] = compare(bench, case, rounds, calls)
    bench.parts = chunks(50)
    case = {**CASES["small"], "stream": True}
    results["stream of 50"] = compare(bench, case, rounds, calls)
    bench.parts = chunks(1_050)
    longer = compare(bench, case, rounds, max(1, calls // 10))
    per_chunk = (longer["turnspan"] - results["stream of 50"]["turnspan"]) / 1_000
    results["one chunk"] = {"turnspan": per_chunk}
    return results


def compare(bench: Bench, case: dict[str, Any], rounds: int, calls: int) -> dict[str, float]:
    """The medians of one case and their ratio."""
    prepared = bench.prepare(case)
    bench.learn(prepared)
    bench.round(prepared, max(1, calls // 4))
    pairs = [bench.round(prepared, calls) for _ in range(rounds)]
    bare = statistics.median(pair[0] for pair in pairs)
    ours = statistics.median(pair[1] for pair in pairs)
    return {"bare": bare, "turnspan": ours, "ratio": statistics.median(b / a for a, b in pairs)}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = run(arguments.rounds, arguments.calls)
    if arguments.json:
        print(json.dumps(results, indent=2))
        return
    print(f"{'case':<14}{'bare span, us':>15}{'turnspan, us':>15}{'ratio':>8}")
    for name, result in results.items():
        bare, ratio = result.get("bare"), result.get("ratio")
        print(
            f"{name:<14}"
            + (f"{bare:>15.1f}" if bare is not None else f"{'':>15}")
            + f"{result['turnspan']:>15.2f}"
            + (f"{ratio:>8.2f}" if ratio is not None else "")
        )


if __name__ == "__main__":
    main()
