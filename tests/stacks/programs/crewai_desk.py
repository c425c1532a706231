"""CrewAI, a crew of one for each question."""

import tools
from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool


def start(stream):
    """Questions that know nothing of each other."""
    agent = Agent(
        role="Desk",
        goal="Help.",
        backstory=tools.SYSTEM,
        llm=LLM(model="openai/gpt-4o", stream=stream),
        tools=[tool(name)(function) for name, function in tools.by_name().items()],
    )

    def say(text):
        task = Task(description=text, expected_output="An answer.", agent=agent)
        return Crew(agents=[agent], tasks=[task]).kickoff().raw

    return say
