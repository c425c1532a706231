"""``turnspan.limits``: the call that would go beyond a limit is not made."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import anthropic
import httpx
import openai
import pytest
import requests

import turnspan
from support.google_sdk import genai
from support.kept_stores import copy_schema
from turnspan import config
from turnspan.runtime.call_limits import LimitSet, read
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.limit_usage import FILE, Counters, UsageFile, counters
from turnspan.testing import ModelServer, Reply, Usage, record
from turnspan.tracing.limited_calls import InUse

ASKED: dict[str, Any] = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}


@pytest.fixture(autouse=True)
def instrumented() -> Iterator[None]:
    """SDKs and HTTP clients are recorded, as after ``turnspan.instrument()``."""
    turnspan.instrument()
    yield
    turnspan.uninstrument()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that always says the same."""
    with ModelServer(Reply("Hello.", usage=Usage(10, 5), model="gpt-4o")) as server:
        yield server


def _openai(url: str) -> Any:
    client: Any = openai.OpenAI(base_url=url, api_key="any", max_retries=0)
    return client.chat.completions.create(**ASKED)


def _openai_stream(url: str) -> Any:
    client: Any = openai.OpenAI(base_url=url, api_key="any", max_retries=0)
    return list(client.chat.completions.create(**ASKED, stream=True))


def _openai_async(url: str) -> Any:
    async def ask() -> Any:
        async with openai.AsyncOpenAI(base_url=url, api_key="any", max_retries=0) as one:
            client: Any = one
            return await client.chat.completions.create(**ASKED)

    return asyncio.run(ask())


def _anthropic(url: str) -> Any:
    client: Any = anthropic.Anthropic(base_url=url, api_key="any", max_retries=0)
    return client.messages.create(**ASKED, max_tokens=5)


def _gemini(url: str) -> Any:
    client = genai.Client(api_key="any", http_options={"base_url": url})
    return client.models.generate_content(model="gemini-2.5-flash", contents="Hi")


def _gemini_stream(url: str) -> Any:
    client = genai.Client(api_key="any", http_options={"base_url": url})
    return list(client.models.generate_content_stream(model="gemini-2.5-flash", contents="Hi"))


def _httpx(url: str) -> Any:
    return httpx.post(f"{url}/v1/chat/completions", json=ASKED).json()


def _requests(url: str) -> Any:
    return requests.post(f"{url}/v1/chat/completions", json=ASKED, timeout=20).json()


def _urllib(url: str) -> Any:
    body = httpx.Request("POST", url, json=ASKED).content
    asked = urllib.request.Request(
        f"{url}/v1/chat/completions", body, {"content-type": "application/json"}
    )
    with urllib.request.urlopen(asked) as answer:
        return answer.read()


def _aiohttp(url: str) -> Any:
    async def ask() -> Any:
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{url}/v1/chat/completions", json=ASKED) as answer,
        ):
            return await answer.json()

    return asyncio.run(ask())


CLIENTS = [
    *(_openai, _openai_stream, _openai_async, _anthropic, _gemini, _gemini_stream),
    *(_httpx, _requests, _urllib, _aiohttp),
]


@pytest.mark.parametrize("ask", CLIENTS)
def test_a_call_beyond_the_limit_is_never_sent(
    ask: Callable[[str], Any], server: ModelServer
) -> None:
    """In every client: two calls are made, the third raises before its request, the turn ends so,
    and a turn after it begins anew."""

    @turnspan.agent
    def answer(times: int) -> None:
        for _ in range(times):
            ask(server.url)

    with record() as recorded, turnspan.limits(calls=2):
        with pytest.raises(turnspan.TurnspanLimitReached) as raised:
            answer(4)
        answer(1)
    assert (raised.value.limit, raised.value.allowed, raised.value.used) == ("calls", 2, 2)
    assert len(server.requests) == 3
    first, second = recorded.turns()
    assert (first.stop_reason, first.rounds) == ("budget_exceeded", 2)
    assert "2 of 2 calls" in first.stop_detail
    assert second.stop_reason == "completed"
    assert len(recorded.calls()) == 3


def test_a_turn_that_goes_on_without_the_call_ends_budget_exceeded(server: ModelServer) -> None:
    """Whoever catches the error answers with what there is; the record says why it stopped."""

    @turnspan.agent
    def answer() -> str:
        try:
            while True:
                _openai(server.url)
        except turnspan.TurnspanLimitReached as reached:
            return f"So far: {reached.limit}"

    with record() as recorded, turnspan.limits(rounds=3):
        assert answer() == "So far: rounds"
    assert (recorded.turn().stop_reason, recorded.turn().rounds) == ("budget_exceeded", 3)


def test_nested_turns_count_for_the_turn_around_them(server: ModelServer) -> None:
    """What sub-agents use is used by whoever asked them, and the error ends both turns."""

    @turnspan.agent
    def inner() -> None:
        _openai(server.url)
        _openai(server.url)

    @turnspan.agent
    def outer() -> None:
        inner()
        inner()

    limits = turnspan.limits(calls=3)
    with record() as recorded, limits, pytest.raises(turnspan.TurnspanLimitReached):
        outer()
    assert len(server.requests) == 3
    assert sorted(turn.stop_reason for turn in recorded.turns()) == [
        "budget_exceeded",
        "budget_exceeded",
        "completed",
    ]


def test_tokens_and_cost_stop_the_next_call(server: ModelServer) -> None:
    """They are known when a call has ended; a cost comes from the known prices."""
    for limits in (turnspan.limits(tokens=30, per="process"), turnspan.limits(usd=1e-9)):
        server.requests.clear()
        with record(), limits, pytest.raises(turnspan.TurnspanLimitReached):
            for _ in range(9):
                _openai(server.url)
        assert len(server.requests) == (2 if limits.limit_set.tokens else 1)


def test_equal_tool_calls_in_a_row_stop_the_turn(server: ModelServer) -> None:
    """With the same arguments and results; another one in between begins anew."""

    @turnspan.tool
    def look(at: str) -> str:
        return f"nothing at {at}"

    @turnspan.agent
    def answer(places: str) -> None:
        for place in places:
            _openai(server.url)
            look(place)

    with record() as recorded, turnspan.limits(repeats=2):
        answer("aabaab")
        with pytest.raises(turnspan.TurnspanLimitReached, match="3 of 2 equal tool calls"):
            answer("aaaa")
    assert [turn.rounds for turn in recorded.turns()] == [6, 3]


def test_time_runs_from_the_first_call(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call after the time is refused, however little was used."""
    with record(), turnspan.limits(seconds=0.2, per="process"):
        _openai(server.url)
        threading.Event().wait(0.25)
        with pytest.raises(turnspan.TurnspanLimitReached, match="seconds"):
            _openai(server.url)


def test_a_call_by_hand_and_embeddings_are_limited(server: ModelServer) -> None:
    """Rounds are chat calls only; calls are all."""
    client = openai.OpenAI(base_url=server.url, api_key="any", max_retries=0)
    with record(), turnspan.limits(calls=2):
        client.embeddings.create(model="text-embedding-3-small", input="Hi")
        with turnspan.inference(model="m") as call:
            call.response(text="Hi")
        with pytest.raises(turnspan.TurnspanLimitReached), turnspan.inference(model="m"):
            pytest.fail("the block of a refused call must not run")


def test_blocks_decorators_and_generators(server: ModelServer) -> None:
    """The inner limits hold beside the outer; each call of a decorated function has its own."""

    @turnspan.limits(calls=1, per="process")
    def one(times: int) -> Iterator[int]:
        for number in range(times):
            _openai(server.url)
            yield number

    with record(), turnspan.limits(calls=3, per="process"):
        assert [*one(1), *one(1)] == [0, 0]
        _openai(server.url)  # outside of the generators' limits
        with pytest.raises(turnspan.TurnspanLimitReached):
            next(one(1))
    with record():
        _openai(server.url)


def test_limits_of_the_environment_and_of_configure(tmp_path: Path) -> None:
    """Everywhere in the process; a mistake in the variable costs the limits only."""
    assert read("usd=5, calls=100 per=session") == LimitSet(usd=5.0, calls=100, per="session")
    settings = config.resolve({}, {"TURNSPAN_LIMITS": "calls=3"})
    assert settings.limits == LimitSet(calls=3)
    assert config.resolve({}, {"TURNSPAN_LIMITS": "dollars=3"}).limits is None
    assert config.resolve({}, {"TURNSPAN_LIMITS": "calls=0"}).limits is None
    given = turnspan.limits(usd=1)
    assert config.resolve({"limits": given}, {}).limits == LimitSet(usd=1)
    with pytest.raises(ConfigError, match=r"turnspan\.limits"):
        config.resolve({"limits": {"usd": 1}}, {})


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({}, "at least one of"),
        ({"calls": 0}, "above 0"),
        ({"calls": 1.5}, "whole number"),
        ({"usd": float("nan")}, "above 0"),
        ({"usd": True}, "above 0"),
        ({"calls": 1, "per": "agent"}, "per must be one of"),
        ({"calls": 1, "name": "x"}, "per='process'"),
        ({"rounds": 1, "per": "session"}, "are of a turn"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, Any], says: str) -> None:
    """When the block is made, not when the first call is."""
    with pytest.raises(ConfigError, match=says):
        turnspan.limits(**wrong)


def test_a_process_without_limits_counts_nothing(
    server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No counter, no file, no look at the context."""
    monkeypatch.setattr(InUse, "blocks", False)
    counters.share(tmp_path)
    with record() as recorded:
        _openai(server.url)
    assert not [*tmp_path.iterdir()]
    assert recorded.call().text == "Hello."


def test_a_folder_that_cannot_be_written_limits_each_process(
    server: ModelServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The limit holds, and a log line says what it is worth."""
    (tmp_path / FILE).write_bytes(b"something else" * 1_000)
    counters.share(tmp_path)
    with record(), turnspan.session("s-limited"), turnspan.limits(calls=1, per="session"):
        _openai(server.url)
        with pytest.raises(turnspan.TurnspanLimitReached):
            _openai(server.url)
    assert "cannot be shared" in caplog.text


# -- several processes ------------------

_WORKER = """
import sys, threading
import turnspan
from pathlib import Path
from turnspan.runtime.call_limits import LimitSet, LimitsInForce, reserve
from turnspan.runtime.limit_usage import counters
from turnspan.runtime.errors import TurnspanLimitReached
counters.share(Path(sys.argv[1]))
threads, calls = int(sys.argv[2]), int(sys.argv[3])
limits = [LimitsInForce(LimitSet(calls=calls, per="session"))]
made = []
def work():
    while True:
        try:
            reserve(limits, None, "shared", True)
        except TurnspanLimitReached:
            return
        made.append(1)
print("ready", flush=True)
sys.stdin.readline()
all = [threading.Thread(target=work) for _ in range(threads)]
[t.start() for t in all]; [t.join() for t in all]
print(len(made), flush=True)
"""


def _workers(folder: Path, processes: int, threads: int, calls: int) -> list[Any]:
    return [
        subprocess.Popen(
            [sys.executable, "-c", _WORKER, str(folder), str(threads), str(calls)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(processes)
    ]


def test_threads_and_processes_share_a_limit(tmp_path: Path) -> None:
    """64 threads in each of four processes: no call beyond those that processes began at the same
    moment, and one that is killed has used what it used."""
    workers = _workers(tmp_path, 4, 64, 2_000)
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    made = sum(int(worker.communicate(timeout=120)[0]) for worker in workers)
    assert 2_000 <= made <= 2_000 + 3  # one under way in each of the others

    (killed,) = _workers(tmp_path / "killed", 1, 1, 10**9)
    killed.stdout.readline()
    killed.stdin.write("go\n")
    killed.stdin.flush()
    file = None
    for _ in range(2_000):
        if (tmp_path / "killed" / FILE).exists():
            file = file or Counters()
            file.share(tmp_path / "killed")
            with file.lock:
                if file.of("session:shared").used()[1]:
                    break
        threading.Event().wait(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert file is not None
    with file.lock:
        used = file.of("session:shared").used()
        assert used[1] > 0
        file.of("session:shared").add(1, 7, 9)
        after = file.of("session:shared").used()
    assert after == (used[0], used[1] + 1, 7, 9)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_a_forked_child_has_rows_of_its_own(tmp_path: Path) -> None:
    """What parent and child add at the same time is not lost."""
    shared = Counters()
    shared.share(tmp_path)
    with shared.lock:
        shared.of("turn:1").add(1, 0, 0)
    child = os.fork()
    if not child:
        try:
            with shared.lock:
                for _ in range(500):
                    shared.of("turn:1").add(1, 0, 0)
        finally:
            os._exit(0)
    with shared.lock:
        for _ in range(500):
            shared.of("turn:1").add(1, 0, 0)
    os.waitpid(child, 0)
    with shared.lock:
        assert shared.of("turn:1").used()[1] == 1_001


def test_a_full_table_counts_in_memory(tmp_path: Path) -> None:
    """Two keys beside each other keep apart, and one without room is counted all the same."""
    table = UsageFile(tmp_path / FILE)
    rows = [table.own_row(5, low) for low in range(1, 257)]
    assert len(set(rows)) == 256
    assert table.own_row(5, 999) == -1
    table.words[rows[3] + 7] = 1  # not changed for a day
    assert table.own_row(5, 999) == rows[3]


def test_an_agent_in_two_processes_has_one_session_limit(tmp_path: Path) -> None:
    """End to end, by the environment: the second process may make what the first has left."""
    program = textwrap.dedent(
        """
        import json, sys, turnspan
        from urllib.request import Request, urlopen
        from turnspan.testing import ModelServer
        turnspan.configure(service_name="limited")
        turnspan.instrument()
        made = 0
        with ModelServer("Hi.") as server, turnspan.session("ticket-7"):
            asked = {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi"}]}
            headers = {"content-type": "application/json"}
            call = Request(server.url + "/v1/chat/completions", json.dumps(asked).encode(), headers)
            try:
                for _ in range(int(sys.argv[1])):
                    urlopen(call).read()
                    made += 1
            except turnspan.TurnspanLimitReached as reached:
                print(reached)
        print(made)
        turnspan.shutdown()
        """
    )
    environment = {
        **os.environ,
        "TURNSPAN_STORE": f"chdb://{tmp_path}/store",
        "TURNSPAN_LIMITS": "calls=3 per=session",
    }
    copy_schema(tmp_path / "store")
    lines = [
        subprocess.run(
            [sys.executable, "-c", program, times],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for times in ("2", "5")
    ]
    assert lines[0] == ["2"]
    assert lines[1][-1] == "1"
    assert "the session has used 3 of 3 calls" in lines[1][0]
