"""Agno."""

import tools
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai import OpenAIChat


def start(stream):
    """A conversation in one of its sessions."""
    agent = Agent(
        name="desk",
        model=OpenAIChat(id="gpt-4o"),
        instructions=tools.SYSTEM,
        tools=[*tools.by_name().values()],
        db=InMemoryDb(),
        add_history_to_context=True,
        num_history_runs=10,
    )
    agent.session_id = f"session-{id(agent)}"
    tools.NAMED.append(agent.session_id)

    def say(text):
        if not stream:
            return agent.run(text).content
        said = [event.content for event in agent.run(text, stream=True) if event.content]
        return "".join(said)

    return say
