"""A loop over OpenAI's responses that keeps the history at the provider."""

import openai
import tools
from openai_chat import run

TOOLS = [
    {"type": "function", "name": name, "parameters": schema, "strict": False}
    for name, schema in tools.SCHEMAS.items()
]


def start(stream):
    """A conversation in which each call names the one before it."""
    client = openai.OpenAI(max_retries=0)
    before = openai.omit

    def ask(given):
        common = {"model": "gpt-5", "tools": TOOLS, "instructions": tools.SYSTEM}
        if not stream:
            return client.responses.create(input=given, previous_response_id=before, **common)
        done = None
        for event in client.responses.create(
            input=given, previous_response_id=before, stream=True, **common
        ):
            if event.type == "response.completed":
                done = event.response
        return done

    def say(text):
        nonlocal before
        given = text
        while True:
            reply = ask(given)
            before = reply.id
            calls = [item for item in reply.output if item.type == "function_call"]
            if not calls:
                return "".join(
                    part.text
                    for item in reply.output
                    if item.type == "message"
                    for part in item.content
                )
            given = [
                {
                    "type": "function_call_output",
                    "call_id": call.call_id,
                    "output": run(call.name, call.arguments),
                }
                for call in calls
            ]

    return say
