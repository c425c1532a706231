"""All that reads the logs of llm and llm-consortium, and what ``llm`` loads to record itself.

``llm`` imports it with every command it runs: this file imports nothing.
"""
