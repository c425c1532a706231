"""The two tools that every stack's agent has, and the log of what they did."""

from __future__ import annotations

import time
from typing import Any

RAN: list[dict[str, Any]] = []
"""Every execution: its name, arguments, and result (None where it failed)."""

NAMED: list[str] = []
"""The ids by which a framework knows its conversations, in the order in which they began."""

FORGIVING = True
"""Whether a program tells the model that a tool failed; else the tool's exception ends the run."""

WEATHER = "25 degrees and sunny"


def get_weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: the city's name
    """
    RAN.append({"name": "get_weather", "arguments": {"city": city}, "result": WEATHER})
    return WEATHER


def broken_lookup(order_id: int) -> str:
    """Look an order up.

    Args:
        order_id: the order's number
    """
    # Longer than the batches of those that tell of a run's beginning before its end (LangSmith).
    time.sleep(0.3)
    RAN.append({"name": "broken_lookup", "arguments": {"order_id": order_id}, "result": None})
    raise KeyError(f"order {order_id} not in database")


def by_name() -> dict[str, Any]:
    """The tools, as they are now."""
    return {"get_weather": get_weather, "broken_lookup": broken_lookup}


def decorate() -> None:
    """Put Turnspan's decorator on them."""
    import turnspan

    global get_weather, broken_lookup
    get_weather = turnspan.tool(get_weather)
    broken_lookup = turnspan.tool(broken_lookup)


SCHEMAS: dict[str, dict[str, Any]] = {
    "get_weather": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
    },
    "broken_lookup": {
        "type": "object",
        "properties": {"order_id": {"type": "integer"}},
        "required": ["order_id"],
    },
}
SYSTEM = "You are the help desk. Be brief."
