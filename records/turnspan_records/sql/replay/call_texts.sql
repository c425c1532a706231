response_text, response_thoughts, tool_calls,
