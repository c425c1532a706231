"""The desk's tools as an MCP server on its standard input and output."""

import tools

try:
    from mcp.server import MCPServer
except ImportError:
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("desk")
for tool in tools.by_name().values():
    server.tool()(tool)

if __name__ == "__main__":
    server.run()
