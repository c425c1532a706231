"""LiteLLM to Anthropic, which it calls without Anthropic's SDK."""

from litellm_desk import BESIDE as BESIDE
from litellm_desk import start as begin


def start(stream):
    """A conversation with Claude."""
    return begin(stream, "anthropic/claude-sonnet-4-5")
