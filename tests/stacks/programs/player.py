"""Plays one program as an application would run: configured, instrumented, then imported.

    python player.py PROGRAM '{"decorated": false, ...}'

A program has ``start(stream)``, which begins a conversation and returns what says one thing in it
and gives the reply (a function or a coroutine function), and where instrumentations of other makers
are switched on in a way of their own, ``BESIDE``: those ways by name. The last line printed is
what happened, as JSON.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from importlib import import_module, metadata
from typing import Any

import tools

import turnspan

Say = Callable[[str], Any]

RAISED = "(the tool's exception)"
"""What the application got where it got no reply."""


def main(program: str, options: dict[str, Any]) -> None:
    """Play, flush, and tell."""
    if options["ours"]:
        turnspan.configure(service_name="desk", project="stacks")
        turnspan.instrument(exclude=options["exclude"])
    if options["tools"]:
        tools.decorate()
    tools.FORGIVING = not options["raises"]
    played = import_module(program)
    _switch_on(played, options)
    replies: list[list[str]] = [[] for _ in options["scripts"]]
    play = _play_web if options["web"] else _play
    play(played, options, replies)
    flushed = turnspan.flush(local=True)
    report = [
        {"name": one.name, "enabled": one.enabled, "by": one.by, "detail": one.detail}
        for one in import_module("turnspan.instrumentation").report()
    ]
    told = {"replies": replies, "ran": tools.RAN, "flushed": flushed.ok, "report": report}
    told["named"] = tools.NAMED
    print("\n" + json.dumps(told))


def _switch_on(played: Any, options: dict[str, Any]) -> None:
    """Instrument with other makers' packages, as their own documentation says."""
    for entry in metadata.entry_points(group="opentelemetry_instrumentor"):
        if entry.name in options["entries"] and entry.dist.name == options["entries"][entry.name]:
            instrumentor = entry.load()()
            if not instrumentor.is_instrumented_by_opentelemetry:
                instrumentor.instrument()
    hook = getattr(played, "BESIDE", {}).get(options["beside"])
    if hook is not None:
        hook()


class Conversations:
    """Those of one run, each begun when it says its first words."""

    def __init__(self, played: Any, options: dict[str, Any]) -> None:
        self._start = played.start
        self._stream = options["stream"]
        self._decorated = options["decorated"]
        self._open: dict[int, Say] = {}

    async def say(self, number: int, text: str) -> str:
        """One user message, answered; a turn where it is decorated."""
        if number not in self._open:
            self._open[number] = self._wrapped(self._start(self._stream))
        said = self._open[number]
        if not self._decorated:
            return await _answer(said, text)
        with turnspan.session(f"ada-{number}"):
            return await _answer(said, text)

    def _wrapped(self, say: Say) -> Say:
        return turnspan.agent(name="desk")(say) if self._decorated else say


async def _answer(say: Say, text: str) -> str:
    if inspect.iscoroutinefunction(inspect.unwrap(say)):
        return await say(text)
    from starlette.concurrency import run_in_threadpool

    return await run_in_threadpool(say, text)


def _lines(options: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """What is said, in turns: (conversation, words)."""
    scripts: list[list[str]] = options["scripts"]
    for row in range(max(map(len, scripts))):
        for number, script in enumerate(scripts):
            if row < len(script):
                yield number, script[row]


def _play(played: Any, options: dict[str, Any], replies: list[list[str]]) -> None:
    asynchronous = inspect.iscoroutinefunction(played.start(options["stream"]))
    tools.NAMED.clear()
    if asynchronous:
        asyncio.run(_play_async(played, options, replies))
        return
    opened: dict[int, Say] = {}

    def say(number: int, text: str) -> None:
        if number not in opened:
            started = played.start(options["stream"])
            opened[number] = (
                turnspan.agent(name="desk")(started) if options["decorated"] else started
            )
        given = opened[number]
        with turnspan.session(f"ada-{number}") if options["decorated"] else nullcontext():
            try:
                replies[number].append(given(text))
            except KeyError:
                replies[number].append(RAISED)

    if not options["at_once"]:  # on the thread that a script runs on
        for number, text in _lines(options):
            say(number, text)
        return

    def talk(number: int) -> None:
        for text in options["scripts"][number]:
            say(number, text)

    threads = [threading.Thread(target=talk, args=(n,)) for n in range(len(options["scripts"]))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def _play_async(played: Any, options: dict[str, Any], replies: list[list[str]]) -> None:
    conversations = Conversations(played, options)

    async def say(number: int, text: str) -> None:
        try:
            replies[number].append(await conversations.say(number, text))
        except KeyError:
            replies[number].append(RAISED)

    if not options["at_once"]:
        for number, text in _lines(options):
            await say(number, text)
        return

    async def talk(number: int) -> None:
        for text in options["scripts"][number]:
            await say(number, text)

    await asyncio.gather(*(talk(number) for number in range(len(options["scripts"]))))


def _play_web(played: Any, options: dict[str, Any], replies: list[list[str]]) -> None:
    """The same, each message a request to a server, which FastAPI's instrumentation traces."""
    import uvicorn
    from fastapi import FastAPI
    from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor
    from starlette.responses import PlainTextResponse

    app = FastAPI()
    conversations = Conversations(played, options)

    async def chat(request: Any) -> PlainTextResponse:
        text = (await request.body()).decode()
        number = int(request.path_params["number"])
        return PlainTextResponse(await conversations.say(number, text))

    app.add_route("/chat/{number}", chat, methods=["POST"])
    FastAPIInstrumentor.instrument_app(app)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            threading.Event().wait(0.02)
        port = server.servers[0].sockets[0].getsockname()[1]
        for number, text in _lines(options):
            address = f"http://127.0.0.1:{port}/chat/{number}"
            asked = urllib.request.Request(address, text.encode(), method="POST")
            with urllib.request.urlopen(asked, timeout=60) as answer:
                replies[number].append(answer.read().decode())
    finally:
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
