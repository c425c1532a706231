"""Microsoft's agent framework."""

import tools
from agent_framework import Agent
from agent_framework.observability import enable_sensitive_telemetry
from agent_framework.openai import OpenAIChatClient


def start(stream):
    """A conversation in one of its sessions."""
    agent = Agent(
        OpenAIChatClient(model="gpt-5"),
        tools.SYSTEM,
        name="desk",
        tools=[*tools.by_name().values()],
    )
    session = agent.create_session()
    tools.NAMED.append(session.session_id)

    async def say(text):
        if not stream:
            return (await agent.run(text, session=session)).text
        return "".join(
            [part.text async for part in agent.run(text, session=session, stream=True) if part.text]
        )

    return say


BESIDE = {"its own": enable_sensitive_telemetry}
