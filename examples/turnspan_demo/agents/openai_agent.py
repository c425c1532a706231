"""An agent over OpenAI's chat completions: a plain loop, as people write it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openai import AsyncOpenAI, OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from turnspan_demo.agents.desk import Desk
from turnspan_demo.model import Run


class OpenAIAgent:
    """A conversation with a model that may call tools. ``stream`` reads replies as they come."""

    def __init__(self, client: OpenAI, run: Run, *, stream: bool = False) -> None:
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
            self.messages.append(message)
            calls: list[Any] = message.get("tool_calls") or []
            for call in calls:
                function = call["function"]
                text, _ = desk.call(call["id"], function["name"], function["arguments"])
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
            if not calls or desk.closed:
                desk.finish()
                return str(message.get("content") or "")

    def _complete(self) -> dict[str, Any]:
        create: Any = self._client.chat.completions.create
        response: ChatCompletion = create(messages=self.messages, **self._request)
        return response.choices[0].message.to_dict()

    def _streamed(self) -> dict[str, Any]:
        stream = self._client.chat.completions.create(
            messages=self.messages,
            stream=True,
            stream_options={"include_usage": True},
            **self._request,
        )
        reply = Reassembled()
        for chunk in stream:
            reply.add(chunk)
        return reply.message()


class AsyncOpenAIAgent:
    """The same with the asynchronous client."""

    def __init__(self, client: AsyncOpenAI, run: Run, *, stream: bool = False) -> None:
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
            self.messages.append(message)
            calls: list[Any] = message.get("tool_calls") or []
            for call in calls:
                function = call["function"]
                text, _ = desk.call(call["id"], function["name"], function["arguments"])
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
            if not calls or desk.closed:
                desk.finish()
                return str(message.get("content") or "")

    async def _complete(self) -> dict[str, Any]:
        create: Any = self._client.chat.completions.create
        response: ChatCompletion = await create(messages=self.messages, **self._request)
        return response.choices[0].message.to_dict()

    async def _streamed(self) -> dict[str, Any]:
        stream = await self._client.chat.completions.create(
            messages=self.messages,
            stream=True,
            stream_options={"include_usage": True},
            **self._request,
        )
        reply = Reassembled()
        async for chunk in stream:
            reply.add(chunk)
        return reply.message()


class Reassembled:
    """Puts a streamed reply together again."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._calls: dict[int, dict[str, Any]] = {}

    def add(self, chunk: ChatCompletionChunk) -> None:
        """Take one chunk."""
        if not chunk.choices:
            return
        delta = chunk.choices[0].delta
        self._text.append(delta.content or "")
        for piece in delta.tool_calls or []:
            empty = {"id": piece.id, "type": "function", "function": {"name": "", "arguments": ""}}
            function = self._calls.setdefault(piece.index, empty)["function"]
            if piece.function is not None:
                function["name"] += piece.function.name or ""
                function["arguments"] += piece.function.arguments or ""

    def message(self) -> dict[str, Any]:
        """The whole message."""
        text = "".join(self._text)
        calls = list(self._calls.values())
        message: dict[str, Any] = {"role": "assistant", "content": text or (None if calls else "")}
        return {**message, "tool_calls": calls} if calls else message


def opening(run: Run) -> list[Any]:
    """The messages before the first turn."""
    messages: list[Any] = []
    if run.system:
        messages.append({"role": "system", "content": run.system})
    if run.greeting:
        messages.append({"role": "assistant", "content": run.greeting})
    return messages


def request_of(run: Run) -> dict[str, Any]:
    """The arguments that every request of a run has in common."""
    tools: list[Mapping[str, Any]] = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in run.tools
    ]
    request: dict[str, Any] = {"model": run.model("openai"), "temperature": 0.0}
    return {**request, "tools": tools} if tools else request
