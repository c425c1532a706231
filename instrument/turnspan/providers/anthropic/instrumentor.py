"""Instrumentation of the ``anthropic`` SDK, which since 2.x would also trace itself."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from importlib import util
from typing import Any, Final

from opentelemetry.trace import NonRecordingSpan, Tracer

from turnspan import semconv
from turnspan.patching.instrumentor import SdkInstrumentor
from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.patching.stainless import Sdk, helper_close
from turnspan.patching.stream import RECORD, StreamRecord, afolded, folded, record_of
from turnspan.providers.anthropic.messages import Messages
from turnspan.providers.anthropic.tools import ToolRunners
from turnspan.providers.hosts import call_target, provider_of
from turnspan.runtime.guard import guard
from turnspan.tracing.begin_call import current_call

_OWN_SPAN = guard("anthropic.own_span")
_CLIENT = "anthropic._base_client"
_PATHS = ("/v1/messages", "/v1/messages?beta=true", "/v1/messages?beta=prompt_caching")
"""The messages API, in its namespaces; the last one until 0.42."""

_MOVE = guard("anthropic.stream_helper")

_STREAM = "_turnspan_stream"
"""The attribute of a response that refers to the stream which was made of it."""

_HELPERS: Final = (
    ("anthropic.lib.streaming._messages", "MessageStream"),
    ("anthropic.lib.streaming._prompt_caching_beta_messages", "PromptCachingBetaMessageStream"),
)


class OldHelpers:
    """The wrappers for stream helpers of older SDKs, which take a stream's response and leave the
    stream.

    ``messages.stream()`` of these makes a raw stream, then one of its own over the same response,
    and drops the first. What follows the first is moved to the second. Newer helpers keep the raw
    stream.
    """

    def __init__(self, sdk: Sdk) -> None:
        self._sdk = sdk

    def patch(self, patches: Patches) -> None:
        """Put the wrappers on, where the helpers are of that kind."""
        found = [
            (module, name)
            for module, helper in _HELPERS
            for name in (helper, f"Async{helper}")
            if patches.has(module, f"{name}.__init__", f"{name}.close")
            and not patches.takes(module, f"{name}.__init__", "raw_stream")
        ]
        if not found:
            return
        patches.wrap("anthropic._streaming", "Stream.__init__", self.made)
        patches.wrap("anthropic._streaming", "AsyncStream.__init__", self.made)
        for module, name in found:
            patches.wrap(module, f"{name}.__init__", self.taken)
            close = self._sdk.aclose if name.startswith("Async") else self._sdk.close
            patches.wrap(module, f"{name}.close", helper_close(close))

    def made(self, wrapped: Function, stream: Any, args: Args, kwargs: Kwargs) -> None:
        """Around the making of a stream: the first of a response is remembered with it."""
        wrapped(*args, **kwargs)
        with _MOVE:
            if self._sdk.enabled:
                stream.response.__dict__.setdefault(_STREAM, weakref.ref(stream))

    def taken(self, wrapped: Function, helper: Any, args: Args, kwargs: Kwargs) -> None:
        """Around the making of a helper: what followed the first stream follows the helper's."""
        wrapped(*args, **kwargs)
        with _MOVE:
            first = helper.response.__dict__.pop(_STREAM, None)
            stream = None if first is None else first()
            record = None if stream is None else record_of(stream)
            if isinstance(record, StreamRecord):
                _follow(helper._raw_stream, record)


def _follow(stream: Any, record: StreamRecord) -> None:
    inner = stream._iterator
    stream.__dict__[RECORD] = record
    stream._iterator = (afolded if hasattr(inner, "__anext__") else folded)(inner, record)


class AnthropicSdk(Sdk):
    """The Anthropic SDK with its platform clients (Bedrock, Vertex, ...)."""

    def __init__(self, tracer: Tracer) -> None:
        messages = Messages()
        super().__init__(tracer, dict.fromkeys(_PATHS, messages))

    def target_of(self, client: Any, url: Any) -> Mapping[str, Any]:
        """Provider by the kind of client and its base URL, which is the server's."""
        host = str(url.host)
        provider = _platform(client) or provider_of(host, "anthropic")
        return call_target(provider, host, url.port, url.scheme)

    def own_span(self, wrapped: Function, instance: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around the start of the SDK's own span: within a call of ours it gets ours instead.

        A stand-in with our span's identity, which cannot be written to: the SDK goes on to send
        the trace headers it would have sent, and its HTTP client's spans become our children.
        """
        with _OWN_SPAN:
            call = current_call() if self.enabled else None
            if call is not None and call.span.get_span_context().is_valid:
                return NonRecordingSpan(call.span.get_span_context())
        return wrapped(*args, **kwargs)


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
        sdk.wrap_others(patches, self.package)
        OldHelpers(sdk).patch(patches)
        ToolRunners(sdk).patch(patches)
        return ""
