"""An agent over Anthropic's messages: a plain loop, as people write it."""

from __future__ import annotations

import json
from typing import Any

from anthropic import Anthropic, AsyncAnthropic
from anthropic.types import Message

from turnspan_demo.agents.desk import Desk
from turnspan_demo.model import OPENED, Run

MAX_TOKENS = 4096
THINKING_BUDGET = 2048


class AnthropicAgent:
    """A conversation with a model that may call tools. ``stream`` reads replies as they come."""

    def __init__(self, client: Anthropic, run: Run, *, stream: bool = False) -> None:
        self._client = client
        self._stream = stream
        self._request = request_of(run)
        self.messages = opening(run)

    def answer(self, user_message: str, desk: Desk) -> str:
        """Answer the user, calling tools until the model is done."""
        desk.label()
        self.messages.append({"role": "user", "content": user_message})
        while True:
            message = self._streamed() if self._stream else self._complete()
            if message.content:
                self.messages.append({"role": "assistant", "content": message.content})
            results = tool_results(message, desk)
            if results:
                self.messages.append({"role": "user", "content": results})
            if not results or desk.closed:
                desk.finish()
                return text_of(message)

    def _complete(self) -> Message:
        create: Any = self._client.messages.create
        message: Message = create(messages=self.messages, **self._request)
        return message

    def _streamed(self) -> Message:
        with self._client.messages.stream(messages=self.messages, **self._request) as stream:
            return stream.get_final_message()


class AsyncAnthropicAgent:
    """The same with the asynchronous client."""

    def __init__(self, client: AsyncAnthropic, run: Run, *, stream: bool = False) -> None:
        self._client = client
        self._stream = stream
        self._request = request_of(run)
        self.messages = opening(run)

    async def answer(self, user_message: str, desk: Desk) -> str:
        """Answer the user, calling tools until the model is done."""
        desk.label()
        self.messages.append({"role": "user", "content": user_message})
        while True:
            message = await (self._streamed() if self._stream else self._complete())
            if message.content:
                self.messages.append({"role": "assistant", "content": message.content})
            results = tool_results(message, desk)
            if results:
                self.messages.append({"role": "user", "content": results})
            if not results or desk.closed:
                desk.finish()
                return text_of(message)

    async def _complete(self) -> Message:
        create: Any = self._client.messages.create
        message: Message = await create(messages=self.messages, **self._request)
        return message

    async def _streamed(self) -> Message:
        async with self._client.messages.stream(messages=self.messages, **self._request) as stream:
            return await stream.get_final_message()


def tool_results(message: Message, desk: Desk) -> list[dict[str, Any]]:
    """Run the tools that a reply asks for; empty where it asks for none."""
    results: list[dict[str, Any]] = []
    for block in message.content:
        if block.type != "tool_use":
            continue
        arguments = json.dumps(block.input, ensure_ascii=False)
        text, failed = desk.call(block.id, block.name, arguments)
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": block.id, "content": text}
        results.append({**result, "is_error": True} if failed else result)
    return results


def text_of(message: Message) -> str:
    """What a reply says to the user."""
    return "".join(block.text for block in message.content if block.type == "text")


def opening(run: Run) -> list[Any]:
    """The messages before the first turn."""
    if not run.greeting:
        return []
    return [
        {"role": "user", "content": OPENED},
        {"role": "assistant", "content": run.greeting},
    ]


def request_of(run: Run) -> dict[str, Any]:
    """The arguments that every request of a run has in common."""
    request: dict[str, Any] = {"model": run.model("anthropic"), "max_tokens": MAX_TOKENS}
    if run.system and run.cached:
        mark = {"type": "ephemeral"}
        request["system"] = [{"type": "text", "text": run.system, "cache_control": mark}]
    elif run.system:
        request["system"] = run.system
    if run.tools:
        request["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in run.tools
        ]
    if any(reply.thinking for turn in run.turns for reply in turn.replies):
        request["thinking"] = {"type": "enabled", "budget_tokens": THINKING_BUDGET}
    return request
