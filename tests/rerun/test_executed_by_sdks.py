"""In a rerun a tool that an SDK executes gets its recorded result as well."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic
import pytest
from mcp.client import Client
from mcp.server.mcpserver import MCPServer

from support.rerun_protocol import ProtocolServer, protocol_server, rerun_here
from turnspan.testing import ModelServer, ToolRequest, record

ran: list[str] = []


@pytest.fixture(autouse=True)
def _none_ran() -> None:
    ran.clear()


def test_a_tool_of_an_mcp_server(protocol: ProtocolServer) -> None:
    """The result is the client library's own, also one that failed; what is not answered is
    called."""
    app = MCPServer("weather")

    @app.tool()
    def weather(city: str) -> str:
        """The weather."""
        ran.append(city)
        return f"sunny in {city}"

    async def calls() -> list[Any]:
        async with Client(app) as client:
            return [await client.call_tool("weather", {"city": city}) for city in "abc"]

    with record() as before:
        first = asyncio.run(calls())[0]
        recorded = before.tools()[0].result
    ran.clear()
    failed = {"content": [{"type": "text", "text": "no such city"}], "isError": True}
    protocol.answer("weather", recorded)
    protocol.answer("weather", failed, failed=True, error_type="tool_error")
    with rerun_here(protocol.environment()), record() as again:
        results = asyncio.run(calls())
        tools = again.tools()
    assert ran == ["c"]
    assert results[0].content == first.content and type(results[0]) is type(first)
    assert results[1].model_dump(by_alias=True)["isError"]
    assert [json.loads(asked["arguments"]) for asked in protocol.asked] == [
        {"city": city} for city in "abc"
    ]
    assert [tool.failed for tool in tools] == [False, True, False]


def test_a_tool_of_anthropics_runner() -> None:
    """Its function does not run; what the model is told of it is what was recorded."""

    def weather(city: str) -> str:
        """The weather.

        Args:
            city: the city
        """
        ran.append(city)
        return "real"

    with ModelServer() as models, protocol_server(models) as protocol:
        models.reply(tool_requests=[ToolRequest("weather", {"city": "Oslo"})])
        models.reply("It rains.")
        protocol.answer("weather", "rain in Oslo")
        with rerun_here(protocol.environment()), record():
            client = anthropic.Anthropic(api_key="k", max_retries=0)
            said: list[Any] = [{"role": "user", "content": "Oslo?"}]
            api: Any = client.beta.messages
            tool = anthropic.beta_tool(weather)
            runner = api.tool_runner(model="m", max_tokens=9, messages=said, tools=[tool])
            assert runner.until_done().content[0].text == "It rains."
    assert ran == []
    (result,) = json.loads(protocol.requests[-1].body)["messages"][-1]["content"]
    assert result["content"] == "rain in Oslo" and not result.get("is_error")
    assert [asked["call_id"] for asked in protocol.asked] == [result["tool_use_id"]]
