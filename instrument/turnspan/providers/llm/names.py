"""Whose model a plugin of ``llm`` calls, by the plugin that brought it."""

from __future__ import annotations

from typing import Any, Final

_PROVIDERS: Final = {
    "__main__": "custom",
    "llm": "openai",  # the models that come with it
    "llm_anthropic": "anthropic",
    "llm_azure": "azure.ai.openai",
    "llm_bedrock": "aws.bedrock",
    "llm_bedrock_anthropic": "aws.bedrock",
    "llm_bedrock_meta": "aws.bedrock",
    "llm_claude": "anthropic",
    "llm_claude_3": "anthropic",
    "llm_cohere": "cohere",
    "llm_command_r": "cohere",
    "llm_consortium": "llm-consortium",
    "llm_gemini": "gcp.gemini",
    "llm_grok": "x_ai",
    "llm_mistral": "mistral_ai",
    "llm_moonshot": "moonshot_ai",
    "llm_palm": "gcp.gemini",
    "llm_vertex": "gcp.vertex_ai",
    "llm_xai": "x_ai",
}
"""The conventions' names of providers, by the plugin's module; others go by the plugin's own."""
_PREFIX: Final = "llm_"


def provider_of(model: Any) -> str:
    """The provider of a model."""
    plugin = str(type(model).__module__).partition(".")[0]
    return _PROVIDERS.get(plugin) or plugin.removeprefix(_PREFIX)


def model_of(model: Any) -> str:
    """What ``llm`` calls a model."""
    name: Any = getattr(model, "model_id", None)
    return name if isinstance(name, str) else ""
