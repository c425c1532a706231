"""Whom a call of LiteLLM goes to, by its arguments alone: nothing of LiteLLM's is called for it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from turnspan import semconv
from turnspan.runtime.type_guards import is_dict

_PROVIDERS: Final = {
    "azure": "azure.ai.openai",
    "azure_text": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "bedrock_converse": "aws.bedrock",
    "cohere_chat": "cohere",
    "custom_openai": "openai",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "moonshot": "moonshot_ai",
    "text-completion-openai": "openai",
    "vertex_ai": "gcp.vertex_ai",
    "vertex_ai_beta": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "watsonx_text": "ibm.watsonx.ai",
    "xai": "x_ai",
}
"""The conventions' names of LiteLLM's providers; others go by their own."""

_HOSTS: Final = {
    "anthropic": "api.anthropic.com",
    "cohere": "api.cohere.com",
    "deepseek": "api.deepseek.com",
    "gemini": "generativelanguage.googleapis.com",
    "groq": "api.groq.com",
    "mistral": "api.mistral.ai",
    "openai": "api.openai.com",
    "openrouter": "openrouter.ai",
    "perplexity": "api.perplexity.ai",
    "xai": "api.x.ai",
}
"""Where those requests go that say nothing else."""


@dataclass(frozen=True, slots=True)
class Served:
    """A provider's model."""

    name: str
    """LiteLLM's name of the provider."""
    model: str
    where: dict[str, Any] = field(default_factory=dict[str, Any])
    """The attributes of its server, as far as they are known."""

    @property
    def provider(self) -> str:
        """The conventions' name of the provider."""
        if self.name.startswith("vertex_ai"):  # has names of its own for the models of others
            return "gcp.vertex_ai"
        return _PROVIDERS.get(self.name, self.name or "litellm")


def served_by(asked: Any, kwargs: Mapping[str, Any]) -> Served:
    """Whom a call goes to: ``provider/model``, or a model of a provider that LiteLLM knows."""
    model = asked if isinstance(asked, str) else ""
    named: Any = kwargs.get("custom_llm_provider")
    provider = named if isinstance(named, str) else ""
    prefix, _, rest = model.partition("/")
    litellm: Any = sys.modules.get("litellm")
    if rest and (prefix == provider or (not provider and prefix in _known(litellm))):
        provider, model = prefix, rest
    elif not provider:
        known: Any = getattr(litellm, "model_cost", None)
        entry = known.get(model) if is_dict(known) else None
        found = entry.get("litellm_provider") if is_dict(entry) else None
        provider = found if isinstance(found, str) else ""
    where = where_of(kwargs.get("api_base") or kwargs.get("base_url"))
    if not where and provider in _HOSTS:
        where = {semconv.SERVER_ADDRESS: _HOSTS[provider], semconv.SERVER_PORT: 443}
    return Served(provider, model, where)


def _known(litellm: Any) -> Any:
    """The names of LiteLLM's providers."""
    known: Any = getattr(litellm, "provider_list", None)
    return known or ()


def where_of(address: Any) -> dict[str, Any]:
    """The attributes of the server at this address; none where it is no URL."""
    url = urlsplit(address) if isinstance(address, str) else None
    if url is None or not url.hostname:
        return {}
    port = url.port or (80 if url.scheme == "http" else 443)
    return {semconv.SERVER_ADDRESS: url.hostname, semconv.SERVER_PORT: port}
