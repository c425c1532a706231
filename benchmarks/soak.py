"""The memory of a process that has recorded a million calls.

    python benchmarks/soak.py [--calls 1000000] [--landing]

An application with 64 conversations at a time talks to OpenAI's SDK: half of them as decorated
agents in sessions, with tools, half without any decorator. Each conversation's history grows until
it ends and another takes its place; every fifth call is streamed (every tenth of these broken off),
every hundredth fails. The records go the whole way into a spool of 256 MB whose server is away, so
the spool is full for most of the run: the oldest segments make room, and once it holds nothing but
calls and turns, messages are refused. With ``--landing`` segments are taken out of it as if they
had landed, so that what is remembered of messages fills up. The SDK runs from
``SyncAPIClient.request`` up. A call waits where the worker is 8,000 spans behind, so that what is
queued does not count as memory.

What is remembered of conversations is bounded by number, so memory grows until those bounds are
met; the figure is what it grows from 30 % of the calls to the last of them, the median of ten
samples at each end. The goal is 5 % at most.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from recorders import made_stream, stub_sdk

import turnspan
from turnspan.lifecycle import default_recorder
from turnspan.tracing.state import default
from turnspan_clickhouse import ClickHouseSpanExporter
from turnspan_clickhouse.spool.spool import Spool

CONVERSATIONS = 64
LONGEST = 30
"""Calls of one conversation at most."""
SPOOL_BYTES = 256 * 2**20
BEHIND = 8_000
WARM = 0.3
SAMPLES = 100
GOAL = 0.05
WORDS = "the quick brown fox jumps over the lazy dog while nobody looks at it " * 4


def resident() -> float:
    """The process's memory, MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# -- the provider ------------------


class Provider:
    """Answers requests in the SDK's place: texts and tool calls, streams and errors."""

    def __init__(self) -> None:
        self._numbers = count()
        self._random = random.Random(0)
        request = httpx2.Request("POST", "https://api.openai.com/v1/chat/completions")
        self._refusal = httpx2.Response(429, request=request, json={"error": {"code": "busy"}})
        self._opened = httpx2.Response(200, request=request)

    def answer(self, options: Any, stream: bool) -> Any:
        """What the SDK returns of a request."""
        number = next(self._numbers)
        if number % 100 == 99:
            raise openai.RateLimitError("busy", response=self._refusal, body={"code": "busy"})
        if stream:
            return self._stream(number)
        tools = "tools" in options.json_data and self._random.random() < 0.4
        return ChatCompletion.model_validate(self._answer(number, tools))

    def _answer(self, number: int, tools: bool) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": f"{number} {WORDS}"}
        if tools:
            function = {"name": "look_up", "arguments": f'{{"query": "{number}"}}'}
            call = {"id": f"call_{number}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        reason = "tool_calls" if tools else "stop"
        return {
            **_head(number, "chat.completion"),
            "choices": [{"index": 0, "finish_reason": reason, "message": message}],
            "usage": {"prompt_tokens": 700, "completion_tokens": 60, "total_tokens": 760},
        }

    def _stream(self, number: int) -> Any:
        head = _head(number, "chat.completion.chunk")
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": f"{number} {word} "} for word in WORDS.split()[:10]]
        choices: list[dict[str, Any]] = [{"index": 0, "delta": delta} for delta in deltas]
        choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
        chunks = [ChatCompletionChunk.model_validate({**head, "choices": [c]}) for c in choices]
        return made_stream(chunks, self._opened)


def _head(number: int, kind: str) -> dict[str, Any]:
    model = "gpt-4o-mini-2024-07-18"
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 1_790_000_000, "model": model}


def stub_requests() -> None:
    """Have a provider of ours answer."""
    provider = Provider()

    def request(client: Any, cast_to: Any, options: Any, **kwargs: Any) -> Any:
        return provider.answer(options, bool(kwargs.get("stream")))

    stub_sdk(request)


# -- the application ------------------

TOOLS: list[Any] = [
    {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object"}}}
]


@turnspan.tool
def look_up(query: str) -> str:
    """A tool."""
    return f"{query}: {WORDS}"


class Application:
    """Conversations under way; ``turn`` takes one of them a turn further."""

    def __init__(self) -> None:
        self.calls = 0
        self._client = openai.OpenAI(api_key="k", base_url="https://api.openai.com/v1")
        self._random = random.Random(1)
        self._begun = count()
        self._live = [self._conversation() for _ in range(CONVERSATIONS)]
        self._agent = turnspan.agent(name="support")(self._answer)

    def _conversation(self) -> tuple[int, int, list[Any]]:
        number = next(self._begun)
        system = {"role": "system", "content": f"Conversation {number}: {WORDS}"}
        return number, self._random.randint(2, LONGEST), [system]

    def turn(self) -> None:
        """One user's message and all that follows from it."""
        place = self._random.randrange(CONVERSATIONS)
        number, length, messages = self._live[place]
        messages.append({"role": "user", "content": f"{self.calls}? {WORDS}"})
        if number % 2:
            with turnspan.session(f"session-{number}"):
                self._agent(messages)
        else:
            self._answer(messages)
        if len(messages) > length * 2:
            self._live[place] = self._conversation()

    def _answer(self, messages: list[Any]) -> str:
        while True:
            self.calls += 1
            streamed = self.calls % 5 == 0
            try:
                reply = self._streamed(messages) if streamed else self._asked(messages)
            except openai.RateLimitError:
                return ""
            if reply is not None:
                return reply

    def _streamed(self, messages: list[Any]) -> str:
        text = ""
        stream = self._client.chat.completions.create(
            model="gpt-4o-mini", messages=messages, stream=True
        )
        for chunk in stream:
            text += chunk.choices[0].delta.content or ""
            if self.calls % 50 == 0 and len(text) > 20:
                break  # and nobody closes it
        messages.append({"role": "assistant", "content": text})
        return text

    def _asked(self, messages: list[Any]) -> str | None:
        reply = self._client.chat.completions.create(
            model="gpt-4o-mini", messages=messages, tools=TOOLS, temperature=0.2
        )
        message = reply.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls or []:
            result = look_up(call.id)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return None if message.tool_calls else message.content


# -- the measurement ------------------


def land(spool: Spool, done: threading.Event) -> None:
    """Take what is in the spool out of it, again and again."""
    while not done.wait(0.2):
        for segment in spool.segments():
            segment.path.unlink(missing_ok=True)


def soak(calls: int, tell: Callable[[int, float, float], None]) -> list[float]:
    """Make the calls; the memory, MB, at each of SAMPLES moments."""
    application = Application()
    running = default_recorder.processor
    assert running is not None
    memory: list[float] = []
    began = time.perf_counter()
    while application.calls < calls:
        application.turn()
        if application.calls * SAMPLES >= calls * (len(memory) + 1):
            memory.append(resident())
            if len(memory) * 20 % SAMPLES == 0:
                tell(application.calls, memory[-1], time.perf_counter() - began)
        while running.queued() > BEHIND:
            time.sleep(0.001)
    return memory


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=1_000_000)
    parser.add_argument("--landing", action="store_true", help="the spool never fills")
    arguments = parser.parse_args()
    calls: int = arguments.calls
    if not Path("/proc/self/statm").exists():
        print("The process's memory is read from /proc, which this system does not have.")
        return
    stub_requests()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TURNSPAN_SPOOL"] = folder
        exporter = ClickHouseSpanExporter("http://127.0.0.1:9/soak")
        spool: Spool = vars(exporter)["_spool"]
        spool.limit_bytes = SPOOL_BYTES
        done = threading.Event()
        if arguments.landing:
            threading.Thread(target=land, args=(spool, done), daemon=True).start()
        turnspan.configure(service_name="soak", exporters=[exporter])
        turnspan.instrument(only=["turnspan_openai"])
        print(f"{'calls':>10}{'RSS, MB':>10}{'blocks':>12}{'ledger':>8}{'s':>8}")

        def tell(made: int, memory: float, seconds: float) -> None:
            blocks = sys.getallocatedblocks()
            print(
                f"{made:>10,}{memory:>10.1f}{blocks:>12,}{len(default.content):>8}{seconds:>8.0f}"
            )

        memory = soak(calls, tell)
        done.set()
        result = turnspan.shutdown(timeout=1)
        lost = {k: v for k, v in result.dropped.items() if not k.startswith("spool_full")}
    warm = round(SAMPLES * WARM)
    first = statistics.median(memory[warm - 5 : warm + 5])
    last = statistics.median(memory[-10:])
    growth = last / first - 1
    verdict = "reached" if abs(growth) <= GOAL else "MISSED"
    print(
        f"from {first:.1f} MB to {last:.1f} MB: {growth:+.1%} (goal: within {GOAL:.0%}: {verdict})"
    )
    print(f"lost but for the full spool: {lost or 'nothing'}")


if __name__ == "__main__":
    main()
