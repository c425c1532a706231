"""The table of stop reasons, over both SDKs and all their ways, decorated and not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest

import turnspan
from support.normalised import Landed
from support.representatives import few
from support.told_replies import Told, chat_told, message_told, response_told
from turnspan import config
from turnspan.testing import ModelServer
from turnspan.tracing.state import current

HELLO: list[Any] = [{"role": "user", "content": "hello"}]
CALL = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def said(text: str) -> dict[str, Any]:
    """A block of text of a response."""
    return {"type": "output_text", "text": text, "annotations": []}


REFUSED = {"type": "refusal", "refusal": "I cannot."}
CUT: dict[str, Any] = {
    "status": "incomplete",
    "incomplete_details": {"reason": "max_output_tokens"},
}
FILTERED: dict[str, Any] = {
    "status": "incomplete",
    "incomplete_details": {"reason": "content_filter"},
}

_CASES: list[tuple[str, str, Told]] = [
    ("chat", "completed", chat_told()),
    ("chat", "max_tokens", chat_told("Hi", "length")),
    ("chat", "content_filter", chat_told("", "content_filter")),
    ("chat", "refusal", chat_told(None, "stop", refusal="I cannot.")),
    ("chat", "refusal", chat_told("", "length", refusal="I cannot.")),
    ("chat", "empty_no_tools", chat_told(" \n")),
    ("chat", "empty_no_tools", chat_told(None)),
    ("chat", "error", Told({"error": {"message": "no", "code": "nope"}}, status=400)),
    ("responses", "completed", response_told(said("Hi"))),
    ("responses", "max_tokens", response_told(said("Hi"), **CUT)),
    ("responses", "content_filter", response_told(said("Hi"), **FILTERED)),
    ("responses", "refusal", response_told(REFUSED)),
    ("responses", "refusal", response_told(said("Well. "), REFUSED)),
    ("responses", "empty_no_tools", response_told(said(" "))),
    ("responses", "error", Told({"error": "no such model"}, status=404)),
    ("messages", "completed", message_told()),
    ("messages", "completed", message_told("Hi", "stop_sequence")),
    ("messages", "max_tokens", message_told("Hi", "max_tokens")),
    ("messages", "max_tokens", message_told("Hi", "model_context_window_exceeded")),
    ("messages", "refusal", message_told("", "refusal")),
    ("messages", "empty_no_tools", message_told("")),
    (
        "messages",
        "error",
        Told({"type": "error", "error": {"type": "api_error", "message": "x"}}, status=500),
    ),
]


NEEDS = {"responses": [pytest.mark.needs("openai.resources.responses")]}
"""What the oldest SDKs lack."""
CASES = [
    pytest.param(*case, marks=NEEDS.get(case[0], []), id=f"{number}-{case[0]}-{case[1]}")
    for number, case in enumerate(_CASES)
]


class Asker:
    """Asks the model in one API's way, and gives back what a naive agent would answer with."""

    def __init__(self, server: ModelServer, api: str, way: str) -> None:
        self.api = api
        self.way = way
        url = server.url if api == "messages" else f"{server.url}/v1"
        sdk: Any = anthropic if api == "messages" else openai
        name = "Anthropic" if api == "messages" else "OpenAI"
        made: Any = getattr(sdk, ("Async" if way.startswith("async") else "") + name)
        self.client = made(base_url=url, api_key="k", max_retries=0)

    def create(self, **more: Any) -> Any:
        """The call as the SDK makes it."""
        if self.way.endswith("stream"):
            more["stream"] = True
        if self.api == "chat":
            return self.client.chat.completions.create(model="gpt-4o", messages=HELLO, **more)
        if self.api == "responses":
            return self.client.responses.create(model="gpt-5", input=HELLO, **more)
        return self.client.messages.create(
            model="claude-opus-4-6", max_tokens=9, messages=HELLO, **more
        )

    def ask(self) -> None:
        """Ask, and read the answer to its end."""
        result = self.create()
        if self.way == "stream":
            for _ in result:
                pass

    async def aask(self) -> None:
        """``ask`` of an asynchronous client."""
        result = await self.create()
        if self.way == "async stream":
            async for _ in result:
                pass
        await self.client.close()

    def run(self) -> None:
        """Ask in whichever way it is."""
        if self.way.startswith("async"):
            asyncio.run(self.aask())
        else:
            self.ask()
            self.client.close()


def reason_of(rows: Landed) -> str:
    """Why the only turn stopped."""
    (turn,) = {turn.turn_id: turn for turn in rows.turns}.values()
    assert turn.status == "final"
    return str(turn.stop_reason)


def serve(server: ModelServer, told: Told, way: str) -> None:
    """What the next request gets."""
    if way.endswith("stream") and told.status == 200:
        server.stream(told.events)
    else:
        server.answer(told.body, status=told.status)


@pytest.mark.parametrize("way", ["sync", "stream", "async", "async stream"])
@pytest.mark.parametrize("decorated", [False, True], ids=["plain", "decorated"])
@pytest.mark.parametrize(("api", "reason", "told"), CASES)
def test_how_the_last_reply_ended(
    server: ModelServer, rows: Landed, api: str, reason: str, told: Told, decorated: bool, way: str
) -> None:
    """The agent returns nothing of its own: the reply decides, decorated or not."""
    serve(server, told, way)
    asker = Asker(server, api, way)
    asked: Callable[[], None] = turnspan.agent("a")(asker.run) if decorated else asker.run
    if reason == "error":
        with pytest.raises((openai.APIError, anthropic.APIError)):
            asked()
    else:
        asked()

    assert reason_of(rows) == reason


@pytest.mark.parametrize("way", ["sync", "async stream"])
@pytest.mark.parametrize("decorated", few([False, True], [True]), ids=["plain", "decorated"])
@pytest.mark.parametrize(("api", "reason", "told"), CASES)
def test_they_are_the_same_without_content(
    server: ModelServer,
    settings: None,
    rows: Landed,
    api: str,
    reason: str,
    told: Told,
    decorated: bool,
    way: str,
) -> None:
    """``capture_content=False`` costs no stop reason, and makes no full reply an empty one."""
    config.activate(config.resolve({"capture_content": False}))
    test_how_the_last_reply_ended(server, rows, api, reason, told, decorated, way)
    assert {(call.response_text, tuple(call.output_messages)) for call in rows.calls} == {("", ())}


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_a_failure_that_the_application_answers_for(
    server: ModelServer, rows: Landed, api: str
) -> None:
    """A failed call is the turn's error unless another call, or the agent itself, answers."""
    told = chat_told() if api == "chat" else message_told()

    def gives_up(answer: str | None) -> str | None:
        server.answer({}, status=400)
        with pytest.raises((openai.APIError, anthropic.APIError)):
            Asker(server, api, "sync").run()
        return answer

    def tries_again(answer: str | None) -> str | None:
        gives_up(None)
        server.answer(told.body)
        Asker(server, api, "sync").run()
        return answer

    for agent in (gives_up, tries_again):
        for answer in (None, "sorry"):
            turnspan.agent(f"{agent.__name__} {answer}")(agent)(answer)

    assert {turn.agent_name: turn.stop_reason for turn in rows.turns} == {
        "gives_up None": "error",
        "gives_up sorry": "completed",
        "tries_again None": "completed",
        "tries_again sorry": "completed",
    }


@pytest.mark.needs("openai.resources.responses")
def test_a_failure_that_came_as_a_success(server: ModelServer, rows: Landed) -> None:
    """A response whose status is failed is no answer."""
    problem = {"code": "server_error", "message": "try later"}
    body: dict[str, Any] = {
        **response_told().body,
        "status": "failed",
        "error": problem,
        "output": [],
    }
    for decorated in (False, True):
        server.answer(body)
        asked = Asker(server, "responses", "sync").run
        (turnspan.agent("a")(asked) if decorated else asked)()

    assert [(t.stop_reason, t.error_type) for t in rows.turns if not t.agent_name] == [
        ("error", "server_error")
    ]
    assert [t.stop_reason for t in rows.turns if t.agent_name] == ["error"]


@pytest.mark.parametrize("way", ["stream", "async stream"])
@pytest.mark.parametrize(
    ("api", "told"),
    [("chat", chat_told("Hello there")), ("messages", message_told("Hello there"))],
    ids=["chat", "messages"],
)
def test_a_stream_that_its_reader_leaves(
    server: ModelServer, rows: Landed, api: str, told: Told, way: str
) -> None:
    """The user left: aborted, with what had come as the reply."""
    server.stream(told.events, hold_after=5)
    asker = Asker(server, api, way)

    async def leave() -> None:
        stream = await asker.create()
        seen = 0
        async for _ in stream:
            seen += 1
            if seen == 4:
                break
        await stream.close()
        await asker.client.close()

    if way == "stream":
        stream = asker.create()
        for _, _ in zip(range(4), stream, strict=False):
            pass
        stream.close()
        asker.client.close()
    else:
        asyncio.run(leave())
    server.release.set()

    (turn,) = rows.turns
    assert (turn.stop_reason, turn.error_type) == ("user_aborted", "")
    assert turn.response_text


def test_a_call_that_is_cancelled(server: ModelServer, rows: Landed) -> None:
    """Cancellation from outside is no error, decorated or not."""

    async def cancelled(decorated: bool) -> None:
        server.stream(chat_told().events, hold_after=0)
        asker = Asker(server, "chat", "async stream")
        ask = turnspan.agent("a")(asker.aask) if decorated else asker.aask
        task = asyncio.create_task(ask())
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    for decorated in (False, True):
        asyncio.run(cancelled(decorated))

    assert [turn.stop_reason for turn in rows.turns] == ["user_aborted", "user_aborted"]


def test_what_was_never_told_is_not_blank(rows: Landed) -> None:
    """A call recorded by hand, without a word of what the model said."""
    for decorated in (False, True):
        around: Any = turnspan.agent("a") if decorated else turnspan.session("plain")
        with around, turnspan.inference(provider="mine", model="m", messages=HELLO) as call:
            call.response(input_tokens=3, output_tokens=4)
    made = turnspan.inference(provider="mine", model="m", messages=HELLO)
    with turnspan.session("blank"), made as call:
        call.response(text=" ")

    assert [t.stop_reason for t in rows.turns] == ["completed", "completed", "empty_no_tools"]


@pytest.mark.parametrize("captured", [True, False], ids=["with content", "without"])
def test_unknown_arguments_repeat_no_others(settings: None, rows: Landed, captured: bool) -> None:
    """Without content nobody knows whether an undecorated agent does the same over and over."""
    config.activate(config.resolve({"capture_content": captured}))
    tracer = current().decorators
    with tracer.start_as_current_span("POST /ask"):
        for number in range(4):
            with turnspan.inference(provider="mine", model="m", messages=HELLO) as call:
                asked = {"id": f"c{number}", "name": "look", "arguments": {"page": number}}
                call.response(tool_calls=[asked])
            with turnspan.tool("look", call_id=f"c{number}", arguments={"page": number}) as tool:
                tool.result = "nothing"
        with turnspan.inference(provider="mine", model="m", messages=HELLO) as call:
            call.response(text="There is nothing.")

    assert [turn.stop_reason for turn in rows.turns] == ["completed"]
