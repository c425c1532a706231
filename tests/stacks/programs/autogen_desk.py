"""AutoGen."""

import tools
from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient


def start(stream):
    """A conversation that the agent keeps."""
    agent = AssistantAgent(
        "desk",
        OpenAIChatCompletionClient(model="gpt-4o", include_name_in_message=False),
        tools=[*tools.by_name().values()],
        system_message=tools.SYSTEM,
        max_tool_iterations=3,
        model_client_stream=stream,
    )

    async def say(text):
        return (await agent.run(task=text)).messages[-1].content

    return say
