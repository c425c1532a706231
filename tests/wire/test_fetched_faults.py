"""A fault in whatever reads a fetched answer along costs the record; the application gets the same.

Every function of ours is made to raise, one at a time, while the SDKs fetch results and events.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from contextvars import copy_context
from itertools import count
from typing import Any

import anthropic
import openai
import pytest

from support.agent_events import serve, two_turns
from support.batch_provider import provide
from support.recorded_server import RecordedServer
from support.representatives import few
from support.seams import boom, seams
from turnspan.runtime.guard import errors
from turnspan.wire import agent_sessions, batch_results, batches, fetched_answers, past_calls

pytestmark = pytest.mark.tests_internal_errors

_MODULES = (agent_sessions, batch_results, batches, fetched_answers, past_calls)
_OUTERMOST = {
    *("FetchedAnswer.feed", "FetchedAnswer.finish"),  # what is a guard and nothing else
    *("FileAlong.read", "SessionMemory._after_fork", "BatchMemory._after_fork"),
}
NUMBERS = count()


SEAMS = seams(_MODULES, _OUTERMOST)


@pytest.fixture(scope="module")
def server() -> Iterator[RecordedServer]:
    """Serves batches and sessions."""
    with RecordedServer() as server:
        yield server


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


def test_without_any_fault(server: RecordedServer, wire_recording: None) -> None:
    """All of it, and nothing that failed."""
    assert len(SEAMS) > 40
    got = fetched(server)
    assert [got.count(n) for n in ("c0", "session.status_running", 1)] == [2, 2, 1]
    assert errors.counts() == {}


@pytest.fixture(scope="module")
def expected(server: RecordedServer) -> list[Any]:
    """What it gets where nothing is recorded."""
    return copy_context().run(fetched, server)


@pytest.mark.parametrize("seam", few(SEAMS, SEAMS[::2]), ids=[s[0] for s in SEAMS])
def test_a_fault_costs_the_record_only(
    seam: tuple[str, Any, str],
    server: RecordedServer,
    expected: list[Any],
    wire_recording: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever raises; in `make test` every second."""
    _, owner, name = seam
    monkeypatch.setattr(owner, name, boom)
    assert copy_context().run(fetched, server) == expected
