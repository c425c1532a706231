"""An agent that knows nothing of Turnspan: recorded without a change to its code.

    OTEL_TRACES_EXPORTER=turnspan OTEL_SERVICE_NAME=weather \\
        opentelemetry-instrument python examples/no_code_agent.py

Add ``,otlp`` to see the same spans in Jaeger. Needs a model: set OPENAI_API_KEY, or run
``python -m turnspan_demo.server`` in another terminal and set what it prints.
"""

from __future__ import annotations

import json

from openai import OpenAI
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

SYSTEM = "You answer questions about the weather. Look it up, never guess."
WEATHER = {"Oslo": "light snow, -2 degrees", "Lisbon": "sunny, 19 degrees"}
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


def main() -> None:
    """One question, with as many tool calls as the model wants."""
    messages: list[ChatCompletionMessageParam] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "Is it warmer in Oslo or in Lisbon?"},
    ]
    with OpenAI() as client:
        while True:
            reply = client.chat.completions.create(model="gpt-4o", messages=messages, tools=TOOLS)
            message = reply.choices[0].message
            messages.append(message.to_dict())  # type: ignore[arg-type]  # the SDK takes it back
            if not message.tool_calls:
                break
            for call in message.tool_calls:
                if call.type == "function":
                    city = json.loads(call.function.arguments)["city"]
                    result = WEATHER.get(city, "unknown")
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    print(message.content)


if __name__ == "__main__":
    main()
