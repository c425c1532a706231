"""Instrumentation of the ``anthropic`` SDK, which since 2.x would also trace itself."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import util
from typing import Any

from opentelemetry.trace import NonRecordingSpan, Tracer

from turnspan import semconv
from turnspan.patching.instrumentor import SdkInstrumentor
from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.patching.stainless import ASYNC_RETRIES, SYNC_RETRIES, Sdk
from turnspan.providers.anthropic.messages import Messages
from turnspan.providers.anthropic.stream_helpers import OldHelpers
from turnspan.providers.anthropic.tools import ToolRunners
from turnspan.providers.hosts import provider_of
from turnspan.runtime.guard import guard
from turnspan.tracing.begin_call import current_call

_OWN_SPAN = guard("anthropic.own_span")
_CLIENT = "anthropic._base_client"
_PATHS = ("/v1/messages", "/v1/messages?beta=true", "/v1/messages?beta=prompt_caching")
"""The messages API, in its namespaces; the last one until 0.42."""


class AnthropicSdk(Sdk):
    """The Anthropic SDK with its platform clients (Bedrock, Vertex, ...)."""

    def __init__(self, tracer: Tracer) -> None:
        messages = Messages()
        super().__init__(tracer, dict.fromkeys(_PATHS, messages))

    def target_of(self, client: Any, url: Any) -> Mapping[str, Any]:
        """Provider by the kind of client and its base URL, which is the server's."""
        host = str(url.host)
        platform = _platform(client)
        return {
            semconv.PROVIDER_NAME: platform or provider_of(host, "anthropic"),
            semconv.SERVER_ADDRESS: host,
            semconv.SERVER_PORT: url.port or (80 if url.scheme == "http" else 443),
        }

    def own_span(self, wrapped: Function, instance: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around the start of the SDK's own span: within a call of ours it gets ours instead.

        A stand-in with our span's identity, which cannot be written to: the SDK goes on to send
        the trace headers it would have sent, and its HTTP client's spans become our children.
        """
        ours: Any = None
        with _OWN_SPAN:
            ours = self._stand_in()
        return wrapped(*args, **kwargs) if ours is None else ours

    def _stand_in(self) -> NonRecordingSpan | None:
        call = current_call()
        if call is None or not self.enabled:
            return None
        identity = call.span.get_span_context()
        return NonRecordingSpan(identity) if identity.is_valid else None


def _platform(client: Any) -> str:
    """The platform that a client is made for; empty for the API itself and what speaks like it."""
    named = getattr(client, "_gen_ai_provider_name", None)  # 2.x
    if isinstance(named, str) and named and named != "anthropic":
        return named
    kind = type(client).__name__
    if "Bedrock" in kind:
        return "aws.bedrock"
    if "Vertex" in kind:
        return "gcp.vertex_ai"
    return ""


class AnthropicInstrumentor(SdkInstrumentor):
    """Records every message made through the ``anthropic`` package."""

    package = "anthropic"
    scope = semconv.SCOPE_ANTHROPIC
    versions = "anthropic >= 0.40, < 3"
    make_sdk = AnthropicSdk

    def patch(self, sdk: AnthropicSdk, patches: Patches) -> str:
        """Put the wrappers on; returns why the SDK cannot be instrumented, or nothing."""
        if util.find_spec("anthropic._tracing") is not None and not patches.wrap(
            _CLIENT, "start_api_call_span", sdk.own_span
        ):
            return "this version of anthropic traces itself and cannot be stopped"
        if not patches.wrap(_CLIENT, "SyncAPIClient.request", sdk.call):
            return "this version of anthropic has no SyncAPIClient.request"
        patches.wrap(_CLIENT, "AsyncAPIClient.request", sdk.acall)
        patches.wrap_any(_CLIENT, SYNC_RETRIES, sdk.retry)
        patches.wrap_any(_CLIENT, ASYNC_RETRIES, sdk.retry)
        patches.wrap("anthropic._streaming", "Stream.close", sdk.close)
        patches.wrap("anthropic._streaming", "AsyncStream.close", sdk.aclose)
        if util.find_spec("anthropic._legacy_response") is not None:  # before 2.x
            patches.wrap("anthropic._legacy_response", "LegacyAPIResponse.parse", sdk.parse)
        patches.wrap("anthropic._response", "APIResponse.parse", sdk.parse)
        patches.wrap("anthropic._response", "APIResponse.close", sdk.close)
        patches.wrap("anthropic._response", "AsyncAPIResponse.parse", sdk.aparse)
        patches.wrap("anthropic._response", "AsyncAPIResponse.close", sdk.aclose)
        OldHelpers(sdk).patch(patches)
        ToolRunners(sdk).patch(patches)
        return ""
