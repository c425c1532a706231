"""LiteLLM, in a loop of one's own, to whichever provider the model names."""

import litellm
import tools
from openai_chat import TOOLS, run

litellm.suppress_debug_info = True
MODEL = "openai/gpt-4o"


def start(stream, model=MODEL):
    """A conversation whose whole history is sent each time."""
    history = [{"role": "system", "content": tools.SYSTEM}]

    def ask():
        if not stream:
            return litellm.completion(model=model, messages=history, tools=TOOLS)
        chunks = litellm.completion(
            model=model,
            messages=history,
            tools=TOOLS,
            stream=True,
            stream_options={"include_usage": True},
        )
        return litellm.stream_chunk_builder([*chunks], messages=history)

    def say(text):
        history.append({"role": "user", "content": text})
        while True:
            message = ask().choices[0].message
            history.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                result = run(call.function.name, call.function.arguments)
                history.append({"role": "tool", "tool_call_id": call.id, "content": result})

    return say


def _callback():
    litellm.callbacks = ["otel"]


BESIDE = {"its own": _callback}
