"""Finds consortium runs in the logs of llm, and writes them into the logs."""
