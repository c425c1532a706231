"""A weather agent over Anthropic's messages, streamed, recorded by Turnspan.

Needs a model: set ANTHROPIC_API_KEY, or run ``python -m turnspan_demo.server`` in another terminal
and set ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY to what it prints.
"""

from __future__ import annotations

from anthropic import Anthropic
from anthropic.types import MessageParam, ToolParam, ToolResultBlockParam

import turnspan

SYSTEM = "You answer questions about the weather. Look it up, never guess."
TOOLS: list[ToolParam] = [
    {
        "name": "get_weather",
        "description": "The weather in a city.",
        "input_schema": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    }
]


@turnspan.tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    known = {"Oslo": "light snow, -2 degrees", "Lisbon": "sunny, 19 degrees"}
    return known[city]


@turnspan.agent("weather-agent", max_rounds=5)
def answer(client: Anthropic, messages: list[MessageParam], user_message: str) -> str:
    """Answer the user, calling tools until the model is done; print the reply as it comes."""
    messages.append({"role": "user", "content": user_message})
    for _ in range(5):
        with client.messages.stream(
            model="claude-sonnet-5",
            max_tokens=1024,
            system=SYSTEM,
            messages=messages,
            tools=TOOLS,
        ) as stream:
            for text in stream.text_stream:
                print(text, end="", flush=True)
            message = stream.get_final_message()
        messages.append({"role": "assistant", "content": message.content})
        results: list[ToolResultBlockParam] = []
        for block in message.content:
            if block.type == "tool_use":
                result = get_weather(str(block.input["city"]))
                results.append({"type": "tool_result", "tool_use_id": block.id, "content": result})
        if not results:
            print()
            return "".join(block.text for block in message.content if block.type == "text")
        messages.append({"role": "user", "content": results})
    return "I could not find out."


def main() -> None:
    """Two turns of one session."""
    turnspan.configure(service_name="weather", project="examples")
    turnspan.instrument()
    messages: list[MessageParam] = []
    with Anthropic() as client, turnspan.session("weather-2", user_id="me"):
        answer(client, messages, "Is it warmer in Oslo or in Lisbon?")
        answer(client, messages, "Thanks!")
    print(turnspan.flush())


if __name__ == "__main__":
    main()
