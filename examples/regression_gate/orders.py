"""An agent that says what an order cost, in three versions; its model is a script of ours."""

from __future__ import annotations

import functools
import json
import os
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import openai

import turnspan
from turnspan.testing import ModelRequest, ModelServer, Reply, ToolRequest

ORDERS = 24
_TOOL: Any = {
    "type": "function",
    "function": {
        "name": "find_order",
        "description": "The price of an order, in euros.",
        "parameters": {"type": "object", "properties": {"order": {"type": "integer"}}},
    },
}
_FIRST = "You answer questions about orders. Say: Order N cost X EUR."
_FIXED = f"{_FIRST} Always look the order up."
_BRIEF = f"{_FIXED} Be brief, and round."


def price(order: int) -> int:
    """What an order cost."""
    return 10 + 7 * order


@turnspan.tool
def find_order(order: int) -> str:
    """Look an order up."""
    return json.dumps({"order": order, "price": price(order)})


def agent(version: str, prompt: str) -> Callable[[str], str]:
    """The agent with a prompt."""

    @turnspan.agent("orders", version=version)
    def answer(question: str) -> str:
        messages: list[Any] = [
            {"role": "system", "content": prompt},
            {"role": "user", "content": question},
        ]
        while True:
            reply = client().chat.completions.create(
                model="gpt-4o-mini", messages=messages, tools=[_TOOL]
            )
            said = reply.choices[0].message
            if not said.tool_calls:
                return said.content or ""
            messages.append(said)
            for call in said.tool_calls:
                asked: Any = call
                result = find_order(**json.loads(asked.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    return answer


first = agent("v1", _FIRST)
fixed = agent("v2", _FIXED)
brief = agent("v3", _BRIEF)


@functools.cache
def client() -> openai.OpenAI:
    """A client of the endpoint in the environment, else of the script."""
    if os.environ.get("OPENAI_BASE_URL"):
        return openai.OpenAI()
    server = ModelServer(default=script)
    server.start()
    return openai.OpenAI(base_url=f"{server.url}/v1", api_key="none")


_asked: Counter[int] = Counter()
_lock = threading.Lock()


def script(request: ModelRequest) -> Reply:
    """What the model says. Without the word "look" in its prompt it guesses every third time; told
    to be brief, it rounds high prices."""
    prompt, *_, last = (str(one["content"]) for one in request.messages)
    asked_tool = request.messages[-1]["role"] == "tool"
    if asked_tool:
        found = json.loads(last)
        cost = found["price"]
        if "round" in prompt and cost > 100:
            cost = round(cost, -1) + 5
        return Reply(f"Order {found['order']} cost {cost} EUR.")
    order = int("".join(filter(str.isdigit, last)))
    with _lock:
        _asked[order] += 1
        guesses = "look" not in prompt and (order + _asked[order]) % 3 == 0
    if guesses:
        return Reply(f"Order {order} cost 20 EUR.")
    return Reply(tool_requests=[ToolRequest("find_order", {"order": order})])
