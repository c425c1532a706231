"""Conversations of undecorated agents, through the real SDKs, and what was derived from them."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import anthropic
import openai

from support.normalised import Rows
from turnspan.turn.tool_failure import tool_failed
from turnspan_clickhouse.rows.tables import LlmCall

_HTTP: Any = import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])

Message = dict[str, Any]
Around = Callable[[str], AbstractContextManager[Any]]
"""What the application has around a user's turn (a web server's span), by the turn's name."""


@dataclass
class Model:
    """A model that says what it is told to, over real clients of two SDKs."""

    replies: list[Any] = field(default_factory=list[Any])
    numbers: Iterable[int] = field(default_factory=itertools.count)

    def __post_init__(self) -> None:
        client = _HTTP.Client(transport=_HTTP.MockTransport(self._answer))
        self.openai: Any = openai.OpenAI(api_key="k", max_retries=0, http_client=client)
        self.anthropic: Any = anthropic.Anthropic(api_key="k", max_retries=0, http_client=client)

    def _answer(self, request: Any) -> Any:
        reply = self.replies.pop(0)
        if isinstance(reply, bytes):
            return _HTTP.Response(200, headers={"content-type": "text/event-stream"}, content=reply)
        if isinstance(reply, int):
            return _HTTP.Response(reply, json={"error": {"message": "no", "type": "failed"}})
        return _HTTP.Response(200, json=reply)

    def chat(
        self, messages: Sequence[Any], reply: Message | int, name: str = "r", **more: Any
    ) -> Any:
        """One call of chat completions."""
        self.replies.append(reply if isinstance(reply, int) else chat_reply(reply, name))
        return self.openai.chat.completions.create(model="gpt-4o", messages=list(messages), **more)

    def stream(self, messages: Sequence[Any], reply: Message, name: str = "r") -> Any:
        """One call of chat completions, streamed; returns the stream."""
        self.replies.append(chat_events(reply, name))
        given = {"stream": True, "stream_options": {"include_usage": True}}
        return self.openai.chat.completions.create(model="gpt-4o", messages=list(messages), **given)

    def message(
        self, messages: Sequence[Any], content: list[Message], name: str = "r", **more: Any
    ) -> Any:
        """One call of Anthropic's messages."""
        self.replies.append(message_reply(content, name))
        return self.anthropic.messages.create(
            model="claude-sonnet-5", max_tokens=64, messages=list(messages), **more
        )

    def respond(self, given: Any, text: str, name: str, **more: Any) -> Any:
        """One call of Responses."""
        self.replies.append(response_reply(text, name))
        return self.openai.responses.create(model="gpt-5", input=given, **more)


def chat_reply(message: Message, name: str) -> Message:
    """A chat completion with this message."""
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return {
        "id": name,
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": usage,
    }


def chat_events(message: Message, name: str) -> bytes:
    """A chat completion with this message, streamed, a character a chunk."""
    common = {"id": name, "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
    calls: list[Message] = message.get("tool_calls") or []
    deltas: list[Message] = [{"role": "assistant"}]
    deltas += [{"content": each} for each in message.get("content") or ""]
    deltas += [{"tool_calls": [{"index": i, **call}]} for i, call in enumerate(calls)]
    chunks: list[Message] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    reason = "tool_calls" if calls else "stop"
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    chunks.append({"choices": [], "usage": usage})
    lines = [f"data: {json.dumps({**common, **chunk})}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def message_reply(content: list[Message], name: str) -> Message:
    """An Anthropic message with this content."""
    asks = any(block["type"] == "tool_use" for block in content)
    return {
        "id": name,
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": content,
        "stop_reason": "tool_use" if asks else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def response_reply(text: str, name: str) -> Message:
    """A response that says a text."""
    said: Message = {"type": "output_text", "text": text, "annotations": []}
    message: Message = {
        "type": "message",
        "id": "m" + name,
        "status": "completed",
        "role": "assistant",
        "content": [said],
    }
    usage = {
        "input_tokens": 10,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 15,
    }
    return {
        "id": name,
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "gpt-5",
        "output": [message],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    }


def call_of(call_id: str, name: str, **arguments: Any) -> Message:
    """A tool call, as a chat completion has it."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": call_id, "type": "function", "function": function}


@dataclass(slots=True)
class Talk:
    """A recorded conversation: every message in order, as OpenAI's format has them."""

    name: str
    messages: list[Message]
    tools: list[Message]

    def said(self) -> list[dict[str, Any]]:
        """What its turns are to be: user message, rounds, tools and failures."""
        turns: list[dict[str, Any]] = []
        for message in self.messages:
            if message["role"] == "user":
                turns.append({"user": message["content"], "rounds": 0, "tools": []})
            elif message["role"] == "assistant":
                turns[-1]["rounds"] += 1
            elif message["role"] == "tool":
                turns[-1]["tools"].append(tool_failed(message["content"]))
        return [turn for turn in turns if turn["rounds"]]


def steps(talk: Talk, model: Model, provider: str, around: Around) -> Generator[None]:
    """Play a conversation as a loop that nobody decorated; yields before each model call."""
    play = _openai_call if provider == "openai" else _anthropic_call
    number = itertools.count()
    turn = -1
    for place, message in enumerate(talk.messages):
        if message["role"] == "user":
            turn += 1
        elif message["role"] == "assistant":
            yield
            with around(f"{talk.name}/{turn}"):
                play(model, talk, place, f"{talk.name}-{next(number)}")


def _openai_call(model: Model, talk: Talk, place: int, name: str) -> None:
    more = {"tools": talk.tools} if talk.tools else {}
    history = json.loads(json.dumps(talk.messages[:place]))
    model.chat(history, {"content": None, **talk.messages[place]}, name, **more)


def _anthropic_call(model: Model, talk: Talk, place: int, name: str) -> None:
    system = "\n".join(m["content"] for m in talk.messages if m["role"] == "system")
    tools = [
        {
            "name": tool["function"]["name"],
            "input_schema": tool["function"]["parameters"],
        }
        for tool in talk.tools
    ]
    history = [_as_anthropic(m) for m in talk.messages[:place] if m["role"] != "system"]
    content = _as_anthropic(talk.messages[place])["content"]
    model.message(history, content, name, system=system, **({"tools": tools} if tools else {}))


def _as_anthropic(message: Message) -> Message:
    text = message.get("content")
    if message["role"] == "tool":
        block = {"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": text}
        return {"role": "user", "content": [block]}
    if message["role"] == "user":
        return {"role": "user", "content": text}
    content: list[Message] = [{"type": "text", "text": text}] if text else []
    content += [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": json.loads(call["function"]["arguments"]),
        }
        for call in message.get("tool_calls", [])
    ]
    return {"role": "assistant", "content": content}


def differences(rows: Rows, talks: Sequence[Talk]) -> dict[str, str]:
    """The conversations that were not derived exactly, and what is wrong first."""
    calls: dict[str, list[LlmCall]] = defaultdict(list)
    owners: dict[str, set[str]] = defaultdict(set)
    for call in rows.calls:
        name = call.response_id.rpartition("-")[0]
        calls[name].append(call)
        owners[call.session_id].add(name)
    found: dict[str, str] = {}
    for talk in talks:
        sessions = {call.session_id for call in calls[talk.name]}
        if len(sessions) != 1:
            found[talk.name] = f"{len(sessions)} sessions of {len(calls[talk.name])} calls"
            continue
        (session,) = sessions
        if owners[session] != {talk.name}:
            found[talk.name] = f"its session has calls of {sorted(owners[session])}"
            continue
        wanted, got = talk.said(), _derived(rows, session)
        if got != wanted:
            pairs = itertools.zip_longest(got, wanted)
            wrong = next(pair for pair in pairs if pair[0] != pair[1])
            found[talk.name] = f"{len(got)} turns, {len(wanted)} played: {str(wrong)[:600]}"
    return found


def _derived(rows: Rows, session: str) -> list[dict[str, Any]]:
    tools: dict[str, list[bool]] = defaultdict(list)
    for tool in rows.tools:
        if tool.session_id == session:
            tools[tool.turn_id].append(tool.failed)
    return [
        {"user": turn.user_message, "rounds": turn.rounds, "tools": tools[turn.turn_id]}
        for turn in rows.turns
        if turn.session_id == session
    ]


def nothing_around(_: str) -> AbstractContextManager[Any]:
    """A plain script."""
    return nullcontext()
