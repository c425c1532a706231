"""Whose server a host is: the one table of providers by host, for every SDK.

The names are those of the conventions (``gen_ai.provider.name``), and the usual one where they have
none for whom many use. Any other server of the internet is called by its host. One's own (loopback,
a private address, a name without a dot: a proxy, a container, a test) is of no known provider and
is called by the language it speaks, that of the SDK; ``server.address`` and ``server.port`` say
which it is.
"""

from __future__ import annotations

import ipaddress
from functools import lru_cache
from typing import Any, Final

from turnspan import semconv
from turnspan.runtime.later import later

_REGION: Final = r"[a-z0-9-]+"

PROVIDERS: Final[tuple[tuple[str, str], ...]] = (
    (r"(.+\.)?api\.openai\.com", "openai"),
    (r"(.+\.)?openai\.azure\.(com|us|cn)", "azure.ai.openai"),
    (r"(.+\.)?cognitiveservices\.azure\.(com|us|cn)", "azure.ai.openai"),
    (r"(.+\.)?services\.ai\.azure\.(com|us|cn)", "azure.ai.inference"),
    (r"(.+\.)?(models|inference)\.ai\.azure\.com", "azure.ai.inference"),
    (r"(.+\.)?inference\.ml\.azure\.com", "azure.ai.inference"),
    (r"(.+\.)?api\.anthropic\.com", "anthropic"),
    (rf"aws-external-anthropic\.{_REGION}\.api\.aws", "anthropic"),
    (rf"(.+\.)?bedrock(-[a-z]+)*\.{_REGION}\.(vpce\.)?amazonaws\.com(\.cn)?", "aws.bedrock"),
    (rf"(.+\.)?bedrock(-[a-z]+)*\.{_REGION}\.api\.(aws|amazonwebservices\.com\.cn)", "aws.bedrock"),
    (r"(.+\.)?generativelanguage\.googleapis\.com", "gcp.gemini"),
    (rf"({_REGION}-)?aiplatform\.({_REGION}\.rep\.)?googleapis\.com", "gcp.vertex_ai"),
    (r"(.+\.)?api\.cohere\.(com|ai)", "cohere"),
    (r"(.+\.)?api\.deepseek\.com", "deepseek"),
    (r"(.+\.)?api\.groq\.com", "groq"),
    (r"(.+\.)?ml\.cloud\.ibm\.com", "ibm.watsonx.ai"),
    (r"(.+\.)?(api|codestral)\.mistral\.ai", "mistral_ai"),
    (r"(.+\.)?moonshot\.(ai|cn)", "moonshot_ai"),
    (r"(.+\.)?openrouter\.ai", "openrouter"),
    (r"(.+\.)?api\.perplexity\.ai", "perplexity"),
    (r"(.+\.)?api\.x\.ai", "x_ai"),
)
"""Whole hosts, as patterns, and whose they are."""

_PATTERNS: Final = [(later(pattern), name) for pattern, name in PROVIDERS]


@lru_cache(maxsize=1_024)
def provider_of(host: str, own: str) -> str:
    """Whose server this is; ``own`` for one's own."""
    name = host.lower().rstrip(".")
    for pattern, provider in _PATTERNS:
        if pattern.fullmatch(name):
            return provider
    return own if not name or is_own(name) else name


@lru_cache(maxsize=1_024)
def is_own(host: str) -> bool:
    """Whether a server is on this machine or in one's own network, by its host."""
    if "." not in host and ":" not in host:
        return True  # localhost, a container's or a cluster's name
    try:
        return ipaddress.ip_address(host.strip("[]")).is_private
    except ValueError:
        return False


def call_target(provider: str, host: str, port: int | None, scheme: str) -> dict[str, Any]:
    """The attributes of provider and server; an address without a port has its scheme's."""
    return {
        semconv.PROVIDER_NAME: provider,
        semconv.SERVER_ADDRESS: host,
        semconv.SERVER_PORT: port or (80 if scheme in ("http", "ws") else 443),
    }
