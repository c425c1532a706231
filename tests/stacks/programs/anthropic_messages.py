"""A loop over Anthropic's messages."""

import anthropic
import tools

TOOLS = [{"name": name, "input_schema": schema} for name, schema in tools.SCHEMAS.items()]


def start(stream):
    """A conversation whose whole history is sent each time."""
    client = anthropic.Anthropic(max_retries=0)
    history = []

    def ask():
        common = {
            "model": "claude-sonnet-4-5",
            "max_tokens": 500,
            "system": tools.SYSTEM,
            "messages": history,
            "tools": TOOLS,
        }
        if not stream:
            return client.messages.create(**common)
        with client.messages.stream(**common) as events:
            return events.get_final_message()

    def say(text):
        history.append({"role": "user", "content": text})
        while True:
            reply = ask()
            blocks = [block.to_dict(exclude_none=True) for block in reply.content]
            history.append({"role": "assistant", "content": blocks})
            results = [run(block) for block in reply.content if block.type == "tool_use"]
            if not results:
                return "".join(block.text for block in reply.content if block.type == "text")
            history.append({"role": "user", "content": results})

    return say


def run(block):
    """A tool's result; of one that fails, what says so."""
    found = {"type": "tool_result", "tool_use_id": block.id}
    try:
        return {**found, "content": tools.by_name()[block.name](**block.input)}
    except KeyError as error:
        return {**found, "content": str(error), "is_error": True}
