"""Recorded runs played by agents of three SDKs, two at a time, against a server of their replies.

The agents of OpenAI and Anthropic are the demonstration's; Google's is here.
"""

from __future__ import annotations

import asyncio
import gzip
import itertools
import json
import sqlite3
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Barrier, Thread
from typing import Any, Final

import anthropic
import httpx
import openai

import turnspan
from support.google_sdk import genai, types
from support.recorded_server import ReceivedRequest, RecordedAnswer, RecordedServer
from turnspan.testing import Reply, ToolRequest, Usage, wire_replies
from turnspan.testing.replies import ApiReply
from turnspan_demo.agents.anthropic_agent import AnthropicAgent, AsyncAnthropicAgent
from turnspan_demo.agents.desk import Desk, ToolError
from turnspan_demo.agents.openai_agent import AsyncOpenAIAgent, OpenAIAgent
from turnspan_demo.model import Reply as RunReply
from turnspan_demo.model import Run, Turn, arguments_of, as_sent

SDKS: Final = ("openai", "anthropic", "google")
_CONVERSATION: Final = "x-conversation"


@dataclass(frozen=True, slots=True)
class Manner:
    """How a run is played."""

    sdk: str
    stream: bool
    asynchronous: bool

    def __str__(self) -> str:
        ways = ("streamed" if self.stream else "plain", "async" if self.asynchronous else "sync")
        return f"{self.sdk} {' '.join(ways)}"


MANNERS: Final = tuple(
    Manner(*each) for each in itertools.product(SDKS, (False, True), (False, True))
)


class RunServer(RecordedServer):
    """Gives each conversation the replies of its run, in order, in the form of the API asked."""

    def __init__(self) -> None:
        super().__init__()
        self._left: dict[str, Iterator[RunReply]] = {}
        self._numbers = itertools.count(1)

    def expect(self, conversation: str, run: Run, sdk: str) -> None:
        """A conversation that sends this name in its headers gets this run's replies."""
        turns = _sent(run, sdk).turns
        self._left[conversation] = (reply for turn in turns for reply in turn.replies)

    def bodies(self, conversations: Sequence[str]) -> list[bytes]:
        """What these conversations have sent."""
        found = [one for one in self.received if one.headers[_CONVERSATION] in conversations]
        return [one.body for one in found]

    def answer_of(self, request: ReceivedRequest) -> RecordedAnswer:
        """The next reply of the conversation."""
        reply = next(self._left[request.headers[_CONVERSATION]])
        body: dict[str, Any] = json.loads(request.body)
        api = wire_replies.api_of(request.path)
        model = str(body.get("model") or request.path.partition("/models/")[2].partition(":")[0])
        options: dict[str, Any] = body.get("stream_options") or {}
        told = bool(options.get("include_usage"))
        answer = ApiReply(api, next(self._numbers), model, body, _said(reply, api), told)
        if body.get("stream") or ":streamGenerateContent" in request.path:
            events = "".join(wire_replies.events(answer)).encode()
            return RecordedAnswer(200, "text/event-stream", events)
        whole = json.dumps(wire_replies.whole(answer)).encode()
        return RecordedAnswer(200, "application/json", whole)


def _sent(run: Run, sdk: str) -> Run:
    return as_sent(run, "openai" if sdk == "openai" else "anthropic")


def _said(reply: RunReply, api: str) -> Reply:
    tools = [
        ToolRequest(
            tool.name, tool.arguments if api == "chat" else arguments_of(tool.arguments), tool.id
        )
        for tool in reply.tools
    ]
    usage = Usage(*reply.usage) if reply.usage else Usage()
    return Reply(reply.text, tools, usage, reply.finish)


# -- the agents ------------------------------------------------------------------------------------


class DecoratedDesk(Desk):
    """The tools of a turn as decorated functions, which a rerun answers without a call."""

    def __init__(self, run: Run, turn: Turn, ran: Counter[str]) -> None:
        super().__init__(run, turn, lambda _: "")
        self._ran = ran

    def call(self, call_id: str, name: str, arguments: str) -> tuple[str, bool]:
        """Run the tool; returns what the model is told, and whether it failed."""
        use = self._take(call_id, name)

        @turnspan.tool(name, call_id=call_id)
        def execute(arguments: str) -> str:
            self._ran[name] += 1
            return self._run_tool(use)

        try:
            return execute(arguments), False
        except ToolError as error:
            return str(error), True


class GoogleAgent:
    """An agent over Gemini's contents: a plain loop. ``stream`` reads replies as they come."""

    def __init__(self, client: Any, run: Run, *, stream: bool = False) -> None:
        self._client = client
        self._stream = stream
        self._config = _google_config(run)
        self.contents: list[Any] = []
        if run.greeting:
            self.contents += [_content("user", {"text": "(Begin.)"})]
            self.contents += [_content("model", {"text": run.greeting})]

    def answer(self, user_message: str, desk: Desk) -> str:
        """Answer the user, calling tools until the model is done."""
        self._ask(user_message)
        models = self._client.models
        while True:
            asked = self._asked()
            if self._stream:
                parts = _parts(list(models.generate_content_stream(**asked)))
            else:
                parts = _parts([models.generate_content(**asked)])
            if not self._goes_on(parts, desk):
                return _text(parts)

    async def aanswer(self, user_message: str, desk: Desk) -> str:
        """The same with the asynchronous client."""
        self._ask(user_message)
        models = self._client.aio.models
        while True:
            asked = self._asked()
            if self._stream:
                stream = await models.generate_content_stream(**asked)
                parts = _parts([chunk async for chunk in stream])
            else:
                parts = _parts([await models.generate_content(**asked)])
            if not self._goes_on(parts, desk):
                return _text(parts)

    def _ask(self, user_message: str) -> None:
        self.contents.append(_content("user", {"text": user_message}))

    def _asked(self) -> dict[str, Any]:
        return {"model": "gemini-2.5-flash", "contents": self.contents, "config": self._config}

    def _goes_on(self, parts: list[Any], desk: Desk) -> bool:
        """Keep the reply and run its tools; whether the model is to be asked again."""
        if parts:
            self.contents.append(types.Content(role="model", parts=parts))
        calls = [part.function_call for part in parts if part.function_call]
        results: list[Any] = []
        for call in calls:
            arguments = json.dumps(call.args, ensure_ascii=False)
            text, failed = desk.call(call.id, call.name, arguments)
            response = {"error" if failed else "result": text}
            results.append({"function_response": {**_named(call), "response": response}})
        if results:
            self.contents.append(_content("user", *results))
        if not calls or desk.closed:
            desk.finish()
            return False
        return True


def _named(call: Any) -> dict[str, str]:
    return {"id": call.id, "name": call.name}


def _content(role: str, *parts: dict[str, Any]) -> Any:
    return types.Content.model_validate({"role": role, "parts": parts})


def _parts(chunks: list[Any]) -> list[Any]:
    """The parts of a reply, those of its texts joined."""
    found: list[Any] = []
    for chunk in chunks:
        for part in chunk.candidates[0].content.parts or ():
            if found and part.text and found[-1].text:
                found[-1] = types.Part(text=found[-1].text + part.text)
            elif part.text or part.function_call:
                found.append(part)
    return found


def _text(parts: list[Any]) -> str:
    return "".join(part.text or "" for part in parts)


def _google_config(run: Run) -> Any:
    tools = [
        {
            "name": tool.name,
            "description": tool.description,
            "parameters_json_schema": dict(tool.parameters),
        }
        for tool in run.tools
    ]
    settings: dict[str, Any] = {"temperature": 0.0}
    if run.system:
        settings["system_instruction"] = run.system
    if tools:
        settings["tools"] = [{"function_declarations": tools}]
        settings["automatic_function_calling"] = {"disable": True}
    return types.GenerateContentConfig.model_validate(settings)


# -- playing ---------------------------------------------------------------------------------------


@dataclass
class RunPlayer:
    """Plays runs together, each a conversation of one session, against one address."""

    url: str
    ran: Counter[str] = field(default_factory=Counter[str])
    """The tools whose functions ran."""
    _clients: dict[tuple[str, bool], Any] = field(default_factory=dict[tuple[str, bool], Any])
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)

    def play(self, runs: Mapping[str, Run], session: str, manner: Manner) -> dict[str, list[str]]:
        """Play runs, by their conversations' names, at once; returns the agents' replies."""
        self._client(manner, "")  # made here: threads would each make one
        if manner.asynchronous:
            return self._loop.run_until_complete(self._together(runs, session, manner))
        replies: dict[str, list[str]] = {}
        errors: list[BaseException] = []
        barrier = Barrier(len(runs))

        def play(name: str, run: Run) -> None:
            barrier.wait()
            try:
                replies[name] = asyncio.run(self._conversation(name, run, session, manner))
            except BaseException as error:  # noqa: BLE001  raised below
                errors.append(error)

        threads = [Thread(target=play, args=each) for each in runs.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return replies

    def close(self) -> None:
        """Close the connections."""
        for (_, asynchronous), client in self._clients.items():
            every: list[Any] = [*client] if isinstance(client, tuple) else [client]
            for one in every:
                if isinstance(one, httpx.AsyncClient):
                    self._loop.run_until_complete(one.aclose())
                elif asynchronous and not isinstance(one, httpx.Client):
                    self._loop.run_until_complete(one.close())
                else:
                    one.close()
        self._loop.close()

    async def _together(
        self, runs: Mapping[str, Run], session: str, manner: Manner
    ) -> dict[str, list[str]]:
        playing = [self._conversation(*each, session, manner) for each in runs.items()]
        return dict(zip(runs, await asyncio.gather(*playing), strict=True))

    async def _conversation(self, name: str, run: Run, session: str, manner: Manner) -> list[str]:
        sent = _sent(run, manner.sdk)
        answer = _agent(self._client(manner, name), sent, manner)
        ask = turnspan.agent(run.agent, max_rounds=run.max_rounds)(answer)
        replies: list[str] = []
        with turnspan.session(session, user_id=run.user_id):
            for turn in sent.turns:
                found = ask(turn.user, DecoratedDesk(sent, turn, self.ran))
                replies.append(await found if manner.asynchronous else found)
        return replies

    def _client(self, manner: Manner, conversation: str) -> Any:
        """The SDK's client of a conversation; those of one kind share connections."""
        key, headers = (manner.sdk, manner.asynchronous), {_CONVERSATION: conversation}
        known = self._clients.get(key)
        if manner.sdk == "google":
            if known is None:
                known = self._clients[key] = (httpx.Client(), httpx.AsyncClient())
            shared = {"httpx_client": known[0], "httpx_async_client": known[1]}
            options = {"base_url": self.url, "headers": headers, **shared}
            return genai.Client(api_key="k", http_options=options)
        if known is None:
            base = f"{self.url}/v1" if manner.sdk == "openai" else self.url
            known = _CLIENTS[key](base_url=base, api_key="k", max_retries=0)
            self._clients[key] = known
        return known.with_options(default_headers=headers)


def _agent(client: Any, run: Run, manner: Manner) -> Any:
    if manner.sdk == "google":
        agent = GoogleAgent(client, run, stream=manner.stream)
        return agent.aanswer if manner.asynchronous else agent.answer
    return _AGENTS[manner.sdk, manner.asynchronous](client, run, stream=manner.stream).answer


_AGENTS: Final[dict[tuple[str, bool], Any]] = {
    ("openai", False): OpenAIAgent,
    ("openai", True): AsyncOpenAIAgent,
    ("anthropic", False): AnthropicAgent,
    ("anthropic", True): AsyncAnthropicAgent,
}
_CLIENTS: Final[dict[tuple[str, bool], Any]] = {
    ("openai", False): openai.OpenAI,
    ("openai", True): openai.AsyncOpenAI,
    ("anthropic", False): anthropic.Anthropic,
    ("anthropic", True): anthropic.AsyncAnthropic,
}


# -- runs of other files ---------------------------------------------------------------------------


def logged_runs(path: Path) -> list[Run]:
    """The conversations of a packed log of ``llm``, each logged response a turn of its own."""
    with tempfile.TemporaryDirectory() as folder:
        unpacked = Path(folder) / "log.db"
        unpacked.write_bytes(gzip.decompress(path.read_bytes()))
        log = sqlite3.connect(unpacked)
        try:
            rows = log.execute(
                "SELECT conversation_id, model, coalesce(prompt, ''), coalesce(system, ''),"
                " coalesce(response, '') FROM responses ORDER BY id"
            ).fetchall()
        finally:
            log.close()
    grouped: dict[tuple[str, str, str], list[Turn]] = defaultdict(list)
    for conversation, model, prompt, system, response in rows:
        turn = Turn(prompt, (RunReply(response),))
        grouped[conversation, model, system].append(turn)
    return [
        Run(
            f"{path.parent.name}#{conversation}",
            tuple(turns),
            system=system,
            models=dict.fromkeys(SDKS, model),
        )
        for (conversation, model, system), turns in grouped.items()
    ]
