"""pydantic-ai."""

from functools import wraps

import tools
from pydantic_ai import Agent, ModelRetry


def forgiving(tool):
    """Tell the model that the tool failed, instead of ending the run."""

    @wraps(tool)
    def run(*args, **kwargs):
        try:
            return tool(*args, **kwargs)
        except KeyError as error:
            if not tools.FORGIVING:
                raise
            raise ModelRetry(f"Error: {error}") from error

    return run


def start(stream):
    """A conversation whose history the program keeps."""
    agent = Agent(
        "openai:gpt-4o",
        name="desk",
        system_prompt=tools.SYSTEM,
        tools=[forgiving(tool) for tool in tools.by_name().values()],
    )
    history = []

    async def say(text):
        nonlocal history
        if not stream:
            run = await agent.run(text, message_history=history)
            history = run.all_messages()
            return run.output
        async with agent.run_stream(text, message_history=history) as run:
            reply = await run.get_output()
            history = run.all_messages()
            return reply

    return say


def openinference():
    """Its package reads the framework's own spans, in a processor."""
    from openinference.instrumentation.pydantic_ai import OpenInferenceSpanProcessor
    from opentelemetry import trace

    trace.get_tracer_provider().add_span_processor(OpenInferenceSpanProcessor())
    Agent.instrument_all()


BESIDE = {"its own": Agent.instrument_all, "OpenInference": openinference}
