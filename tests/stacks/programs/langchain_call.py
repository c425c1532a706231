"""LangChain's chat model alone, in a loop of one's own."""

import tools
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI


def start(stream):
    """A conversation whose history the program keeps."""
    known = {name: tool(function) for name, function in tools.by_name().items()}
    model = ChatOpenAI(model="gpt-4o", max_retries=0).bind_tools([*known.values()])
    history = [SystemMessage(tools.SYSTEM)]

    def ask():
        if not stream:
            return model.invoke(history)
        whole = None
        for chunk in model.stream(history):
            whole = chunk if whole is None else whole + chunk
        return whole

    def say(text):
        history.append(HumanMessage(text))
        while True:
            reply = ask()
            history.append(reply)
            if not reply.tool_calls:
                return reply.text
            for call in reply.tool_calls:
                try:
                    history.append(known[call["name"]].invoke(call))
                except KeyError as error:
                    failed = ToolMessage(f"Error: {error}", tool_call_id=call["id"], status="error")
                    history.append(failed)

    return say
