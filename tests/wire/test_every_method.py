"""Every method of the SDKs that sends a request: each request makes one record, or costs nothing.

The methods are called with whatever their signatures want, synchronous, asynchronous and streamed,
against a server that answers each alike; what it was asked is held against what was recorded.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import anthropic
import openai
import pytest

from support.recorded_server import RecordedAnswer, RecordedServer
from support.representatives import few
from turnspan.testing import record
from turnspan.wire.operations import COSTING, FREE, operation_of
from turnspan_clickhouse.rows.tables import LlmCall
from wire.test_operations import FILES, resources

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning",
    # What the SDKs' own helpers leave behind that are given arguments without sense.
    "ignore::ResourceWarning",
    "ignore::RuntimeWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)

EVENTS = b'data: {"id":"c","type":"ping"}\n\n'
REFUSALS = (
    *(openai.OpenAIError, anthropic.AnthropicError, TypeError, ValueError),
    *(AttributeError, KeyError, AssertionError),
)
"""What an SDK says of arguments or of an answer that make no sense."""
FREE_VERBS = ("retrieve", "list", "get", "delete", "download", "content")
"""What a method that makes no model work is called."""
FETCHES = ("responses.retrieve", "responses.cancel")
"""What costs nothing, but brings the answer of a call that was made in the background."""
LOOPS = {"runner", "tool_runner", "stream", "wait"}
"""Helpers that ask again and again; what they ask is a method of its own."""
UNHEARD = {"with_raw_response", "with_streaming_response"}


@pytest.fixture
def server() -> Iterator[RecordedServer]:
    """Answers whatever it is asked."""
    with RecordedServer() as server:
        yield server


def clients(url: str) -> dict[str, Any]:
    """By the name of their SDK and way."""
    keys: dict[str, Any] = {"api_key": "k", "max_retries": 0}
    return {
        "openai": openai.OpenAI(base_url=f"{url}/v1", **keys),
        "openai, asynchronous": openai.AsyncOpenAI(base_url=f"{url}/v1", **keys),
        "anthropic": anthropic.Anthropic(base_url=url, **keys),
        "anthropic, asynchronous": anthropic.AsyncAnthropic(base_url=url, **keys),
    }


def loops(method: str) -> bool:
    """Whether a method makes requests of other methods, for ever perhaps."""
    waits = ("wait_for", "poll", "_and_stream")
    return method in UNHEARD | LOOPS or any(word in method for word in waits)


def arguments(function: Any, *, streamed: bool) -> dict[str, Any] | None:
    """Something for every parameter that is wanted; ``None`` where it does not stream."""
    parameters = inspect.signature(function).parameters
    if streamed and "stream" not in parameters:
        return None
    needed = [one.name for one in parameters.values() if one.default is one.empty]
    given: dict[str, Any] = {key: b"x" if key in FILES else "id-1" for key in needed}
    for name in ("messages", "input", "requests", "contents"):
        if name in given:
            given[name] = [{"role": "user", "content": "hi"}]
    given.pop("kwargs", None)
    return {**given, "stream": True} if streamed else given


async def drained(result: Any, *, streamed: bool) -> None:
    """Wait for an answer, and read a stream to the end."""
    if inspect.isawaitable(result):
        result = await result
    if not streamed:
        return
    if hasattr(result, "__aiter__"):
        async for _ in result:
            pass
    elif hasattr(result, "__next__"):
        for _ in result:
            pass


NAMES = ("openai", "openai, asynchronous", "anthropic", "anthropic, asynchronous")


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", few(NAMES, ["openai, asynchronous"]))
def test_every_request_is_a_record_or_costs_nothing(
    name: str, streamed: bool, server: RecordedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silent: 0; twice: 0; invented: 0."""
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "k")
    client = clients(server.url)[name]
    server.answer = RecordedAnswer(200, "application/json", b'{"id":"x"}')
    if streamed:
        server.answer = RecordedAnswer(200, "text/event-stream", EVENTS, piece=9)
    host = f"api.{name.partition(',')[0]}.com"
    wrong: list[str] = []
    costing = free = 0
    loop = asyncio.new_event_loop()
    with record() as recorded:
        for resource, owner in resources(client):
            for method, function in inspect.getmembers(owner, inspect.ismethod):
                given = None
                if not method.startswith("_") and not loops(method):
                    given = arguments(function, streamed=streamed)
                if given is None:
                    continue
                sent, rows = len(server.received), len(recorded.rows(LlmCall))
                if f"{resource}.{method}".endswith(FETCHES) or method.startswith(FREE_VERBS):
                    continue
                with suppress(*REFUSALS):
                    loop.run_until_complete(drained(function(**given), streamed=streamed))
                asked = [
                    one.path
                    for one in server.received[sent:]
                    if operation_of(one.method, one.path, host) != FREE
                ]
                free += len(server.received) - sent - len(asked)
                costing += len(asked)
                if len(recorded.rows(LlmCall)) - rows != len(asked):
                    made = [row.operation for row in recorded.rows(LlmCall)[rows:]]
                    wrong.append(f"{resource}.{method}: {asked} became {made}")
    closed = client.close()
    if inspect.isawaitable(closed):
        loop.run_until_complete(closed)
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    gc.collect()  # what is left behind is not the next test's
    assert not wrong, "\n".join(wrong)
    assert "POST" in COSTING
    assert costing > (1 if streamed else 5), costing
    assert streamed or free > 5, free
