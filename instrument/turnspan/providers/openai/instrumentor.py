"""Instrumentation of the ``openai`` SDK: where its calls go, and what is asked for on a stream."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, Final
from urllib.parse import unquote

from opentelemetry.trace import Tracer

from turnspan import config, semconv
from turnspan.patching.instrumentor import SdkInstrumentor
from turnspan.patching.patches import Patches
from turnspan.patching.stainless import Sdk, helper_close
from turnspan.providers.background import FetchResponse
from turnspan.providers.hosts import call_target, is_own, provider_of
from turnspan.providers.openai import chat, completions
from turnspan.providers.openai.chat import ChatCompletions
from turnspan.providers.openai.completions import Completions
from turnspan.providers.openai.connections import patch_connections
from turnspan.providers.openai.embeddings import Embeddings
from turnspan.providers.openai.responses import Responses, asked_of
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.endpoint import Endpoint
from turnspan.tracing.model_call import ModelCall

_PLATFORMS: Final = (("azure", "azure.ai.openai"), ("bedrock", "aws.bedrock"))
"""What a client's class says, whatever host a gateway in front of the platform has."""

_KNOWN_TO_STREAM_USAGE: Final = (
    "api.openai.com",
    ".api.openai.com",
    ".openai.azure.com",
    ".cognitiveservices.azure.com",
    "api.deepseek.com",
    "api.groq.com",
    "api.x.ai",
    "openrouter.ai",
    "api.together.xyz",
    "api.fireworks.ai",
    "api.cerebras.ai",
)
"""Hosts that answer ``stream_options`` with usage. Elsewhere on the internet it is not sent: some
servers refuse the whole request for it, and then the tracing would have broken the call."""

_STREAMS_USAGE: Final = frozenset({chat.DIALECT, completions.DIALECT})
"""APIs whose streams carry token usage only where it is asked for."""

_DEPLOYMENT: Final = re.compile(r"/deployments/([^/]+)")
_NOTHING: Final[dict[str, Any]] = {}
_AZURE_STREAMS_USAGE_SINCE: Final = "2024-09-01"


class OpenAISdk(Sdk):
    """The OpenAI SDK and servers that speak its language."""

    def __init__(self, tracer: Tracer) -> None:
        self.responses = responses = Responses()
        super().__init__(
            tracer,
            {
                "/chat/completions": ChatCompletions(),
                "/responses": responses,
                "/responses?beta=true": responses,
                "/embeddings": Embeddings(),
                "/completions": Completions(),
            },
        )
        self._of_response = {
            operation: FetchResponse(responses, operation)
            for operation in semconv.COMPLETING_OPERATIONS
        }
        self.known_streams: set[Any] = set()
        """The SDK's stream classes, as far as they are what we know."""
        self._refusing: set[str] = set()

    def target_of(self, client: Any, url: Any) -> Mapping[str, Any]:
        """Provider and server by the client's base URL."""
        host = str(url.host)
        kind = type(client).__name__.lower()
        provider = next((name for word, name in _PLATFORMS if word in kind), "")
        provider = provider or provider_of(host, "openai")
        target = call_target(provider, host, url.port, url.scheme)
        deployment = _DEPLOYMENT.search(str(url.path))
        if deployment is not None:  # it decides, whatever model the caller names
            target[semconv.REQUEST_MODEL] = unquote(deployment.group(1))
        return target

    def other_endpoint(self, options: Mapping[str, Any]) -> tuple[Endpoint, dict[str, Any]] | None:
        """A response that is fetched or cancelled."""
        asked = asked_of(options)
        return None if asked is None else (self._of_response[asked[0]], asked[1])

    def adjust(
        self, call: ModelCall, client: Any, options: Any, body: Mapping[str, Any], kind: Any
    ) -> None:
        """Ask for the stream's token usage where the caller did not and the server knows how.

        Only on streams from which the extra chunk can be hidden.
        """
        if call.endpoint.dialect not in _STREAMS_USAGE:
            return
        if not config.active().request_stream_usage or kind not in self.known_streams:
            return
        asked = body.get("stream_options")
        if asked is None:
            asked = _NOTHING
        if not is_dict(asked) or "include_usage" in asked:
            return
        host = str(call.attributes.get(semconv.SERVER_ADDRESS))
        if host in self._refusing or not streams_usage(host):
            return
        version = getattr(client, "_api_version", None)  # AzureOpenAI only
        if isinstance(version, str) and version < _AZURE_STREAMS_USAGE_SINCE:
            return
        headers = options.headers
        if is_dict(headers) and headers.get("X-Stainless-Raw-Response") == "stream":
            return  # its reader takes the bytes as they come: nothing can be hidden from it
        changed: dict[str, Any] = dict(options.json_data)
        changed["stream_options"] = {**asked, "include_usage": True}
        call.hide_usage_chunk = True
        options.json_data = changed

    def refused(self, call: ModelCall, client: Any, error: BaseException) -> None:
        """A server that refuses ``stream_options`` is not sent it again."""
        status = getattr(error, "status_code", None)
        if call.hide_usage_chunk and status in (400, 422) and "stream_options" in str(error):
            self._refusing.add(str(client.base_url.host))


@lru_cache(maxsize=1_024)
def streams_usage(host: str) -> bool:
    """Whether a server may be asked for a stream's usage: a known one, or one of one's own."""
    for known in _KNOWN_TO_STREAM_USAGE:
        if host == known or (known[0] == "." and host.endswith(known)):
            return True
    return is_own(host)


class OpenAIInstrumentor(SdkInstrumentor):
    """Records every model call made through the ``openai`` package: chat completions, responses
    (and fetching them), embeddings and legacy completions."""

    package = "openai"
    scope = semconv.SCOPE_OPENAI
    versions = "openai >= 1.40, < 4"
    make_sdk = OpenAISdk

    def patch(self, sdk: OpenAISdk, patches: Patches) -> str:
        """Put the wrappers on; returns why the SDK cannot be instrumented, or nothing."""
        client = "openai._base_client"
        if not patches.wrap(client, "SyncAPIClient.request", sdk.call):
            return "this version of openai has no SyncAPIClient.request"
        sdk.known_streams = known_streams(patches)
        sdk.wrap_others(patches, self.package)
        # The helpers: with all that the Responses API sends some 60 ms to load, and the SDK waits.
        helper = "openai.lib.streaming.responses._responses"
        patches.wrap_later(helper, "ResponseStream.close", helper_close(sdk.close))
        patches.wrap_later(helper, "AsyncResponseStream.close", helper_close(sdk.aclose))
        helper = "openai.lib.streaming.chat._completions"
        patches.wrap_later(helper, "ChatCompletionStream.close", helper_close(sdk.close))
        patches.wrap_later(helper, "AsyncChatCompletionStream.close", helper_close(sdk.aclose))
        patch_connections(sdk, patches, sdk.responses)
        return ""


def known_streams(patches: Patches) -> set[Any]:
    """The stream classes that read from an ``_iterator`` of theirs, which is what we replace."""
    known: set[Any] = set()
    for name, step in (("Stream", "__next__"), ("AsyncStream", "__anext__")):
        kind: Any = getattr(import_module("openai"), name, None)
        code = getattr(getattr(kind, step, None), "__code__", None)
        if code is not None and "_iterator" in code.co_names:
            known.add(kind)
        else:
            patches.missing.append(f"openai:{name}._iterator")
    return known
