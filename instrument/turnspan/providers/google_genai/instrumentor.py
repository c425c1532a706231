"""Instrumentation of the ``google-genai`` SDK: Gemini by Google's API or by Vertex.

Every call of ``models``, ``chats`` and ``aio`` goes through four methods of the SDK's API client,
one request each, also where the SDK itself calls functions and asks again. So these are wrapped;
bodies are those of the wire.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final
from urllib.parse import urlsplit

from opentelemetry.trace import Tracer

from turnspan import semconv
from turnspan.content.snapshot import freeze
from turnspan.patching.instrumentor import SdkInstrumentor
from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.patching.stainless import Sdk
from turnspan.patching.stream import StreamRecord, afolded, folded
from turnspan.providers.google_genai.content import GenerateContent, body_of
from turnspan.providers.google_genai.embeddings import GeminiEmbeddings, embeds
from turnspan.providers.google_genai.interaction_calls import patch_interactions
from turnspan.providers.google_genai.tools import AutomaticFunctions
from turnspan.providers.hosts import call_target
from turnspan.runtime.guard import errors, guard
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.begin_call import begin, current_call
from turnspan.tracing.model_call import ModelCall

_CLIENT: Final = "google.genai._api_client"
_OWNERS: Final = ("BaseApiClient", "ApiClient")
"""The API client in newer and in older versions."""
_END: Final = object()

_BEFORE: Final = guard("google.before_call")
_FAILED: Final = guard("google.call_failed")
_LEAVE: Final = guard("google.leave")
_TRY: Final = guard("google.try")


class GoogleSdk(Sdk):
    """The Google GenAI SDK."""

    def __init__(self, tracer: Tracer) -> None:
        content, embeddings = GenerateContent(), GeminiEmbeddings()
        super().__init__(
            tracer,
            {
                "generateContent": content,
                "streamGenerateContent": content,
                "embedContent": embeddings,
                "batchEmbedContents": embeddings,
                "predict": embeddings,
            },
        )

    def _begin(
        self, client: Any, args: Args, kwargs: Kwargs, *, stream: bool = False
    ) -> tuple[ModelCall, Kwargs] | None:
        if not self.enabled:
            return None
        path = args[1] if len(args) > 1 else kwargs["path"]
        body = args[2] if len(args) > 2 else kwargs["request_dict"]
        model, _, method = str(path).partition("?")[0].rpartition(":")
        endpoint = self._endpoints.get(method)
        if endpoint is None or not is_dict(body) or (method == "predict" and not embeds(body)):
            return None
        options = args[3] if len(args) > 3 else kwargs.get("http_options")
        target = {**_target(client, options), semconv.REQUEST_MODEL: _model_of(model)}
        if stream:
            target[semconv.REQUEST_STREAM] = True
        sent = _merged(client, options, body)
        call = begin(self.tracer, endpoint, target, sent, stream=stream)
        if call is None:
            return None
        with _BEFORE:
            call.enter()
        return call, kwargs

    def _answered(self, call: ModelCall, result: Any) -> None:
        try:
            call.leave()
        finally:
            body = body_of(result) if call.wants_response else None
            call.close(body, body)

    # -- streams: one that is made at its first step, and one that is awaited

    def streamed(self, wrapped: Function, client: Any, args: Args, kwargs: Kwargs) -> Iterator[Any]:
        """Around ``request_streamed``, a generator: nothing is sent before its first step."""
        call: ModelCall | None = None
        with _BEFORE:
            call = self._begin_stream(client, args, kwargs)
        inner: Iterator[Any] = wrapped(*args, **kwargs)
        if call is None:
            yield from inner
            return
        try:
            first = next(inner, _END)
        except BaseException as error:
            with _FAILED:
                self._failed(call, client, error)
            raise
        whole = _from(first, inner)
        followed: Iterator[Any] = whole
        try:
            followed = folded(whole, _followed(call))
        except BaseException as error:  # noqa: BLE001  ours, never the caller's
            errors.record("google.call_answered", error)
            with _LEAVE:
                call.close(None)
        yield from followed

    async def astreamed(self, wrapped: Function, client: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``async_request_streamed``, which gives a generator once the answer begins."""
        call: ModelCall | None = None
        with _BEFORE:
            call = self._begin_stream(client, args, kwargs)
        if call is None:
            return await wrapped(*args, **kwargs)
        try:
            result = await wrapped(*args, **kwargs)
        except BaseException as error:
            with _FAILED:
                self._failed(call, client, error)
            raise
        try:
            return afolded(result, _followed(call))
        except BaseException as error:  # noqa: BLE001  ours, never the caller's
            errors.record("google.call_answered", error)
            with _LEAVE:
                call.close(None)
        return result

    def _begin_stream(self, client: Any, args: Args, kwargs: Kwargs) -> ModelCall | None:
        begun = self._begin(client, args, kwargs, stream=True)
        return None if begun is None else begun[0]

    def sent(self, wrapped: Function, client: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around the sending of one request, which the SDK repeats when it tries again."""
        with _TRY:
            call = current_call()
            if call is not None:
                call.attempts += 1
                call.tries = max(call.tries, call.attempts)
        return wrapped(*args, **kwargs)


def _followed(call: ModelCall) -> StreamRecord:
    """The record of a stream whose answer has begun."""
    with _LEAVE:
        call.leave()
    record = StreamRecord(call)
    call.followed = True
    return record


def _from(first: Any, rest: Iterator[Any]) -> Iterator[Any]:
    if first is not _END:
        yield first
    yield from rest


def _model_of(path: str) -> str:
    """The model in a path such as ``publishers/google/models/gemini-3``; an endpoint's as it is."""
    before, _, name = path.rpartition("models/")
    return name if not before or before.endswith("/") else path


def _target(client: Any, options: Any) -> dict[str, Any]:
    """The attributes of provider and server."""
    provider = "gcp.vertex_ai" if getattr(client, "vertexai", False) else "gcp.gemini"
    url = urlsplit(_base_url(options) or _base_url(getattr(client, "_http_options", None)))
    if not url.hostname:
        return {semconv.PROVIDER_NAME: provider}
    return call_target(provider, url.hostname, url.port, url.scheme)


def _merged(client: Any, options: Any, body: dict[str, Any]) -> dict[str, Any]:
    """What is sent: the SDK puts ``extra_body`` into the request, by a function of its own."""
    extra = _extra(options) or _extra(getattr(client, "_http_options", None))
    if not is_dict(extra) or not extra:
        return body
    sent: dict[str, Any] = freeze(body)
    import_module("google.genai._common").recursive_dict_update(sent, freeze(extra))
    return sent


def _extra(options: Any) -> Any:
    if is_dict(options):
        return options.get("extra_body", options.get("extraBody"))
    return getattr(options, "extra_body", None)


def _base_url(options: Any) -> str:
    found = options.get("base_url") if is_dict(options) else getattr(options, "base_url", None)
    return found if isinstance(found, str) else ""


class GoogleGenAIInstrumentor(SdkInstrumentor):
    """Records every call of Gemini made through the ``google-genai`` package, and the functions
    that it calls by itself."""

    package = "google.genai"
    distribution = "google-genai"
    scope = semconv.SCOPE_GOOGLE_GENAI
    versions = "google-genai >= 1.0, < 4"
    make_sdk = GoogleSdk

    def patch(self, sdk: GoogleSdk, patches: Patches) -> str:
        """Put the wrappers on; returns why the SDK cannot be instrumented, or nothing."""
        owner = next((name for name in _OWNERS if patches.has(_CLIENT, f"{name}.request")), "")
        if not owner:
            return "this version of google-genai has no BaseApiClient.request"
        patches.wrap(_CLIENT, f"{owner}.request", sdk.call)
        patches.wrap(_CLIENT, f"{owner}.async_request", sdk.acall)
        patches.wrap(_CLIENT, f"{owner}.request_streamed", sdk.streamed)
        patches.wrap(_CLIENT, f"{owner}.async_request_streamed", sdk.astreamed)
        for name in ("_request_once", "_async_request_once"):
            if patches.has(_CLIENT, f"{owner}.{name}"):  # older versions try once
                patches.wrap(_CLIENT, f"{owner}.{name}", sdk.sent)
        AutomaticFunctions(sdk).patch(patches)
        patch_interactions(sdk, patches)
        return ""
