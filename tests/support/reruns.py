"""Agents that are recorded and run again, and the recordings of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import anthropic
import openai

import turnspan
from support.landing import insert
from turnspan.testing import ModelServer, record
from turnspan_clickhouse.rows.tables import (
    Definition,
    LlmCall,
    MessageRow,
    ToolCall,
    TurnSummary,
)
from turnspan_clickhouse.store.client import Store
from turnspan_demo.agents import play
from turnspan_demo.model import Provider, Run
from turnspan_demo.server import ModelServer as RunServer
from turnspan_records.again.rerun.recording import SessionRecording, load_recording
from turnspan_records.again.rerun.server import RerunServer

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
ORIGIN = "https://api.example.com:443"


@dataclass
class Weather:
    """An agent that asks for the weather: what it tells the model, and what it was told."""

    system: str = "You help.\nYou are short."
    question: str = "Oslo?"
    model: str = "gpt-4o"
    answers: Mapping[str, Any] = field(default_factory=lambda: {"sky": "rain"})
    others: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """More parameters of each request."""
    tools: tuple[str, ...] = ("weather",)
    stream: bool = False
    history: list[Any] = field(default_factory=list[Any])
    """The messages at its end."""

    def chat(self, url: str, headers: Mapping[str, str]) -> str:
        """As OpenAI's chat completions have it."""
        client: Any = openai.OpenAI(
            base_url=url, api_key="k", default_headers=dict(headers), max_retries=0
        )
        tools: Any = [
            {"type": "function", "function": {"name": name, "parameters": SCHEMA}}
            for name in self.tools
        ]
        said: list[Any] = self.history
        said += [
            {"role": "system", "content": self.system},
            {"role": "user", "content": self.question},
        ]
        while True:
            asked: dict[str, Any] = {"model": self.model, "messages": said, "tools": tools}
            asked["extra_body"] = dict(self.others)
            if self.stream:
                with client.chat.completions.stream(**asked) as stream:
                    message: Any = stream.get_final_completion().choices[0].message
            else:
                message = client.chat.completions.create(**asked).choices[0].message
            calls: list[dict[str, Any]] = [
                {"id": one.id, "type": "function",
                 "function": {"name": one.function.name, "arguments": one.function.arguments}}
                for one in message.tool_calls or ()
            ]  # fmt: skip
            said.append({"role": "assistant", "content": message.content, "tool_calls": calls})
            if not calls:
                del said[-1]["tool_calls"]
                return str(message.content)
            said += [
                {"role": "tool", "tool_call_id": one["id"], "content": json.dumps(self.answers)}
                for one in calls
            ]

    def messages(self, url: str, headers: Mapping[str, str]) -> str:
        """As Anthropic's messages have it."""
        client: Any = anthropic.Anthropic(
            base_url=url, api_key="k", default_headers=dict(headers), max_retries=0
        )
        said: list[Any] = self.history
        said.append({"role": "user", "content": self.question})
        tools = [{"name": name, "input_schema": SCHEMA} for name in self.tools]
        while True:
            asked: dict[str, Any] = {"model": self.model, "messages": said, "tools": tools}
            asked |= {"system": self.system, "max_tokens": 99, "extra_body": dict(self.others)}
            if self.stream:
                with client.messages.stream(**asked) as stream:
                    message = stream.get_final_message()
            else:
                message = client.messages.create(**asked)
            blocks: list[Any] = [one.model_dump(exclude_none=True) for one in message.content]
            said.append({"role": "assistant", "content": blocks})
            uses = [one for one in blocks if one["type"] == "tool_use"]
            if not uses:
                return str(blocks[-1]["text"])
            results = [
                {"type": "tool_result", "tool_use_id": one["id"],
                 "content": json.dumps(self.answers)}
                for one in uses
            ]  # fmt: skip
            said.append({"role": "user", "content": results})


def recorded(store: Store, session: str, play: Callable[[ModelServer], object]) -> SessionRecording:
    """The recording of what ``play`` does with a model, read from a store."""
    turnspan.instrument()  # every SDK, whichever of them a test before has left so
    try:
        with ModelServer() as server, record() as found, turnspan.session(session):
            play(server)
    finally:
        turnspan.uninstrument()
    return landed(store, session, found)


def land(store: Store, found: Any) -> str:
    """Put what ``turnspan.testing.record`` found into a store; returns its project."""
    kinds = (LlmCall, ToolCall, TurnSummary, MessageRow, Definition)
    rows = [row for kind in kinds for row in found.rows(kind)]
    insert(store, *rows)
    return str(rows[0].project)


def landed(store: Store, session: str, found: Any) -> SessionRecording:
    """The recording of a session of ``turnspan.testing.record``, by way of a store."""
    return load_recording(store, land(store, found), session)


@contextmanager
def rerunning(
    recording: SessionRecording, **options: Any
) -> Generator[tuple[str, dict[str, str], RerunServer]]:
    """The server of a rerun: its address, the headers that a request needs, and itself."""
    with RerunServer(recording, **options) as server:
        headers = {"x-turnspan-rerun": server.secret, "x-turnspan-origin": ORIGIN}
        yield server.url.rpartition("/")[0], headers, server


def played(runs: Sequence[Run], provider: Provider, session: str) -> tuple[list[bytes], Any]:
    """The requests of recorded runs that are played one after the other as one session, and what
    was recorded of it."""
    sent: list[bytes] = []

    def keep(request: Any) -> None:
        sent.append(request.content)

    with RunServer(runs) as server, record() as found:
        url = server.openai_url if provider == "openai" else server.anthropic_url
        kind: Any = (
            openai.DefaultHttpxClient if provider == "openai" else anthropic.DefaultHttpxClient
        )
        http = kind(event_hooks={"request": [keep]})
        maker: Any = openai.OpenAI if provider == "openai" else anthropic.Anthropic
        with maker(base_url=url, api_key="k", http_client=http) as client:
            for run in runs:
                play(run, client, session)
    return sent, found
