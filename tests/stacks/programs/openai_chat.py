"""A loop over OpenAI's chat completions."""

import json

import openai
import tools

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": schema}}
    for name, schema in tools.SCHEMAS.items()
]


def start(stream):
    """A conversation whose whole history is sent each time."""
    client = openai.OpenAI(max_retries=0)
    history = [{"role": "system", "content": tools.SYSTEM}]

    def ask():
        if not stream:
            reply = client.chat.completions.create(model="gpt-4o", messages=history, tools=TOOLS)
            return reply.choices[0].message
        with client.chat.completions.stream(
            model="gpt-4o",
            messages=history,
            tools=TOOLS,
            stream_options={"include_usage": True},
        ) as events:
            for _ in events:
                pass
            return events.get_final_completion().choices[0].message

    def say(text):
        history.append({"role": "user", "content": text})
        while True:
            message = ask()
            history.append(message.to_dict(exclude_none=True))
            for part in ("parsed", "parsed_arguments"):
                history[-1].pop(part, None)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                call_result = run(call.function.name, call.function.arguments)
                history.append({"role": "tool", "tool_call_id": call.id, "content": call_result})

    return say


def run(name, arguments):
    """A tool's result; of one that fails, what says so."""
    try:
        return tools.by_name()[name](**json.loads(arguments))
    except KeyError as error:
        return json.dumps({"error": str(error)})
