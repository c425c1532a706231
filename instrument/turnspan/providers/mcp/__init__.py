"""The ``mcp`` client: tools that a server executes."""
