"""Makes a log with whichever version of simonw/llm is installed: ``python make.py FILE``.

Beside it goes what every call was sent and answered, as llm's own objects said it: FILE.json.
The logs of this folder were made with it, each in an environment of its own:
``pip install llm==VERSION "setuptools<80"`` (of 0.20 and older also ``"openai<2" httpx``).
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import llm
import sqlite_utils
from llm.migrations import migrate

PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082"
)
TOLD: list[dict[str, Any]] = []


def usage(response: Any) -> None:
    """As a plug-in for OpenAI's API says it, where this version of llm keeps it."""
    if hasattr(response, "set_usage"):
        details = {"prompt_tokens_details": {"cached_tokens": 4}}
        response.set_usage(input=12, output=7, details=details)
    response.response_json = {
        "id": "chatcmpl-1", "model": "small-1-2024", "finish_reason": "stop",
    }  # fmt: skip


class Options(llm.Options):
    temperature: float | None = None
    messages: int | None = None


class _Small:
    model_id = "small"
    can_stream = True
    attachment_types = {"image/png", "text/plain"}  # noqa: RUF012
    supports_schema = True
    supports_tools = True
    Options = Options

    def answer(self, prompt: Any, response: Any) -> str:
        usage(response)
        results = getattr(prompt, "tool_results", None) or []
        if results:
            return "It came to " + ", ".join(str(result.output) for result in results)
        if "tool" in (prompt.prompt or "") and getattr(prompt, "tools", None):
            for place, tool in enumerate(prompt.tools):
                response.add_tool_call(
                    llm.ToolCall(tool.name, {"a": 2, "b": place}, tool_call_id=f"call-{place}")
                )
            return ""
        return f"You said: {prompt.prompt}"


class Small(_Small, llm.Model):
    def execute(self, prompt: Any, stream: bool, response: Any, conversation: Any) -> Iterator[str]:
        yield self.answer(prompt, response)


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def broken(a: int, b: int) -> int:
    """Always fails."""
    raise ValueError("no such number")


def log(db: Any, response: Any, **said: Any) -> None:
    """Log a response, and say what it was."""
    text = response.text()
    response.log_to_db(db)
    TOLD.append({"text": text, **said})


def conversations(db: Any, model: Any) -> None:
    log(db, model.prompt("hello alone"), prompt="hello alone")
    talk = model.conversation()
    log(
        db,
        talk.prompt("first", system="Be brief.", temperature=0.5),
        prompt="first",
        system="Be brief.",
    )
    log(db, talk.prompt("second"), prompt="second")
    log(db, talk.prompt("third", system="Be long."), prompt="third", system="Be long.")


def attachments(db: Any, model: Any) -> None:
    if not hasattr(llm, "Attachment"):
        return
    with open("/tmp/llm-attached.txt", "w") as file:
        file.write("in a file\n")
    files = [
        llm.Attachment(content=PIXEL, type="image/png"),
        llm.Attachment(url="https://example.com/a.png", type="image/png"),
        llm.Attachment(path="/tmp/llm-attached.txt", type="text/plain"),
    ]
    log(db, model.prompt("what is in these", attachments=files), prompt="what is in these", files=3)


def fragments(db: Any, model: Any) -> None:
    try:
        response = model.prompt(
            "and the end?", fragments=["Once upon a time.", "There was a log."],
            system="Tell tales.", system_fragments=["You are old.", " "],
        )  # fmt: skip
    except (TypeError, ValueError):
        return
    log(db, response, prompt="Once upon a time.\nThere was a log.\nand the end?", fragments=2)


def schemas(db: Any, model: Any) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    try:
        response = model.prompt("a dog", schema=schema)
    except (TypeError, ValueError):
        return
    log(db, response, prompt="a dog", schema=True)


def tools(db: Any, model: Any) -> None:
    if not hasattr(llm, "Tool"):
        return
    talk = model.conversation()
    chain = talk.chain("use the tools", tools=[add, broken], system="Count.")
    text = chain.text()
    chain.log_to_db(db)
    TOLD.append({"text": text, "prompt": "use the tools", "chain": True})
    log(db, talk.prompt("thanks"), prompt="thanks")


def reasoning(db: Any) -> None:
    try:
        from llm.parts import StreamEvent
    except ImportError:
        return

    class Thinking(_Small, llm.Model):
        model_id = "thinking"

        def execute(
            self, prompt: Any, stream: bool, response: Any, conversation: Any
        ) -> Iterator[Any]:
            yield StreamEvent("reasoning", "Let me think.")
            yield StreamEvent("text", "Done.")

    log(db, Thinking().prompt("think"), prompt="think", reasoning="Let me think.")


def asynchronous(db: Any) -> None:
    if not hasattr(llm, "AsyncModel"):
        return

    class Later(_Small, llm.AsyncModel):
        model_id = "later"

        async def execute(
            self, prompt: Any, stream: bool, response: Any, conversation: Any
        ) -> AsyncIterator[str]:
            yield self.answer(prompt, response)

    async def run() -> None:
        response = Later().prompt("later")
        text = await response.text()
        (await response.to_sync_response()).log_to_db(db)
        TOLD.append({"text": text, "prompt": "later"})

    asyncio.run(run())


def main(path: str) -> None:
    """Make a log."""
    db = sqlite_utils.Database(path)
    migrate(db)
    model = Small()
    conversations(db, model)
    attachments(db, model)
    fragments(db, model)
    schemas(db, model)
    tools(db, model)
    reasoning(db)
    asynchronous(db)
    with open(path + ".json", "w") as file:
        json.dump(TOLD, file, indent=1)


if __name__ == "__main__":
    main(sys.argv[1])
