"""Whose server a host is, for both SDKs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry.trace import NoOpTracer

from support.sdks import HTTP
from turnspan.providers.anthropic.instrumentor import AnthropicSdk
from turnspan.providers.hosts import PROVIDERS, provider_of
from turnspan.providers.openai.instrumentor import OpenAISdk

SEMCONV = {
    "openai",
    "gcp.gen_ai",
    "gcp.vertex_ai",
    "gcp.gemini",
    "anthropic",
    "cohere",
    "azure.ai.inference",
    "azure.ai.openai",
    "ibm.watsonx.ai",
    "aws.bedrock",
    "perplexity",
    "x_ai",
    "deepseek",
    "groq",
    "mistral_ai",
    "moonshot_ai",
}

HOSTS = [
    ("api.openai.com", "openai"),
    ("eu.api.openai.com", "openai"),
    ("mine.openai.azure.com", "azure.ai.openai"),
    ("mine.openai.azure.us", "azure.ai.openai"),
    ("mine.cognitiveservices.azure.com", "azure.ai.openai"),
    ("mine.services.ai.azure.com", "azure.ai.inference"),
    ("models.inference.ai.azure.com", "azure.ai.inference"),
    ("mine.eastus2.models.ai.azure.com", "azure.ai.inference"),
    ("mine.eastus.inference.ml.azure.com", "azure.ai.inference"),
    ("bedrock-runtime.us-west-2.amazonaws.com", "aws.bedrock"),
    ("bedrock-runtime-fips.us-gov-west-1.amazonaws.com", "aws.bedrock"),
    ("bedrock-runtime.cn-north-1.amazonaws.com.cn", "aws.bedrock"),
    ("bedrock-mantle.eu-west-1.api.aws", "aws.bedrock"),
    ("vpce-0a1b.bedrock-runtime.us-east-1.vpce.amazonaws.com", "aws.bedrock"),
    ("gateway-123.us-east-1.elb.amazonaws.com", "gateway-123.us-east-1.elb.amazonaws.com"),
    ("generativelanguage.googleapis.com", "gcp.gemini"),
    ("aiplatform.googleapis.com", "gcp.vertex_ai"),
    ("us-central1-aiplatform.googleapis.com", "gcp.vertex_ai"),
    ("aiplatform.eu.rep.googleapis.com", "gcp.vertex_ai"),
    ("api.deepseek.com", "deepseek"),
    ("api.groq.com", "groq"),
    ("api.x.ai", "x_ai"),
    ("eu-west-1.api.x.ai", "x_ai"),
    ("api.mistral.ai", "mistral_ai"),
    ("codestral.mistral.ai", "mistral_ai"),
    ("api.perplexity.ai", "perplexity"),
    ("api.cohere.ai", "cohere"),
    ("api.moonshot.cn", "moonshot_ai"),
    ("us-south.ml.cloud.ibm.com", "ibm.watsonx.ai"),
    ("openrouter.ai", "openrouter"),
    ("OpenRouter.AI", "openrouter"),
    ("api.anthropic.com", "anthropic"),
    ("api.together.xyz", "api.together.xyz"),
    ("api.fireworks.ai", "api.fireworks.ai"),
    ("llm.example.com", "llm.example.com"),
    ("api.openai.com.evil.example", "api.openai.com.evil.example"),
    ("notapi.x.ai", "notapi.x.ai"),
    ("8.8.8.8", "8.8.8.8"),
]
OWN = ["localhost", "127.0.0.1", "::1", "10.1.2.3", "litellm", "192.168.0.4"]


def target(sdk: Any, kind: str, url: str) -> dict[str, Any]:
    """Where a client of this class calls."""
    made = type(kind, (SimpleNamespace,), {})()
    return dict(sdk(NoOpTracer()).target_of(made, HTTP.URL(url)))


@pytest.mark.parametrize(
    ("sdk", "kind"), [(OpenAISdk, "OpenAI"), (AnthropicSdk, "Anthropic")], ids=["openai", "claude"]
)
def test_both_sdks_call_a_server_the_same(sdk: Any, kind: str) -> None:
    """The conventions' names, openrouter's, else the host; one's own is called as the SDK is."""
    for host, expected in HOSTS:
        found = target(sdk, kind, f"https://{host}/v1")
        assert (found["gen_ai.provider.name"], found["server.port"]) == (expected, 443), host
        assert found["server.address"] == host.lower()
    for host in OWN:
        address = f"[{host}]" if ":" in host else host
        found = target(sdk, kind, f"http://{address}:8080/v1")
        assert found["gen_ai.provider.name"] == kind.lower(), host


@pytest.mark.parametrize(
    ("sdk", "kind", "expected"),
    [
        (OpenAISdk, "AzureOpenAI", "azure.ai.openai"),
        (OpenAISdk, "AsyncBedrockOpenAI", "aws.bedrock"),
        (AnthropicSdk, "AnthropicBedrock", "aws.bedrock"),
        (AnthropicSdk, "AsyncAnthropicVertex", "gcp.vertex_ai"),
    ],
)
def test_a_platforms_client_says_more_than_a_gateways_host(
    sdk: Any, kind: str, expected: str
) -> None:
    """What the client is made for is there, whatever is in front of it."""
    assert target(sdk, kind, "https://gateway.example/v1")["gen_ai.provider.name"] == expected


def test_every_name_is_the_conventions() -> None:
    """But one, whom many use and the conventions have no name for."""
    assert {name for _, name in PROVIDERS} - SEMCONV == {"openrouter"}
    assert provider_of("", "openai") == "openai"
