"""``turnspan mcp``: the records for coding agents, over the Model Context Protocol: tools, their
arguments, and answers as text."""
