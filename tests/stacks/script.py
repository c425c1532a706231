"""What the users of every stack say, and what the model answers.

The same words lead to the same replies in every framework, whatever it wraps around them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from stacks.wires import Asked

HELLO: Final = "Hello"
WEATHER: Final = "What is the weather in Rome?"
ORDER: Final = "Please check order 7"
GOODBYE: Final = "That is all, goodbye"

SUNNY: Final = "It is sunny in Rome."
SORRY: Final = "Sorry, the lookup failed."

_TOPICS: Final = {"weather in rome": WEATHER, "order 7": ORDER, "goodbye": GOODBYE, "hello": HELLO}
_TOOLS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    WEATHER: ("weather", {"city": "Rome"}),
    ORDER: ("broken", {"order_id": 7}),
}


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the model asks for."""

    id: str
    name: str
    arguments: dict[str, Any]


@dataclass(slots=True)
class Reply:
    """What the model says."""

    text: str = ""
    calls: list[Call] = field(default_factory=list[Call])
    error: str = ""


def decide(asked: Asked, number: int) -> Reply:
    """Answer the newest thing that a user said, with a tool where there is one for it."""
    if asked.model == "gpt-err":
        return Reply(error="the model is out of order")
    if asked.forced:
        return Reply("", [_call(number, asked.forced, filled(asked.tools.get(asked.forced, {})))])
    if "[[ ## " in "\n".join(asked.texts("system")):
        return Reply(_by_fields(asked))
    topic, after = _topic(asked)
    answered = any(kind in ("result", "call") for kind, _ in after)
    if "final_answer" in asked.tools:  # smolagents ends a run with a tool, and tells in words what
        answered = answered or any(_observed(text) for _, text in after)  # the others gave
        if answered or topic not in _TOOLS:
            said = {"answer": _last_words(topic, number)}
            return Reply("", [_call(number, "final_answer", said)])
    if asked.schema is not None:
        return Reply(json.dumps(filled(asked.schema)))
    if topic in _TOOLS and not answered:
        part, arguments = _TOOLS[topic]
        tool = next((name for name in asked.tools if part in name.lower()), "")
        if tool:
            return Reply("Let me look.", [_call(number, tool, dict(arguments))])
    return Reply(_last_words(topic, number))


def _topic(asked: Asked) -> tuple[str, list[tuple[str, str]]]:
    """What the user wants, and what was said since."""
    for place in range(len(asked.said) - 1, -1, -1):
        kind, text = asked.said[place]
        if kind == "user" and not _observed(text):
            found = [(text.lower().rfind(word), topic) for word, topic in _TOPICS.items()]
            at, topic = max(found)
            if at >= 0:
                return topic, asked.said[place + 1 :]
    return "", []


def _last_words(topic: str, number: int) -> str:
    if topic == HELLO:
        return f"Hello, you are number {number}."  # by which two who say the same are told apart
    return {WEATHER: SUNNY, ORDER: SORRY, GOODBYE: "Goodbye, see you soon."}.get(topic, SUNNY)


def _observed(text: str) -> bool:
    return text.startswith(("Observation", "Error")) and "New task" not in text


def _call(number: int, name: str, arguments: Any) -> Call:
    return Call(f"call_{number}", name, arguments)


def _by_fields(asked: Asked) -> str:
    """DSPy's way: a heading a field, and its tools among them."""
    last = asked.texts("user")[-1]
    wanted = re.findall(r"\[\[ ## (\w+) ## \]\]", last.rpartition("Respond with")[2])
    known: dict[str, str] = {}
    if "next_tool_name" in wanted:
        known = {"next_tool_name": "finish", "next_tool_args": "{}", "next_thought": "Done."}
        if "observation_0" not in last:
            topic = ORDER if "order 7" in last else WEATHER
            part, arguments = _TOOLS[topic]
            name = "broken_lookup" if part == "broken" else "get_weather"
            if "goodbye" not in last:
                known |= {"next_tool_name": name, "next_tool_args": json.dumps(arguments)}
    found = [name for name in wanted if name != "completed"]
    said = [f"[[ ## {name} ## ]]\n{known.get(name, SUNNY)}" for name in found]
    return "\n\n".join([*said, "[[ ## completed ## ]]"])


def filled(schema: Any, definitions: Any = None) -> Any:
    """A value that the schema allows."""
    known = definitions or schema.get("$defs", {})
    if "$ref" in schema:
        return filled(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], known)
    if schema.get("enum"):
        return schema["enum"][0]
    kinds: Any = schema.get("type", "object")
    kind = str(kinds[0] if isinstance(kinds, list) else kinds).lower()  # pyright: ignore
    if kind == "object":
        properties: dict[str, Any] = schema.get("properties") or {}
        return {name: filled(each, known) for name, each in properties.items()}
    values: dict[str, Any] = {"array": [], "integer": 7, "number": 7, "boolean": True}
    return values.get(kind, "Rome")
