"""LangGraph's agent over LangChain's chat model."""

import tools
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver


@wrap_tool_call
def forgiving(request, handler):
    """Tell the model that a tool failed."""
    try:
        return handler(request)
    except KeyError as error:
        if not tools.FORGIVING:
            raise
        call_id = request.tool_call["id"]
        return ToolMessage(f"Error: {error}", tool_call_id=call_id, status="error")


def start(stream):
    """A conversation that a checkpointer keeps."""
    agent = create_agent(
        ChatOpenAI(model="gpt-4o", max_retries=0, stream_usage=True),
        tools=[*tools.by_name().values()],
        system_prompt=tools.SYSTEM,
        middleware=[forgiving],
        checkpointer=InMemorySaver(),
    )
    tools.NAMED.append(f"thread-{id(agent)}")
    config = {"configurable": {"thread_id": tools.NAMED[-1]}}

    def say(text):
        given = {"messages": [{"role": "user", "content": text}]}
        if not stream:
            return agent.invoke(given, config)["messages"][-1].content
        said = ""
        for message, about in agent.stream(given, config, stream_mode="messages"):
            if about["langgraph_node"] == "model":
                said = said + message.text if not message.tool_call_chunks else ""
        return said

    return say
