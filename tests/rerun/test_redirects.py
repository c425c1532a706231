"""In a rerun every request to a model goes to the rerun's server, whatever sends it."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import httpx
import openai
import pytest
import requests
from opentelemetry import trace

import turnspan
from support.google_sdk import genai
from support.plain_clients import CLIENTS, Send
from support.rerun_protocol import ProtocolServer, rerun_here
from turnspan import semconv
from turnspan.patching.models_on_the_wire import INSIDE
from turnspan.providers.litellm.calls import LiteLLMChat
from turnspan.testing import ModelServer, record
from turnspan.tracing.begin_call import begin

HOSTED = "https://api.openai.com/v1/chat/completions"
LOCAL = "http://127.0.0.1:9/v1/chat/completions"  # where nothing listens, as an Ollama that is off
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hi"}]}).encode()


@pytest.mark.parametrize("url", [HOSTED, LOCAL])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_request_keeps_its_bytes_and_says_where_it_was_for(
    rerun: ProtocolServer, client: str, url: str
) -> None:
    """TLS, proxies and the provider's address are left out; method, path and body are the same."""
    send: Send = CLIENTS[client]
    if client == "http.client":
        url = url.replace("https", "http")
    status, answer = send(f"{url}?beta=1", BODY, {"content-type": "application/json", "x-own": "1"})
    (sent,) = rerun.requests
    assert status == 200 and b"said to" in answer
    assert (sent.method, sent.target, sent.body) == ("POST", "/v1/chat/completions?beta=1", BODY)
    port = "9" if "127" in url else "443" if url.startswith("https") else "80"
    assert sent.origin == f"{url.partition('/v1')[0].removesuffix(':9')}:{port}"
    assert sent.headers["x-own"] == "1"
    assert sent.headers["host"].startswith(sent.origin.split("/")[2].rpartition(":")[0])


def test_a_proxy_is_left_out(rerun: ProtocolServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is another machine, or one that is not there."""
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    assert httpx.post(HOSTED, content=BODY).status_code == 200
    assert requests.post(HOSTED, data=BODY, timeout=9).status_code == 200
    urllib.request.urlopen(urllib.request.Request(HOSTED, data=BODY)).close()
    assert [sent.origin for sent in rerun.requests] == ["https://api.openai.com:443"] * 3


def test_a_connection_serves_one_request_here_and_the_next_one_there(
    protocol: ProtocolServer,
) -> None:
    """Whether the rerun begins, or another path is asked for, on a connection that is open."""
    with ModelServer("live") as live, requests.Session() as session, httpx.Client() as client:

        def ask(path: str) -> list[int]:
            url = live.url + path
            return [
                session.post(url, data=BODY).status_code,
                client.post(url, content=BODY).status_code,
            ]

        model, other = "/v1/chat/completions", "/other"
        assert ask(model) == [200, 200] and len(live.requests) == 2
        with rerun_here(protocol.environment()):
            assert ask(model) == [200, 200] and ask(other) == [404, 404]
            assert ask(model) == [200, 200]
        assert (len(live.requests), len(protocol.requests)) == (4, 4)
        assert ask(model) == [200, 200] and len(live.requests) == 6


def test_a_framework_s_call_is_told_of_before_its_request(rerun: ProtocolServer) -> None:
    """As the program made it, once a request: also of a stream, whose request is sent when its
    first piece is fetched, and of a call that is recorded by hand. Requests outside name none."""
    said = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stop": ["\u202e\0"]}
    with record():
        tracer = trace.get_tracer("framework")
        call = begin(tracer, LiteLLMChat(), {}, said, stream=False)
        assert call is not None
        call.gateway = True
        call.enter()
        httpx.post("https://api.anthropic.com/v1/messages", content=BODY)
        call.leave()
        httpx.post(HOSTED, content=BODY)
        token = INSIDE.set(call)
        httpx.post(HOSTED, content=BODY)
        INSIDE.reset(token)
        call.close(None)
        with turnspan.inference(provider="own", model="m", messages=said["messages"]):
            httpx.post(HOSTED, content=BODY)
    by_hand = rerun.calls.pop()
    assert (by_hand["model"], by_hand["request"]["messages"]) == ("m", said["messages"])
    assert rerun.requests.pop().headers["x-turnspan-framework-call"] == by_hand["id"] != ""
    ids = [sent.headers.get("x-turnspan-framework-call") for sent in rerun.requests]
    known = {"operation": "chat", "dialect": "openai.chat", "model": "m", "request": said}
    assert ids[0] and ids == [ids[0], None, ids[0]]
    assert rerun.calls == [{"id": ids[0], **known}] * 2


Call = Callable[[int], str]


def _openai(stream: bool) -> Call:
    client = openai.OpenAI(api_key="k", max_retries=0)

    def call(number: int) -> str:
        said: list[Any] = [{"role": "user", "content": f"{number}"}]
        if not stream:
            found = client.chat.completions.create(model="m", messages=said)
            return found.choices[0].message.content or ""
        chunks = client.chat.completions.create(model="m", messages=said, stream=True)
        return "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)

    return call


def _anthropic(stream: bool) -> Call:
    client = anthropic.Anthropic(api_key="k", max_retries=0)

    def call(number: int) -> str:
        said: list[Any] = [{"role": "user", "content": f"{number}"}]
        if stream:
            with client.messages.stream(model="m", messages=said, max_tokens=9) as found:
                return "".join(found.text_stream)
        answer = client.messages.create(model="m", messages=said, max_tokens=9)
        return "".join(block.text for block in answer.content if block.type == "text")

    return call


def _google(stream: bool) -> Call:
    client = genai.Client(api_key="k")

    def call(number: int) -> str:
        if stream:
            found = client.models.generate_content_stream(model="m", contents=f"{number}")
            return "".join(chunk.text or "" for chunk in found)
        return client.models.generate_content(model="m", contents=f"{number}").text or ""

    return call


def _async_openai(stream: bool) -> Call:
    async def ask(number: int) -> str:
        said: list[Any] = [{"role": "user", "content": f"{number}"}]
        async with openai.AsyncOpenAI(api_key="k", max_retries=0) as client:
            if not stream:
                found = await client.chat.completions.create(model="m", messages=said)
                return found.choices[0].message.content or ""
            chunks = await client.chat.completions.create(model="m", messages=said, stream=True)
            return "".join([c.choices[0].delta.content or "" async for c in chunks if c.choices])

    return lambda number: asyncio.run(ask(number))


def _async_anthropic(stream: bool) -> Call:
    async def ask(number: int) -> str:
        said: list[Any] = [{"role": "user", "content": f"{number}"}]
        async with anthropic.AsyncAnthropic(api_key="k", max_retries=0) as client:
            if stream:
                async with client.messages.stream(model="m", messages=said, max_tokens=9) as found:
                    return "".join([text async for text in found.text_stream])
            answer = await client.messages.create(model="m", messages=said, max_tokens=9)
            return "".join(block.text for block in answer.content if block.type == "text")

    return lambda number: asyncio.run(ask(number))


def _async_google(stream: bool) -> Call:
    async def ask(number: int) -> str:
        models = genai.Client(api_key="k").aio.models
        if stream:
            found = await models.generate_content_stream(model="m", contents=f"{number}")
            return "".join([chunk.text or "" async for chunk in found])
        return (await models.generate_content(model="m", contents=f"{number}")).text or ""

    return lambda number: asyncio.run(ask(number))


SDKS: dict[str, tuple[Callable[[bool], Call], str]] = {
    "openai": (_openai, "api.openai.com"),
    "openai, asynchronous": (_async_openai, "api.openai.com"),
    "anthropic": (_anthropic, "api.anthropic.com"),
    "anthropic, asynchronous": (_async_anthropic, "api.anthropic.com"),
    "google-genai": (_google, "generativelanguage.googleapis.com"),
    "google-genai, asynchronous": (_async_google, "generativelanguage.googleapis.com"),
}


@pytest.fixture
def recording() -> Iterator[Any]:
    with record() as recorded:
        turnspan.instrument()
        try:
            yield recorded
        finally:
            turnspan.uninstrument()


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("sdk", SDKS)
def test_an_sdk_asks_two_at_a_time_and_is_recorded_with_its_own_host(
    recording: Any, protocol: ProtocolServer, sdk: str, stream: bool
) -> None:
    """Its client keeps its address, so recording sees where the request was for; each call knows
    its place."""
    make, host = SDKS[sdk]
    with rerun_here(protocol.environment()):
        call, together = make(stream), threading.Barrier(2)

        def at_once(number: int) -> Any:
            together.wait(30)  # else one thread may be done before the other begins
            return call(number)

        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(at_once, (11, 22)))
    assert ["11" in answers[0], "22" in answers[1]] == [True, True]
    assert {sent.origin for sent in protocol.requests} == {f"https://{host}:443"}
    places = [sent.headers["x-turnspan-place"].split(":") for sent in protocol.requests]
    calls = recording.calls()
    assert {place[0] for place in places} == {span.trace_id for span in calls}
    assert len({place[2] for place in places}) == 2
    spans = [span for span in recording.spans() if semconv.SERVER_ADDRESS in span.attributes]
    assert {span.attributes[semconv.SERVER_ADDRESS] for span in spans} == {host}
    assert all(span.attributes[semconv.RERUN_ID] == "0a1b2c3d" for span in spans)
    turns = recording.turns()
    assert {turn.attributes[semconv.RERUN_OF] for turn in turns} == {"thread-1"}
