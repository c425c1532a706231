"""Strands."""

import tools
from strands import Agent, tool
from strands.models.openai import OpenAIModel


def start(stream):
    """A conversation that the agent keeps."""
    agent = Agent(
        model=OpenAIModel(model_id="gpt-4o"),
        tools=[tool(function) for function in tools.by_name().values()],
        system_prompt=tools.SYSTEM,
        callback_handler=None,
        name="desk",
    )

    def say(text):
        return str(agent(text)).strip()

    return say
