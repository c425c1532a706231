"""Calls of models that nothing records are counted where they leave the process, and said."""

from __future__ import annotations

import asyncio
import http.client
import inspect
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import aiohttp
import grpc  # type: ignore[import-untyped]
import httpx2
import openai
import pytest
from click.testing import CliRunner
from opentelemetry import context as otel_context
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from support.gemini_bodies import text
from support.google_sdk import genai
from support.model_replies import chat
from turnspan import config
from turnspan.patching.models_on_the_wire import agent_program, is_provider
from turnspan.runtime.guard import errors
from turnspan.testing import ModelServer, record
from turnspan.wire import gaps
from turnspan.wire.gaps import Unrecorded, Watch, watch
from turnspan_clickhouse.spool.unrecorded_calls import (
    KEPT_SECONDS,
    read_unrecorded,
    write_unrecorded,
)
from turnspan_console.cli import turnspan as console

HELLO: list[Any] = [{"role": "user", "content": "hi"}]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model provider."""
    server = ModelServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def watching() -> Iterator[Watch]:
    """The process's watch, on."""
    watch.forget()
    watch.start()
    yield watch
    watch.stop()
    watch.forget()


def seen() -> dict[tuple[str, str], int]:
    """How many calls were seen, by library and host."""
    return {(one.library, one.host): one.calls for one in watch.seen()}


def ask(server: ModelServer, **more: Any) -> Any:
    """A call through OpenAI's SDK."""
    server.answer(chat())
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client:
        create: Any = client.chat.completions.create
        return create(model="m", messages=HELLO, **more)


def test_hosts() -> None:
    """Providers', also by region and resource; nobody else's."""
    for host in (
        "api.openai.com",
        "eu.api.openai.com",
        "mine.openai.azure.com",
        "us-central1-aiplatform.googleapis.com",
        "bedrock-runtime.eu-west-1.amazonaws.com",
        "bedrock-runtime-fips.us-east-1.amazonaws.com",
        "API.Mistral.AI",
    ):
        assert is_provider(host), host
    for host in ("example.com", "s3.amazonaws.com", "notapi.openai.com.evil.io", "localhost"):
        assert not is_provider(host), host


def test_programs_that_are_agents() -> None:
    """By the program's name, wherever it lies; a command line that can be read once is left."""
    assert agent_program(["/usr/local/bin/claude", "-p", "hi"]) == "claude"
    assert agent_program("codex exec hi") == "codex"
    assert agent_program(["node", "/x/node_modules/@anthropic-ai/claude-code/cli.js"]) == "claude"
    assert agent_program(Path("/bin/claude")) == ""
    assert agent_program(["echo", "please", "ask", "claude"]) == ""
    assert agent_program([b"gemini"]) == "gemini"
    assert agent_program(None) == ""
    words = iter(["claude"])
    assert agent_program(words) == ""
    assert next(words) == "claude"


def test_an_sdk_that_nothing_instruments(watching: Watch, server: ModelServer) -> None:
    """Counted by its name, whatever its server; instrumented it is not."""
    ask(server)
    ask(server)
    assert seen() == {("openai", "127.0.0.1"): 2}
    assert watching.seen()[0].remedy == "call turnspan.instrument()"

    watching.forget()
    turnspan.instrument(tracer_provider=TracerProvider(), only=("openai",))
    try:
        ask(server)
        assert seen() == {}
    finally:
        turnspan.uninstrument()


def test_gemini_that_nothing_instruments(watching: Watch, server: ModelServer) -> None:
    """An imported google.genai says so, too."""
    server.answer(text("Yes."))
    options: Any = {"base_url": server.url}
    client = genai.Client(api_key="k", http_options=options)

    client.models.generate_content(model="m", contents="hi")

    assert seen() == {("google_genai", "127.0.0.1"): 1}


def test_asynchronous(watching: Watch, server: ModelServer) -> None:
    """The asynchronous clients of the HTTP libraries are watched as well."""
    server.answer(chat())

    async def run() -> None:
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="k") as client:
            await client.chat.completions.create(model="m", messages=HELLO)

    asyncio.run(run())

    assert seen() == {("openai", "127.0.0.1"): 1}
    if sys.version_info >= (3, 12):
        assert inspect.iscoroutinefunction(httpx2.AsyncClient.send)


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends httpx's requests by aiohttp, as LiteLLM and OpenAI's ``DefaultAioHttpClient`` do."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send it."""
        async with aiohttp.ClientSession() as session:
            sent = session.request(request.method, str(request.url), data=request.content)
            async with sent as answer:
                return httpx2.Response(answer.status, content=await answer.read())


def test_one_client_by_another(watching: Watch, server: ModelServer) -> None:
    """It is one request, whether it is recorded or not."""

    async def run() -> None:
        server.answer(chat())
        client: Any = httpx2.AsyncClient(transport=AiohttpTransport())
        async with client:
            url = f"{server.url}/v1/chat/completions"
            await client.post(url, json={"model": "m", "messages": HELLO})

    asyncio.run(run())
    assert seen() == {("", "127.0.0.1"): 1}
    with record() as recorded:
        before = watching.recorded
        asyncio.run(run())
        assert watching.recorded - before == 1
    assert recorded.call().text == "Hello"


def test_plain_http_to_a_provider(watching: Watch) -> None:
    """By Python's own client, which requests, urllib3 and boto3 send through as well."""
    connection = http.client.HTTPConnection("api.mistral.ai")
    connection.putrequest("POST", "/v1/chat/completions", skip_host=True)
    connection.close()
    http.client.HTTPConnection("example.com").putrequest("POST", "/v1/chat/completions")
    http.client.HTTPConnection("example.com").putrequest("POST", "/orders")
    http.client.HTTPConnection("api.mistral.ai").putrequest("GET", "/v1/models")
    http.client.HTTPConnection("api.mistral.ai").putrequest("POST", "/v1/files")

    assert seen() == {("", "api.mistral.ai"): 1, ("", "example.com"): 1}
    one = next(one for one in watching.seen() if one.host == "api.mistral.ai")
    assert str(one) == "1 call to api.mistral.ai may have gone unrecorded"
    assert one.remedy == "call turnspan.instrument()"


def test_through_a_tunnel(watching: Watch) -> None:
    """The host is the one behind the proxy."""
    connection = http.client.HTTPConnection("proxy.local")
    connection.set_tunnel("api.groq.com")
    connection.putrequest("POST", "/openai/v1/chat/completions", skip_host=True)

    assert seen() == {("", "api.groq.com"): 1}


def test_recorded_by_hand_or_not_wanted(watching: Watch, server: ModelServer) -> None:
    """A call inside ``turnspan.inference``, or where nothing is to be recorded, is not missing."""
    with turnspan.inference(provider="x", model="m"):
        ask(server)
    key: Any = "suppress_instrumentation"
    token = otel_context.attach(otel_context.set_value(key, True))
    try:
        ask(server)
    finally:
        otel_context.detach(token)

    assert seen() == {}


def test_what_is_excluded_is_not_missed(watching: Watch, server: ModelServer) -> None:
    """Whoever wants a library left alone is not told to record it; others are."""
    turnspan.instrument(only=[], exclude=["openai"])
    ask(server)
    assert seen() == {}
    turnspan.uninstrument()
    ask(server)
    assert seen() == {("openai", "127.0.0.1"): 1}


def test_inside_another_packages_span(watching: Watch, server: ModelServer) -> None:
    """A model call's span of another package is a record; a span of ours around it is none."""
    tracer = TracerProvider().get_tracer("openinference.instrumentation.x")
    with tracer.start_as_current_span("llm", attributes={"openinference.span.kind": "LLM"}):
        ask(server)
    assert seen() == {}

    @turnspan.agent
    def agent() -> None:
        ask(server)

    agent()
    assert seen() == {("openai", "127.0.0.1"): 1}


def test_agents_that_are_processes(watching: Watch, tmp_path: Path) -> None:
    """Counted when they run, by whichever way of starting one; others are not."""
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    subprocess.run([str(program), "-p", "hi"], check=True)
    subprocess.run(["true"], check=True)

    async def run() -> None:
        process = await asyncio.create_subprocess_exec(str(program))
        await process.wait()

    asyncio.run(run())
    with pytest.raises(FileNotFoundError):
        subprocess.run([str(tmp_path / "codex")], check=True)

    assert seen() == {("claude", "process"): 2}
    (one,) = watching.seen()
    assert "turnspan receive" in one.remedy
    assert str(one) == "what 2 runs of claude asked its models is not recorded"


def test_the_clients_get_their_functions_back() -> None:
    """Stopped, nothing of ours is left, and started twice nothing is wrapped twice."""

    def functions() -> list[Any]:
        owners: list[tuple[Any, str]] = [
            (httpx2.Client, "send"),
            (http.client.HTTPConnection, "putrequest"),
            (subprocess.Popen, "__init__"),
        ]
        return [vars(owner)[name] for owner, name in owners]

    before = functions()
    watch.start()
    watch.start()
    during = functions()
    watch.stop()

    assert functions() == before
    for ours, theirs in zip(during, before, strict=True):
        assert ours is not theirs
        assert inspect.unwrap(ours) is inspect.unwrap(theirs)  # an earlier test may have wrapped it
        assert inspect.signature(ours) == inspect.signature(theirs)


@pytest.mark.tests_internal_errors
def test_a_fault_of_ours_is_not_the_applications(
    watching: Watch, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request goes out as if nobody watched, and an argument too few is theirs to tell of."""

    def boom(*_: Any) -> Any:
        raise RuntimeError("boom")

    monkeypatch.setattr(gaps, "seen", boom)
    assert ask(server).choices[0].message.content == "Hello"
    monkeypatch.setattr(gaps, "agent_program", boom)
    assert subprocess.run(["true"]).returncode == 0
    send: Any = httpx2.Client.send
    with pytest.raises(TypeError):
        send(httpx2.Client())
    assert errors.counts()


def test_it_can_be_switched_off() -> None:
    """TURNSPAN_WATCH_UNRECORDED=false leaves every client alone."""
    before = config.active()
    config.activate(config.resolve({}, {"TURNSPAN_WATCH_UNRECORDED": "false"}))
    send = httpx2.Client.send
    try:
        watch.start()
        assert httpx2.Client.send is send
        assert not watch.active
    finally:
        config.activate(before)


SCRIPT = """
import sys, turnspan
turnspan.configure(service_name="u")
import urllib.request
try:
    urllib.request.urlopen(urllib.request.Request(
        "http://api.groq.com:1/openai/v1/chat/completions", data=b"{}"), timeout=1)
except OSError:
    pass
print(*sorted(m for m in ("openai", "httpx2", "aiohttp", "google.genai") if m in sys.modules))
"""


def test_said_once_at_exit_and_by_the_doctor(tmp_path: Path) -> None:
    """One line in the log of a script whose tables are empty; the doctor of another process knows
    it as well. No package was imported for it."""
    store = f"chdb://{tmp_path}/s"
    environment = {"TURNSPAN_STORE": store, "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}

    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )

    assert ran.stdout.strip() == ""
    assert ran.stderr.count("unrecorded") == 1
    assert "1 call to api.groq.com may have gone unrecorded" in ran.stderr

    told = CliRunner().invoke(console, ["--store", store, "doctor", "--format", "json"])
    (check,) = (c for c in json.loads(told.stdout) if c["name"] == "unrecorded calls")
    assert check["level"] == "warn"
    assert check["finding"].startswith("1 call to api.groq.com may have gone")
    assert "turnspan.instrument()" in check["remedy"]


def test_what_all_processes_saw(tmp_path: Path) -> None:
    """Added up, the newest remedy kept; what is older than a week is forgotten, with its file."""
    now = 2e9
    old = Unrecorded("cohere", "h", 9, 1.0, "x")
    one = Unrecorded("groq", "api.groq.com", 2, now, "old")
    two = Unrecorded("groq", "api.groq.com", 3, now + 1, "new")
    write_unrecorded(tmp_path, "a", [one, old])
    write_unrecorded(tmp_path, "b", [two])
    (tmp_path / "unrecorded" / "c.json").write_text("no json")

    assert read_unrecorded(tmp_path) == [Unrecorded("groq", "api.groq.com", 5, now + 1, "new")]
    assert KEPT_SECONDS == 7 * 86_400


def test_nothing_is_said_of_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """No line where every call was recorded."""
    watch.forget()
    with caplog.at_level(logging.INFO, logger="turnspan"):
        watch.say()
    assert caplog.records == []


def test_over_grpc(watching: Watch) -> None:
    """Google's older clients: a call of a model's service counts, another service's does not."""
    server = grpc.server(ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    service = "/google.ai.generativelanguage.v1beta.GenerativeService"
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        for name in (f"{service}/GenerateContent", f"{service}/CountTokens", "/shop.Orders/Add"):
            with pytest.raises(grpc.RpcError):
                channel.unary_unary(name)(b"")
        opened: Any = channel
        streamed = opened.unary_stream(f"{service}/StreamGenerateContent")
        with pytest.raises(grpc.RpcError):
            list(streamed(b""))

    async def ask() -> None:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            with pytest.raises(grpc.RpcError):
                await channel.unary_unary(f"{service}/GenerateContent")(b"")

    asyncio.run(ask())
    server.stop(None)
    assert sum(seen().values()) == 3
    assert {one.remedy for one in watching.seen()} == {
        "record it by hand with turnspan.inference(...)"
    }
