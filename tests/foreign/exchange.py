"""One and the same exchange through the real SDKs, and the rows that its spans land as."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from foreign.stub import ANSWER
from support.normalised import Rows, provider
from turnspan.tracing.state import default

__all__ = ["PARAMETERS", "QUESTION", "Rows", "ask_anthropic", "ask_openai", "provider", "run"]

PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
QUESTION = "What is the weather in Rome?"


def run(module: str, kind: str, ask: Callable[[str], str], url: str) -> Rows:
    """The rows of the exchange, recorded by one instrumentor, within a request's span."""
    rows = Rows()
    made = provider(rows)
    instrumentor = getattr(import_module(module), kind)()
    default.content.attach()
    instrumentor.instrument(tracer_provider=made, skip_dep_check=True)
    try:
        with made.get_tracer("web").start_as_current_span("POST /ask"):
            assert ask(url) == ANSWER
    finally:
        instrumentor.uninstrument()
        made.shutdown()
        default.content.detach()
    return rows


def ask_openai(url: str) -> str:
    """An agent's loop over chat completions: a tool call, its result, the answer."""
    import openai

    client = openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0)
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": QUESTION},
    ]
    tool: Any = {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather.",
            "parameters": PARAMETERS,
        },
    }
    while True:
        reply = client.chat.completions.create(
            model="gpt-4o", messages=messages, tools=[tool], max_tokens=100, temperature=0.5
        )
        message = reply.choices[0].message
        if not message.tool_calls:
            return message.content or ""
        messages.append(message.model_dump(exclude_none=True))
        messages += [
            {"role": "tool", "tool_call_id": call.id, "content": "sunny"}
            for call in message.tool_calls
        ]


def ask_anthropic(url: str) -> str:
    """The same over Anthropic's messages."""
    import anthropic

    client = anthropic.Anthropic(api_key="k", base_url=url, max_retries=0)
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    tool: Any = {
        "name": "get_weather",
        "description": "The weather.",
        "input_schema": PARAMETERS,
    }
    while True:
        reply = client.messages.create(
            model="claude-opus-4-5",
            max_tokens=100,
            system="Be brief.",
            messages=messages,
            tools=[tool],
        )
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "sunny"}
            for block in reply.content
            if block.type == "tool_use"
        ]
        if not results:
            return "".join(block.text for block in reply.content if block.type == "text")
        blocks = [block.model_dump(exclude_none=True) for block in reply.content]
        messages += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
