"""A loop over OpenAI's chat completions whose tools are an MCP server's."""

import json
import sys

import openai
import tools
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from openai_chat import TOOLS


def start(stream):
    """A conversation whose whole history is sent each time."""
    client = openai.AsyncOpenAI(max_retries=0)
    history = [{"role": "system", "content": tools.SYSTEM}]
    server = StdioServerParameters(command=sys.executable, args=["mcp_server.py"])

    async def say(text):
        history.append({"role": "user", "content": text})
        async with stdio_client(server) as pipes, ClientSession(*pipes) as session:
            await session.initialize()
            while True:
                reply = await client.chat.completions.create(
                    model="gpt-4o", messages=history, tools=TOOLS
                )
                message = reply.choices[0].message
                history.append(message.to_dict(exclude_none=True))
                if not message.tool_calls:
                    return message.content
                for call in message.tool_calls:
                    name, arguments = call.function.name, json.loads(call.function.arguments)
                    result = await session.call_tool(name, arguments)
                    text = result.content[0].text
                    tools.RAN.append(
                        {"name": name, "arguments": arguments, "result": _of(result, text)}
                    )
                    history.append({"role": "tool", "tool_call_id": call.id, "content": text})

    return say


def _of(result, text):
    failed = getattr(result, "is_error", False) or getattr(result, "isError", False)
    return None if failed else text
