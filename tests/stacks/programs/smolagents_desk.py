"""smolagents' agent that calls tools."""

import tools
from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool


def start(stream, **limits):
    """A conversation that the agent's memory keeps."""
    agent = ToolCallingAgent(
        tools=[tool(function) for function in tools.by_name().values()],
        model=OpenAIModel(model_id="gpt-4o"),
        stream_outputs=stream,
        verbosity_level=LogLevel.OFF,
        **limits,
    )

    def say(text):
        return str(agent.run(text, reset=False))

    return say
