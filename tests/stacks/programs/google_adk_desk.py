"""Google's agent development kit."""

from functools import wraps

import tools
from google.adk.agents import Agent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.runners import InMemoryRunner
from google.genai import types


def forgiving(tool):
    """Tell the model that the tool failed, instead of ending the run."""

    @wraps(tool)
    def run(*args, **kwargs):
        try:
            return tool(*args, **kwargs)
        except KeyError as error:
            if not tools.FORGIVING:
                raise
            return {"error": str(error)}

    return run


def start(stream):
    """A conversation in one of its sessions."""
    agent = Agent(
        name="desk",
        model="gemini-2.5-flash",
        instruction=tools.SYSTEM,
        tools=[forgiving(tool) for tool in tools.by_name().values()],
    )
    runner = InMemoryRunner(agent=agent, app_name="desk")
    session = None

    async def say(text):
        nonlocal session
        if session is None:
            session = await runner.session_service.create_session(app_name="desk", user_id="ada")
            tools.NAMED.append(session.id)
        said = types.Content(role="user", parts=[types.Part(text=text)])
        mode = StreamingMode.SSE if stream else StreamingMode.NONE
        reply = ""
        async for event in runner.run_async(
            user_id="ada",
            session_id=session.id,
            new_message=said,
            run_config=RunConfig(streaming_mode=mode),
        ):
            if event.is_final_response() and event.content:
                reply = "".join(part.text or "" for part in event.content.parts)
        return reply

    return say
