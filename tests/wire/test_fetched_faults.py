"""A fault in whatever reads a fetched answer along costs the record; the application gets the same.

Every function of ours is made to raise, one at a time, while the SDKs fetch results and events.
"""

from __future__ import annotations

import asyncio
import inspect
import io
from collections.abc import Iterator
from contextvars import copy_context
from itertools import count
from typing import Any

import anthropic
import openai
import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from support.agent_events import serve, two_turns
from support.batch_provider import provide
from support.recorded_server import RecordedServer
from turnspan.runtime.guard import errors
from turnspan.tracing.state import default
from turnspan.wire import agent_sessions, batch_results, batches, fetched_answers, past_calls

pytestmark = pytest.mark.tests_internal_errors

_MODULES = (agent_sessions, batch_results, batches, fetched_answers, past_calls)
_OUTERMOST = {
    *("FetchedAnswer.feed", "FetchedAnswer.finish"),  # what is a guard and nothing else
    *("FileAlong.read", "SessionMemory._after_fork", "BatchMemory._after_fork"),
}
NUMBERS = count()


class Boom(BaseException):
    """The fault, of the kind that an ``except Exception`` lets through."""


def _seams() -> Iterator[tuple[str, Any, str]]:
    for module in _MODULES:
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if inspect.isfunction(value):
                yield f"{module.__name__}.{name}", module, name
            elif inspect.isclass(value) and not issubclass(value, BaseException):
                for method, function in vars(value).items():
                    dunder = method.startswith("__") and method != "__init__"
                    if inspect.isfunction(function) and not dunder:
                        yield f"{module.__name__}.{name}.{method}", value, method


SEAMS = [seam for seam in _seams() if seam[0].split(".", 3)[-1] not in _OUTERMOST]


@pytest.fixture(scope="module")
def server() -> Iterator[RecordedServer]:
    """Serves batches and sessions."""
    with RecordedServer() as server:
        yield server


@pytest.fixture
def recording() -> Iterator[None]:
    """The wire is recorded."""
    provider = TracerProvider()
    default.provider = provider
    default.content.attach()
    turnspan.instrument(only=["http"], tracer_provider=provider)
    yield
    turnspan.uninstrument()
    default.content.detach()
    default.provider = None


def fetched(server: RecordedServer) -> list[Any]:
    """What the application gets."""
    name = f"f{next(NUMBERS)}"
    provide(server, name)
    serve(server, name, two_turns())
    got: list[Any] = []
    with anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0) as client:
        requests: Any = [{"custom_id": "c0", "params": {"model": "m"}}]
        client.messages.batches.create(requests=requests)
        got += [each.custom_id for each in client.messages.batches.results(f"msgbatch_{name}")]
        client.beta.sessions.create(agent="a", environment_id="e")
        client.beta.sessions.retrieve(name)
        said: Any = [{"type": "user.message", "content": []}]
        client.beta.sessions.events.send(name, events=said)
        with client.beta.sessions.events.stream(name) as stream:
            got += [event.type for event in stream]
        got += [event.id for event in client.beta.sessions.events.list(name)]
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as gpt:
        gpt.files.create(file=io.BytesIO(b'{"custom_id": "c0"}\n'), purpose="batch")
        got.append(server.received[-1].body.count(b'{"custom_id": "c0"}\n'))
        gpt.batches.retrieve(f"batch_{name}")
        got.append(gpt.files.content(f"file-out{name}").text)
        got.append(gpt.files.content(f"file-err{name}").text)
    got += asyncio.run(_fetched_async(server, name))
    return got


async def _fetched_async(server: RecordedServer, name: str) -> list[Any]:
    async with anthropic.AsyncAnthropic(base_url=server.url, api_key="k", max_retries=0) as client:
        results = await client.messages.batches.results(f"msgbatch_{name}")
        stream = await client.beta.sessions.events.stream(name)
        return [
            *[each.custom_id async for each in results],
            *[event.type async for event in stream],
        ]


def test_without_any_fault(server: RecordedServer, recording: None) -> None:
    """All of it, and nothing that failed."""
    assert len(SEAMS) > 40
    got = fetched(server)
    assert [got.count(n) for n in ("c0", "session.status_running", 1)] == [2, 2, 1]
    assert errors.counts() == {}


@pytest.mark.parametrize(("owner", "name"), [seam[1:] for seam in SEAMS], ids=[s[0] for s in SEAMS])
def test_a_fault_costs_the_record_only(
    owner: Any,
    name: str,
    server: RecordedServer,
    recording: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever raises."""
    expected = copy_context().run(fetched, server)

    def boom(*_: Any, **__: Any) -> Any:
        raise Boom

    monkeypatch.setattr(owner, name, boom)
    assert copy_context().run(fetched, server) == expected
