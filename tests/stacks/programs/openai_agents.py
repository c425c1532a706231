"""OpenAI's agents SDK."""

import os

import tools
from agents import Agent, Runner, SQLiteSession, function_tool
from agents.tracing.processors import default_exporter

default_exporter().endpoint = os.environ["OPENAI_BASE_URL"] + "/traces"


def start(stream):
    """A conversation in one of its sessions."""
    agent = Agent(
        name="Desk",
        instructions=tools.SYSTEM,
        tools=[function_tool(tool) for tool in tools.by_name().values()],
        model="gpt-5",
    )
    session = SQLiteSession("talk")

    async def say(text):
        if not stream:
            return (await Runner.run(agent, text, session=session)).final_output
        run = Runner.run_streamed(agent, text, session=session)
        async for _ in run.stream_events():
            pass
        return run.final_output

    return say
