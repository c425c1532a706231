"""A weather agent over OpenAI's chat completions, recorded by Turnspan.

Needs a model: set OPENAI_API_KEY, or run ``python -m turnspan_demo.server`` in another terminal
and set OPENAI_BASE_URL and OPENAI_API_KEY to what it prints.
"""

from __future__ import annotations

import json

from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

import turnspan

SYSTEM = "You answer questions about the weather. Look it up, never guess."
TOOLS: list[ChatCompletionToolParam] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather in a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
        },
    }
]


@turnspan.tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    known = {"Oslo": "light snow, -2 degrees", "Lisbon": "sunny, 19 degrees"}
    return known[city]


@turnspan.agent("weather-agent", max_rounds=5)
def answer(client: OpenAI, messages: list[ChatCompletionMessageParam], user_message: str) -> str:
    """Answer the user, calling tools until the model is done."""
    messages.append({"role": "user", "content": user_message})
    for _ in range(5):
        response = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)
        message = response.choices[0].message
        messages.append(message.to_dict())  # type: ignore[arg-type]  # the SDK takes it back
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            if call.type == "function":
                result = get_weather(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    return "I could not find out."


def main() -> None:
    """Two turns of one session."""
    turnspan.configure(service_name="weather", project="examples")
    turnspan.instrument()
    messages: list[ChatCompletionMessageParam] = [{"role": "system", "content": SYSTEM}]
    with OpenAI() as client, turnspan.session("weather-1", user_id="me"):
        print(answer(client, messages, "Is it warmer in Oslo or in Lisbon?"))
        print(answer(client, messages, "Thanks!"))
    print(turnspan.flush())


if __name__ == "__main__":
    main()
