"""A loop over Anthropic's Messages, whose tool is cached."""

import functools
import sys

import anthropic

client = anthropic.Anthropic()
TOOL = {"name": "weather", "input_schema": {"type": "object", "properties": {"city": {}}}}


@functools.lru_cache(maxsize=8)
def weather(city: str) -> str:
    return f"rain in {city}"


def answer(question: str) -> str:
    messages = [{"role": "user", "content": question}]
    while True:
        reply = client.messages.create(
            model="claude-sonnet-5", max_tokens=200, messages=messages, tools=[TOOL]
        )
        asked = [block for block in reply.content if block.type == "tool_use"]
        if not asked:
            return "".join(block.text for block in reply.content if block.type == "text")
        messages.append({"role": "assistant", "content": [b.model_dump() for b in reply.content]})
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": weather(**block.input)}
            for block in asked
        ]
        messages.append({"role": "user", "content": results})


def main() -> int:
    print(answer("Do I need an umbrella in Oslo?"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
