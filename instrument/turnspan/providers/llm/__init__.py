"""The package ``llm`` and its plugin ``llm-consortium``: responses, tools and runs."""
