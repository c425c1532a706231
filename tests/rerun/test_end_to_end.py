"""What was recorded is played to the very program that was recorded: the same requests, no tool."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import anthropic
import openai
import pytest

import turnspan
from support.google_sdk import genai, types
from support.representatives import few
from support.rerun_protocol import rerun_here
from support.reruns import landed
from turnspan.testing import ModelRequest, ModelServer, Reply, ToolRequest, record
from turnspan_clickhouse.store.client import Store
from turnspan_records.again.rerun.recording import SessionRecording, write_recording
from turnspan_records.again.rerun.server import RerunServer

pytestmark = pytest.mark.parametrize("module_store", ["embedded"], indirect=True)

CITIES = ("Oslo", "Rome")
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
ran: list[str] = []


@dataclass
class Weather:
    city: str
    degrees: float


@turnspan.tool
def weather(city: str) -> Weather:
    """The weather in a city."""
    ran.append(city)
    return Weather(city, len(city) / 3)


@turnspan.tool
async def aweather(city: str) -> Weather:
    """The weather in a city."""
    ran.append(city)
    return Weather(city, len(city) / 3)


def sky(city: str) -> dict[str, Any]:
    """The sky, which the SDK itself asks for: Turnspan executes nothing but its call."""
    ran.append(city)
    if city == "Rome":
        raise KeyError(f"no degrees in {city}")
    return {"city": city, "degrees": [1.5]}


async def asky(city: str) -> dict[str, Any]:
    """The same, asynchronous."""
    return sky(city)


def _answer(request: ModelRequest) -> Reply:
    """A model that asks for the weather of the city that it is asked about, once."""
    said = json.dumps(request.body)
    city = next(city for city in CITIES if city in said)
    if "degrees" in said:
        return Reply(f"In {city} it is 1.5 degrees… ☂")
    names = ("aweather", "asky", "weather", "sky")
    name = next(name for name in names if f'"{name}"' in said)
    return Reply("Let me see.", (ToolRequest(name, {"city": city}, id=f"call_{city}"),))


class Desk:
    """An agent of one SDK."""

    def __init__(self, url: str, *, stream: bool, asynchronous: bool) -> None:
        self.url, self.stream, self.asynchronous = url, stream, asynchronous
        self.tool: Any = aweather if asynchronous else weather

    async def _done(self, value: Any) -> Any:
        return await value if inspect.isawaitable(value) else value

    async def _weather(self, city: str) -> str:
        found: Weather = await self._done(self.tool(city=city))
        return json.dumps({"city": found.city, "degrees": found.degrees})

    async def openai(self, city: str) -> str:
        kind: Any = openai.AsyncOpenAI if self.asynchronous else openai.OpenAI
        client = kind(base_url=self.url, api_key="k", max_retries=0)
        function = {"name": self.tool.__name__, "parameters": SCHEMA}
        said: list[Any] = [{"role": "user", "content": f"The weather in {city}?"}]
        while True:
            asked = {"model": "gpt-4o", "messages": said}
            asked["tools"] = [{"type": "function", "function": function}]
            if not self.stream:
                found = await self._done(client.chat.completions.create(**asked))
            elif self.asynchronous:
                async with client.chat.completions.stream(**asked) as events:
                    found = await events.get_final_completion()
            else:
                with client.chat.completions.stream(**asked) as events:
                    found = events.get_final_completion()
            message = found.choices[0].message
            said.append(message)
            if not message.tool_calls:
                return str(message.content)
            for call in message.tool_calls:
                result = await self._weather(**json.loads(call.function.arguments))
                said.append({"role": "tool", "tool_call_id": call.id, "content": result})

    async def anthropic(self, city: str) -> str:
        kind: Any = anthropic.AsyncAnthropic if self.asynchronous else anthropic.Anthropic
        client = kind(base_url=self.url, api_key="k", max_retries=0)
        said: list[Any] = [{"role": "user", "content": f"The weather in {city}?"}]
        while True:
            asked = {"model": "claude", "messages": said, "max_tokens": 99}
            asked["tools"] = [{"name": self.tool.__name__, "input_schema": SCHEMA}]
            if not self.stream:
                found = await self._done(client.messages.create(**asked))
            elif self.asynchronous:
                async with client.messages.stream(**asked) as events:
                    found = await events.get_final_message()
            else:
                with client.messages.stream(**asked) as events:
                    found = events.get_final_message()
            said.append({"role": "assistant", "content": found.content})
            uses = [block for block in found.content if block.type == "tool_use"]
            if not uses:
                return str(found.content[-1].text)
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": use.id,
                    "content": await self._weather(**use.input),
                }
                for use in uses
            ]
            said.append({"role": "user", "content": results})

    async def google(self, city: str) -> str:
        options = types.HttpOptions(base_url=self.url)
        client: Any = genai.Client(api_key="k", http_options=options)
        asked: dict[str, Any] = {"model": "gemini", "contents": f"The weather in {city}?"}
        asked["config"] = types.GenerateContentConfig(tools=[asky if self.asynchronous else sky])
        models = client.aio.models if self.asynchronous else client.models
        if not self.stream:
            return str((await self._done(models.generate_content(**asked))).text)
        found = await self._done(models.generate_content_stream(**asked))
        if self.asynchronous:
            return "".join([chunk.text or "" async for chunk in found])
        return "".join(chunk.text or "" for chunk in found)


def _two_at_a_time(ask: Callable[[str], Any], *, asynchronous: bool) -> list[str]:
    """Both conversations at once, in threads or in tasks of one loop."""

    @turnspan.agent("desk")
    async def desk(city: str) -> str:
        return str(await ask(city))

    async def together() -> list[str]:
        return list(await asyncio.gather(*map(desk, CITIES)))

    if asynchronous:
        return asyncio.run(together())
    answers: dict[str, str] = {}
    barrier = Barrier(len(CITIES))

    def run(city: str) -> None:
        barrier.wait()
        answers[city] = asyncio.run(desk(city))

    threads = [Thread(target=run, args=(city,)) for city in CITIES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[city] for city in CITIES]


class _Watching(RerunServer):
    """The real server, which keeps what came."""

    def __init__(self, recording: SessionRecording) -> None:
        super().__init__(recording)
        self.bodies: list[Any] = []

    def answer(self, asked: Any, origin: str, data: bytes, *, retries: bool) -> Any:
        self.bodies.append(json.loads(data))
        return super().answer(asked, origin, data, retries=retries)


@pytest.fixture(autouse=True)
def _instrumented() -> Iterator[None]:
    turnspan.instrument()
    yield
    turnspan.uninstrument()


@pytest.mark.parametrize("asynchronous", few([False, True], [True]))
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("sdk", ["openai", "anthropic", "google"])
def test_every_request_is_the_same_and_no_tool_runs(
    module_store: Store, sdk: str, stream: bool, asynchronous: bool
) -> None:
    """Two conversations at once, of each SDK, whole and streamed, in threads and in tasks."""
    ran.clear()
    session = f"{sdk}-{stream}-{asynchronous}"
    with ModelServer(_answer) as models:
        desk = Desk(models.url, stream=stream, asynchronous=asynchronous)
        with record() as recorded, turnspan.session(session):
            first = _two_at_a_time(getattr(desk, sdk), asynchronous=asynchronous)
        recording = landed(module_store, session, recorded)
        asked = [json.dumps(request.body) for request in models.requests]
        assert (len(asked), sorted(ran)) == (4, sorted(CITIES))
        with _Watching(recording) as server, record() as again:
            with rerun_here(server.environment()), turnspan.session(session):
                second = _two_at_a_time(getattr(desk, sdk), asynchronous=asynchronous)
            report = server.report()
        assert len(models.requests) == 4
    assert second == first
    assert sorted(json.dumps(body) for body in server.bodies) == sorted(asked)
    assert (report.answered, report.unasked, report.divergences, report.notes) == (4, (), (), ())
    assert (sum(report.tools_answered.values()), len(ran)) == (2, 2)
    assert {turn.session_id for turn in again.turns()} == {f"{session}~{server.rerun_id}"}
    results = [sorted(str(tool.result) for tool in one.tools()) for one in (again, recorded)]
    assert results[0] == results[1]


TESTED = """
import openai

import turnspan


def ask(said: str) -> str:
    client = openai.OpenAI(base_url="http://127.0.0.1:9/v1", api_key="k")
    messages = [{"role": "user", "content": said}]
    return client.chat.completions.create(model="m", messages=messages).choices[0].message.content


def test_it_answers_as_recorded(turnspan_rerun, turnspan_recorded) -> None:
    server = turnspan_rerun("recording.jsonl")
    assert ask("Hello?") == "Hello!"
    assert server.report().answered == 1
    (turn,) = turnspan_recorded.turns()
    assert turn.attributes["turnspan.rerun.of"] == "thread"


def test_it_asks_for_something_else(turnspan_rerun) -> None:
    turnspan_rerun("recording.jsonl")
    try:
        ask("Bye?")
    except openai.ConflictError:
        pass
"""


def test_a_test_plays_a_recording_and_fails_where_it_diverges(
    module_store: Store, tmp_path: Path
) -> None:
    """The fixture takes what `turnspan export session` writes; an agent may hide the SDK's
    error."""
    with ModelServer("Hello!") as models, record() as recorded, turnspan.session("thread"):
        client = openai.OpenAI(base_url=models.url, api_key="k")
        said: list[Any] = [{"role": "user", "content": "Hello?"}]
        client.chat.completions.create(model="m", messages=said)
    write_recording(landed(module_store, "thread", recorded), tmp_path / "recording.jsonl")
    (tmp_path / "test_it.py").write_text(TESTED)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "2 passed, 1 error" in ran.stdout, ran.stdout
    assert re.search(r"The rerun diverged .*message 1, the user's, line 1", ran.stdout)
