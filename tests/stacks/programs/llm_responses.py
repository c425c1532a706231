"""Responses of every kind that the installed `llm` knows; prints what was recorded of each.

The last line is JSON: by the name of each case, the rows of its calls and tools.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import tempfile
from pathlib import Path

import turnspan
from turnspan.runtime.guard import errors
from turnspan.testing import ModelServer, ToolRequest, record

PNG = b"\x89PNG\r\n\x1a\n"
SEEN = {}


def models_of(server):
    folder = Path(tempfile.mkdtemp())
    os.environ["LLM_USER_PATH"] = str(folder)
    os.environ["OPENAI_API_KEY"] = "k"
    model = (
        f"- model_id: stub\n  model_name: gpt-4o-mini\n  api_base: {server.url}/v1\n"
        "  supports_tools: true\n"
    )
    (folder / "extra-openai-models.yaml").write_text(model)


def told(call, sessions):
    """A call, as the test expects it."""
    known = sessions.setdefault(call.session_id, len(sessions))
    return {
        "session": "" if call.session_id.startswith("auto-") else known,
        "provider": call.provider,
        "model": [call.model, call.response_model, call.attributes.get("turnspan.llm.model")],
        "stream": [call.stream, call.stream_outcome],
        "parameters": {
            name: value
            for name, value in call.parameters.items()
            if name not in ("model", "stream", "stream_options")
        },
        "system": call.system_prompt,
        "messages": [[one.role, *map(part_of, one.parts)] for one in call.messages],
        "reply": [[one.role, *map(part_of, one.parts)] for one in call.reply],
        "offered": [*call.tools_offered],
        "finish": [*call.finish_reasons],
        "tokens": [call.input_tokens, call.output_tokens],
        "error": [call.error_type, call.error_message],
    }


def part_of(part):
    """A part of a message, in short."""
    return part.get("content") or part.get("response") or part.get("name") or part["type"]


def case(name):
    """Record what the function does as this case."""

    def played(function):
        with record() as recorded:
            turnspan.instrument()
            said = function()
            gc.collect()  # responses that were left half read
        sessions = {}
        named = recorded.calls()[0].session_id if recorded.calls() else ""
        SEEN[name] = {
            "said": said,
            "session": "" if named.startswith("auto-") else named,
            "calls": [told(one, sessions) for one in recorded.calls()],
            "tools": sorted(
                [one.name, one.call_id, one.result, one.failed, bool(one.id)]
                for one in recorded.tools()
            ),
            "turns": len(recorded.turns()),
            "times": all(one.duration > 0 for one in recorded.calls()),
        }
        return function

    return played


def main(server):
    import llm

    class Own(llm.Model):
        """A model that runs here: no SDK is asked."""

        model_id = "own"
        can_stream = True
        supports_tools = True
        supports_schema = True
        attachment_types = {"image/png"}  # noqa: RUF012  as llm has it

        def execute(self, prompt, stream, response, conversation):
            response.set_usage(input=3, output=4)
            response.response_json = {"finish_reason": "stop", "model": "own-1"}
            if getattr(prompt, "tools", None) and not prompt.tool_results:
                for number, name in enumerate(("weather", "broken", "nowhere")):
                    call = llm.ToolCall(name, {"city": "Oslo"} if not number else {}, f"c{number}")
                    response.add_tool_call(call)
                return
            yield "it "
            if prompt.prompt == "fail":
                raise RuntimeError("boom")
            yield "rains"

    class AsyncOwn(llm.AsyncModel):
        """The same, asynchronous."""

        model_id = "own-async"
        can_stream = True

        async def execute(self, prompt, stream, response, conversation):
            response.set_usage(input=3, output=4)
            yield "it "
            await asyncio.sleep(0)
            yield "rains"

    stub, own = llm.get_model("stub"), Own()

    @case("whole")
    def whole():
        server.reply("Hello")
        return stub.prompt("Hi", system="Be short", stream=False, temperature=0.5).text()

    @case("conversation")
    def conversation():
        server.reply("One")
        server.reply("Two")
        talk = stub.conversation()
        return [talk.prompt("1").text(), talk.prompt("2").text()]

    @case("refused")
    def refused():
        server.error(400, "no such model", kind="invalid")
        try:
            return stub.prompt("Hi").text()
        except Exception as error:  # noqa: BLE001
            return type(error).__name__

    @case("session")
    def session():
        server.reply("Hello")
        with turnspan.session("given"):
            return stub.conversation().prompt("Hi").text()

    @case("own")
    def own_model():
        talk = own.conversation()
        picture = llm.Attachment(type="image/png", content=PNG)
        return [
            talk.prompt("look", attachments=[picture], system="Be").text(),
            talk.prompt("2").text(),
        ]

    @case("own fails")
    def own_fails():
        try:
            return own.prompt("fail").text()
        except RuntimeError as error:
            return str(error)

    @case("own left")
    def own_left():
        pieces = iter(own.prompt("long"))
        first = next(pieces)
        pieces.close()
        return first

    @case("own unread")
    def own_unread():
        iter(own.prompt("never read"))

    @case("own read twice")
    def own_read_twice():
        response = own.prompt("twice")
        return [response.text(), "".join(response), response.text()]

    @case("own async")
    def own_async():
        async def read():
            return "".join([piece async for piece in AsyncOwn().conversation().prompt("a")])

        return asyncio.run(read())

    @case("own async left")
    def own_async_left():
        async def read():
            return await anext(aiter(AsyncOwn().prompt("a")))

        return asyncio.run(read())

    if hasattr(llm.Response, "execute_tool_calls"):
        with_tools(llm, server, stub, own)
    if hasattr(llm.Response, "stream_events"):

        @case("events")
        def events():
            server.reply("Hello")
            return "".join(event.chunk for event in stub.prompt("Hi").stream_events())

        @case("own async events")
        def own_async_events():
            async def read():
                events = AsyncOwn().prompt("a").astream_events()
                return "".join([event.chunk async for event in events])

            return asyncio.run(read())


def with_tools(llm, server, stub, own):
    hooked = []

    def weather(city: str) -> str:
        """Tell the weather."""
        return f"rain in {city}"

    async def sky(city: str) -> str:
        """Tell of the sky."""
        await asyncio.sleep(0)
        return f"grey in {city}"

    def broken() -> str:
        """Fail."""
        raise ValueError("nope")

    @case("tools")
    def tools():
        server.reply(tool_requests=[ToolRequest("weather", {"city": "Oslo"})])
        server.reply("It rains.")
        told = stub.chain(
            "Weather?", tools=[weather], after_call=lambda *it: hooked.append(it[2].output)
        )
        return [told.text(), hooked]

    @case("tools refused")
    def tools_refused():
        server.reply(tool_requests=[ToolRequest("weather", {"city": "Oslo"})])
        server.reply("Well.")

        def refuse(tool, call):
            raise llm.CancelToolCall("not today")

        return stub.chain("Weather?", tools=[weather], before_call=refuse).text()

    @case("own tools")
    def own_tools():
        return own.chain("Weather?", tools=[weather, broken]).text()

    @case("async tools")
    def async_tools():
        asked = [ToolRequest("sky", {"city": "Oslo"}), ToolRequest("weather", {"city": "Rome"})]
        server.reply(tool_requests=asked)
        server.reply("Grey.")

        async def read():
            return await llm.get_async_model("stub").chain("?", tools=[sky, weather]).text()

        return asyncio.run(read())


with ModelServer() as server:
    models_of(server)
    main(server)
SEEN["internal errors"] = errors.counts()
print(json.dumps(SEEN))
