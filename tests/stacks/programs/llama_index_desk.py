"""LlamaIndex's agent."""

import tools
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.llms.openai import OpenAI


def start(stream):
    """A conversation in one of its memories."""
    agent = FunctionAgent(
        name="desk",
        tools=[*tools.by_name().values()],
        llm=OpenAI(model="gpt-4o", additional_kwargs={"stream_options": {"include_usage": True}})
        if stream
        else OpenAI(model="gpt-4o"),
        system_prompt=tools.SYSTEM,
        streaming=stream,
    )
    memory = ChatMemoryBuffer.from_defaults()

    async def say(text):
        return str(await agent.run(text, memory=memory))

    return say
