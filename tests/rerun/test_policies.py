"""What follows a divergence, forks, failures, tools, and several conversations at once."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from contextlib import suppress
from contextvars import copy_context
from itertools import permutations
from typing import Any

import openai
import pytest

import turnspan
from support.reruns import Weather, landed, recorded, rerunning
from turnspan.testing import ModelServer, ToolRequest, record
from turnspan_clickhouse.store.client import Store
from turnspan_records.again.rerun.forks import Fork

pytestmark = pytest.mark.parametrize("module_store", ["embedded"], indirect=True)


def _play(server: ModelServer, agent: Weather) -> None:
    server.reply(tool_requests=[ToolRequest("weather", {"city": "Oslo"})])
    server.reply("It rains.", delay=0.3)
    agent.chat(server.url, {})


def test_a_divergence_can_be_gone_on_from(module_store: Store) -> None:
    """With the nearest record, or at the provider, whose answer passes through, streamed too."""
    recording = recorded(module_store, "policies", lambda s: _play(s, Weather()))
    with rerunning(recording, after="nearest") as (url, headers, server):
        assert Weather(question="And Rome?").chat(url, headers) == "It rains."
        assert [one.number for one in server.report().divergences] == [1, 2]
    for stream in (False, True):
        with (
            ModelServer("It shines, live. " * 99) as provider,
            rerunning(recording, after="live") as (url, headers, server),
        ):
            headers["x-turnspan-origin"] = provider.url
            agent = Weather(question="And Rome?", stream=stream)
            assert agent.chat(url, headers).startswith("It shines, live.")
            assert (server.report().live, server.report().answered) == (1, 0)
            sent = provider.requests[0].headers
            assert not any(name.startswith("x-turnspan") for name in sent)
            headers["x-turnspan-origin"] = "http://127.0.0.1:1"
            with pytest.raises(openai.APIStatusError, match="cannot be reached"):
                Weather(question="And Paris?").chat(url, headers)


def test_timing_is_kept_on_request(module_store: Store) -> None:
    """The second reply took 0.3 s."""
    recording = recorded(module_store, "timing", lambda s: _play(s, Weather()))
    with rerunning(recording, timing=True) as (url, headers, _):
        began = time.perf_counter()
        Weather().chat(url, headers)
        assert time.perf_counter() - began >= 0.3


def test_a_fork_changes_one_call_and_goes_on_live(module_store: Store) -> None:
    """The first call is the record's; the second has the changes, and so have later ones, but for
    the message."""
    recording = recorded(module_store, "fork", lambda s: _play(s, Weather()))
    fork = Fork(recording.call("2").span_id, "And Rome?", "Be long.", "gpt-5", (), 0.3)
    assert recording.call(recording.calls[0].span_id[:8]) is recording.calls[0]
    for unknown in ("9", "", recording.calls[0].span_id[:3] + "g"):
        with pytest.raises(KeyError):
            recording.call(unknown)
    with ModelServer() as provider, rerunning(recording, fork=fork) as (url, headers, server):
        headers["x-turnspan-origin"] = provider.url
        provider.reply(tool_requests=[ToolRequest("weather", {"city": "Rome"})])
        provider.reply("It shines.")
        assert Weather().chat(url, headers) == "It shines."
        first, second = (one.body for one in provider.requests)
        assert (server.report().answered, server.report().live) == (1, 2)
    assert first["messages"][1]["content"] == "And Rome?"
    assert second["messages"][1]["content"] == "Oslo?"
    for body in (first, second):
        assert body["messages"][0]["content"] == "Be long."
        assert (body["model"], body["temperature"], body["tools"]) == ("gpt-5", 0.3, [])


def test_a_failure_is_given_again(module_store: Store) -> None:
    """With its status and body; the application's own retry gets the next record."""

    def twice(url: str, headers: dict[str, str]) -> list[str]:
        client = openai.OpenAI(base_url=url, api_key="k", default_headers=headers, max_retries=0)
        said: list[str] = []
        for _ in range(2):
            try:
                asked: Any = [{"role": "user", "content": "Hi"}]
                reply = client.chat.completions.create(model="m", messages=asked)
                said.append(str(reply.choices[0].message.content))
            except openai.APIStatusError as error:
                said.append(f"{error.status_code} {error.code} {error.message}")
        return said

    def play(server: ModelServer) -> None:
        server.error(429, "slow down", kind="tokens")
        server.reply("Hello.")
        before.extend(twice(server.url, {}))

    before: list[str] = []
    recording = recorded(module_store, "failures", play)
    with rerunning(recording) as (url, headers, server):
        assert twice(url, headers) == before
        assert server.report().divergences == ()


def test_conversations_at_once_do_not_mix(module_store: Store) -> None:
    """Two threads ask the same first question, and are answered differently: each goes on with the
    conversation that it began with."""

    def ask(url: str, headers: dict[str, str], turn: str) -> list[str]:
        client = openai.OpenAI(base_url=url, api_key="k", default_headers=headers)
        said: list[str] = []
        for _ in range(3):  # nothing in the requests tells the two apart
            asked: Any = [{"role": "user", "content": "A word?"}]
            reply = client.chat.completions.create(model="m", messages=asked)
            said.append(str(reply.choices[0].message.content))
        return said

    with ModelServer() as server, record() as found, turnspan.session("two"):
        for name in ("a", "b"):
            for number in range(3):
                server.reply(f"{name}{number}")
            with turnspan.agent(name):
                ask(server.url, {}, name)
    recording = landed(module_store, "two", found)
    answers: dict[str, list[str]] = {}
    with rerunning(recording) as (url, headers, _):

        def run(name: str) -> None:
            place = {"x-turnspan-place": f"t:{name}:{name}"}
            answers[name] = ask(url, {**headers, **place}, name)

        threads = [threading.Thread(target=run, args=(name,)) for name in ("x", "y")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    told = [["a0", "a1", "a2"], ["b0", "b1", "b2"]]
    assert sorted(answers.values()) == told


@pytest.mark.parametrize("way", ["plain", "streamed", "retried"])
def test_conversations_that_begin_alike_end_as_they_did(module_store: Store, way: str) -> None:
    """They ask the same at the same time, then each its own. In whatever order they come again, no
    request diverges: what follows tells whose the first reply was. The report counts both."""
    names, together = ("a", "b", "c"), threading.Barrier(3)

    def talk(url: str, headers: dict[str, str], name: str, wait: Any = int) -> list[str]:
        client: Any = openai.OpenAI(base_url=url, api_key="k", default_headers=headers)
        said: list[Any] = []
        for text in ("A word?", f"And {name}?", "Bye"):
            wait()
            said.append({"role": "user", "content": text})
            asked: Any = {"model": "m", "messages": said}
            if way == "streamed":
                with client.chat.completions.stream(**asked) as stream:
                    message = stream.get_final_completion().choices[0].message
            else:
                message = client.chat.completions.create(**asked).choices[0].message
            said.append({"role": "assistant", "content": message.content})
        return [one["content"] for one in said[1::2]]

    before: dict[str, list[str]] = {}
    turnspan.instrument()
    with ModelServer() as server, record() as found, turnspan.session(f"alike {way}"):
        if way == "retried":
            server.error(500, "later")
        for number in range(9):
            server.reply(f"word {number}")

        def run(name: str) -> None:
            with turnspan.agent(name):
                before[name] = talk(server.url, {}, name, together.wait)

        threads = [threading.Thread(target=copy_context().run, args=(run, n)) for n in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    turnspan.uninstrument()
    recording = landed(module_store, f"alike {way}", found)
    for order in permutations(names):
        with rerunning(recording) as (url, headers, server_):
            after = {
                n: talk(url, {**headers, "x-turnspan-place": f"{n}:{n}:{n}"}, n) for n in order
            }
            report = server_.report()
        assert (report.divergences, report.unasked) == ((), ())
        assert {n: after[n][1:] for n in names} == {n: before[n][1:] for n in names}
        assert sorted(one[0] for one in after.values()) == sorted(o[0] for o in before.values())
        assert report.ambiguous == 2  # the last one has no choice
        assert report.exchanged == sum(after[n][0] != before[n][0] for n in names)


def test_tools_are_answered(module_store: Store) -> None:
    """Texts and JSON as they were, failures, unknown and live ones; other arguments diverge."""

    @turnspan.tool
    def stock(item: str, secret: str = "") -> Any:
        if item == "none":
            raise ValueError("no such item")
        return {"left": 3} if item == "lamp" else f"[1] {item}"

    with ModelServer() as models, record() as found, turnspan.session("tools"):
        _play(models, Weather())
        for item in ("lamp", "tea", "none"):
            with suppress(ValueError):
                stock(item)
    recording = landed(module_store, "tools", found)
    with rerunning(recording, live_tools=("live",)) as (url, headers, server):

        def ask(name: str, **arguments: str) -> dict[str, Any]:
            body = {"name": name, "arguments": json.dumps(arguments), "call_id": "", "place": "-"}
            request = urllib.request.Request(
                url + "/turnspan/tool", json.dumps(body).encode(), headers
            )
            with urllib.request.urlopen(request, timeout=9) as answer:
                told: dict[str, Any] = json.load(answer)
                return told

        lamp, tea, none = (
            ask("stock", item="lamp"),
            ask("stock", item="tea"),
            ask("stock", item="none"),
        )
        assert (lamp["result"], lamp["result_type"]) == ('{"left":3}', "json")
        assert (tea["result"], tea["result_type"]) == ("[1] tea", "text")
        assert (none["failed"], none["error_type"]) == (True, "ValueError")
        assert "no such item" in none["error_message"]
        assert ask("stock", item="lamp")["action"] == "diverged"
        assert "other arguments" in ask("stock", item="oil")["message"]
        assert ask("live")["action"] == ask("unknown")["action"] == "run"
        report = server.report()
    assert report.tools_answered == {"stock": 3}
    assert report.tools_ran == {"live": "it is live", "unknown": "no execution of it is recorded"}
    assert len(report.divergences) == 2
