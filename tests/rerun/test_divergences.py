"""The first request that a recording does not have is named: which call, and what changed in it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from support.representatives import few
from support.reruns import ORIGIN, landed, played
from support.shared import trajectories
from turnspan_clickhouse.store.client import Store
from turnspan_demo.model import Provider
from turnspan_demo.trajectories import load
from turnspan_records.again.rerun.call_matcher import CallMatcher
from turnspan_records.again.rerun.divergence import Divergence
from turnspan_records.again.rerun.recording import SessionRecording
from turnspan_records.again.rerun.requests import AskedRequest, RequestReader

PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}
pytestmark = pytest.mark.parametrize("module_store", ["embedded"], indirect=True)
_RULES = ("system", "developer")


@dataclass
class Played:
    """A session, and the requests of its calls in their order."""

    recording: SessionRecording
    requests: list[dict[str, Any]]
    provider: Provider


@pytest.fixture(scope="module")
def sessions(module_store: Store) -> list[Played]:
    """Sessions of some recorded runs, of either SDK."""
    files = trajectories("tau-bench__gpt-4o-airline", "swe-agent__demos", "tau2__activegraph")
    runs = [run for path in files for run in load(path, 1)]
    found: list[Played] = []
    providers: tuple[Provider, ...] = ("openai", "anthropic")
    for provider in providers:
        for number, run in enumerate(one for one in runs if provider in one.providers):
            session = f"{provider}-{number}"
            sent, recorded = played([run], provider, session)
            requests = [json.loads(one) for one in dict.fromkeys(sent)]
            found.append(Played(landed(module_store, session, recorded), requests, provider))
    return found


# -- edits: each changes a request, and returns the words that name what it changed ----------------


def _system(body: dict[str, Any], choose: random.Random) -> str:
    if "system" in body:
        holder, key = body, "system"
    elif body["messages"][0]["role"] in _RULES:
        holder, key = body["messages"][0], "content"
    else:
        return ""
    given = holder[key]
    lines: list[str] = given.splitlines() if isinstance(given, str) else []
    if not lines:
        return ""
    at = choose.randrange(len(lines))
    lines[at] += " Be brief!"
    holder[key] = "\n".join(lines)
    return f"the system prompt, line {at + 1}"


def _model(body: dict[str, Any], choose: random.Random) -> str:
    before, body["model"] = body["model"], "another-model"
    return f"the model: {before} -> another-model"


def _parameter(body: dict[str, Any], choose: random.Random) -> str:
    name = choose.choice(["temperature", "top_p", "max_tokens"])
    body[name] = 7
    return f"the parameter {name}"


def _tool(body: dict[str, Any], choose: random.Random) -> str:
    tools = body.get("tools")
    if not tools:
        return ""
    if choose.random() < 0.5:
        gone = tools.pop(choose.randrange(len(tools)))
        name = gone.get("name") or gone["function"]["name"]
        if not tools:
            del body["tools"]
        return f"the tool list: `{name}` is missing"
    described = choose.choice(tools)
    described = described.get("function", described)
    described["description"] = "Does something else."
    return f"the tool list: `{described['name']}` changed"


def _result(body: dict[str, Any], choose: random.Random) -> str:
    found: list[tuple[int, dict[str, Any]]] = []
    for at, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            found.append((at, message))
        elif isinstance(message.get("content"), list):
            found += [(at, one) for one in message["content"] if one.get("type") == "tool_result"]
    if not found:
        return ""
    at, holder = choose.choice(found)
    holder["content"] = f"Something else: {choose.random()}"
    return f"message {at + 1}, the result of tool"


def _said(body: dict[str, Any], choose: random.Random) -> str:
    texts = [
        at
        for at, message in enumerate(body["messages"])
        if message["role"] == "user" and isinstance(message["content"], str)
    ]
    if not texts:
        return ""
    at = choose.choice(texts)
    body["messages"][at]["content"] += "\nAnd something else."
    return f"message {at + 1}, the user's"


def _order(body: dict[str, Any], choose: random.Random) -> str:
    messages = body["messages"]
    first = next(at for at, one in enumerate(messages) if one["role"] not in _RULES)
    places = [at for at in range(first, len(messages) - 1) if messages[at] != messages[at + 1]]
    if not places:
        return ""
    at = choose.choice(places)
    messages[at], messages[at + 1] = messages[at + 1], messages[at]
    return f"message {at + 1}"


EDITS: tuple[Callable[[dict[str, Any], random.Random], str], ...] = (
    *(_system, _model, _parameter, _tool, _result, _said, _order),
)


@pytest.mark.parametrize("seed", few(range(200), range(20)))
def test_an_edit_is_named(sessions: list[Played], seed: int) -> None:
    """The calls before it are answered; the words name its kind, its place and its call."""
    one, number, edited, words = _edited(sessions, random.Random(seed))
    reader = RequestReader()
    matcher = CallMatcher(one.recording, reader)
    for body in one.requests[:number]:
        assert not isinstance(matcher.match(_read(reader, one, body)), Divergence)
    found = matcher.match(_read(reader, one, edited))
    assert isinstance(found, Divergence), words
    assert found.where.startswith(words), (found.where, words)
    sent = [call for call in one.recording.calls if call.tries == 1]
    assert found.number == one.recording.calls[number].number or len(sent) != len(one.requests)


def _edited(
    sessions: list[Played], choose: random.Random
) -> tuple[Played, int, dict[str, Any], str]:
    """A session, the number of a request in it, the request as it is edited, and the words."""
    while True:
        one = choose.choice(sessions)
        number = choose.randrange(len(one.requests))
        edited: dict[str, Any] = json.loads(json.dumps(one.requests[number]))
        words = choose.choice(EDITS)(edited, choose)
        if words:
            return one, number, edited, words


def _read(reader: RequestReader, one: Played, body: dict[str, Any]) -> AskedRequest:
    headers = {"content-type": "application/json"}
    data = json.dumps(body).encode()
    asked = reader.read("POST", ORIGIN, PATHS[one.provider], headers, data)
    assert asked is not None
    return asked
