"""The first request that a recording does not have is named: which call, and what changed in it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from support.representatives import few
from support.reruns import ORIGIN, landed, played
from support.shared import trajectories
from turnspan import semconv
from turnspan_clickhouse.store.client import Store
from turnspan_demo.model import Provider
from turnspan_demo.trajectories import load
from turnspan_records.again.rerun.call_matcher import CallMatcher
from turnspan_records.again.rerun.divergence import Divergence
from turnspan_records.again.rerun.recording import PlayableCall, SessionRecording
from turnspan_records.again.rerun.replies import reply_of
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


FRAMEWORKS = (semconv.SCOPE_LITELLM, semconv.SCOPE_LLM, "openinference.instrumentation.any")
SDKS = (semconv.SCOPE_OPENAI, semconv.SCOPE_ANTHROPIC, semconv.SCOPE_WIRE, "")


@pytest.mark.parametrize("scope", [*FRAMEWORKS, *SDKS])
def test_only_a_framework_may_add_a_parameter(sessions: list[Played], scope: str) -> None:
    """What its own call states is compared; of a client's request, all is."""
    one = next(each for each in sessions if each.provider == "anthropic")
    calls = [replace(call, scope_name=scope) for call in one.recording.calls]
    recording = replace(one.recording, calls=calls)

    def found(edited: dict[str, Any]) -> PlayableCall | Divergence:
        reader = RequestReader()
        return CallMatcher(recording, reader).match(_read(reader, one, edited))

    body = one.requests[0]
    added = found({**body, "top_p": 0.5})
    if scope in FRAMEWORKS:
        assert not isinstance(added, Divergence)
    else:
        assert isinstance(added, Divergence)
        assert added.where == "the parameter top_p: not set -> 0.5"
    changed = found({**body, "top_p": 0.5, "max_tokens": 7})
    assert isinstance(changed, Divergence)
    assert changed.where == f"the parameter max_tokens: {body['max_tokens']} -> 7"
    told = found({**body, "messages": [{"role": "user", "content": "Something else"}]})
    assert isinstance(told, Divergence)
    assert told.where.startswith("message 1")


def test_a_framework_s_call_is_compared_as_it_was_made(sessions: list[Played]) -> None:
    """Whatever API it is translated to on its way, whose reply it gets; what the program changed
    in it is named."""
    one = next(each for each in sessions if each.provider == "openai")
    anthropic = next(each for each in sessions if each.provider == "anthropic")
    reader = RequestReader()
    matcher = CallMatcher(one.recording, reader)
    sent = {"model": "any", "max_tokens": 64_000, "messages": [{"role": "user", "content": "Hi"}]}
    for number, body in enumerate(one.requests):
        for edited in ({**body, "top_p": 0.5}, body):
            _expect(reader, edited)
            asked = _read(reader, anthropic, sent, "a1")
            found = matcher.match(asked)
            if edited is not body:
                assert isinstance(found, Divergence)
                assert found.where == "the parameter top_p: not set -> 0.5", number
                continue
            assert not isinstance(found, Divergence), found
            reply = json.loads(b"".join(reply_of(one.recording, found, asked).pieces))
            told = one.recording.messages[found.output_hashes[0]]
            kinds = {"text": "text", "tool_call": "tool_use"}
            assert [block["type"] for block in reply["content"]] == [
                kinds[part["type"]] for part in told.parts
            ]
            reasons = {"stop": "end_turn", "tool_calls": "tool_use"}
            assert reply["stop_reason"] == reasons[found.finish_reasons[0]]
    asked = _read(reader, anthropic, sent, "a1")  # it names a call that has been answered
    assert not asked.of_framework
    words = (
        "litellm.NotFoundError: NotFoundError: Text-completion-openaiException - Error code: 404"
    )
    failed = replace(
        one.recording.calls[0],
        error_type="NotFoundError",
        error_message=f"{words} - no such model",
        output_hashes=[],
    )
    refused = reply_of(one.recording, failed, asked)
    assert refused.status == 404
    assert json.loads(refused.pieces[0])["error"]["message"] == "no such model"


def _expect(reader: RequestReader, body: dict[str, Any]) -> None:
    call = {"id": "a1", "operation": "chat", "dialect": "openai.chat", "request": body}
    reader.expect({**call, "model": body["model"]})


def _read(
    reader: RequestReader, one: Played, body: dict[str, Any], framework_call: str = ""
) -> AskedRequest:
    headers = {"content-type": "application/json", "x-turnspan-framework-call": framework_call}
    data = json.dumps(body).encode()
    asked = reader.read("POST", ORIGIN, PATHS[one.provider], headers, data)
    assert asked is not None
    return asked
