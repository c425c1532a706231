"""The logs of simonw/llm, of all its generations -> parts of an import: turns,
calls and their usage, runs."""
