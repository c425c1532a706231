"""The wrappers around ``client.interactions``, which the SDK calls by a generated client.

A method of it knows how a call ends, a stream or raw response or an error read from the body; the
bytes that are sent only the function below it knows, so the call begins there.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Final

import orjson

from turnspan import semconv
from turnspan.patching.frame import Frame
from turnspan.patching.patches import Args, Kwargs, Patches
from turnspan.patching.stainless import Sdk
from turnspan.patching.stream import attach, attach_raw, is_raw
from turnspan.providers.background import FetchResponse
from turnspan.providers.google_genai.interactions import Interactions
from turnspan.providers.hosts import call_target
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.begin_call import begin
from turnspan.tracing.endpoint import Endpoint
from turnspan.tracing.model_call import ModelCall

_CLIENT: Final = "google.genai._gaos"


@dataclass(slots=True)
class _PendingCall:
    """What a method asks for, and the call that its request turned out to be."""

    endpoint: Endpoint
    body: dict[str, Any] | None
    model_call: ModelCall | None = None
    response: Any = None


_pending: ContextVar[_PendingCall | None] = ContextVar("turnspan-interaction", default=None)


class SentInteractions(Frame[_PendingCall]):
    """Around the sending of a request, with all its tries."""

    place = "google.interaction"

    def __init__(self, sdk: Sdk) -> None:
        self._sdk = sdk

    def _begin(self, owner: Any, args: Args, kwargs: Kwargs) -> tuple[_PendingCall, Kwargs] | None:
        pending = _pending.get()
        if pending is None:
            return None
        _pending.set(None)
        request: Any = kwargs["request"]
        body = orjson.loads(request.content) if pending.body is None else pending.body
        if not is_dict(body):
            return None
        url = request.url
        provider = "gcp.vertex_ai" if "/projects/" in url.path else "gcp.gemini"
        target = call_target(provider, url.host, url.port, url.scheme)
        stream = body.get("stream") is True
        if stream:
            target[semconv.REQUEST_STREAM] = True
        call = begin(self._sdk.tracer, pending.endpoint, target, body, stream=stream)
        if call is None:
            return None
        pending.model_call = call
        call.enter()
        return pending, kwargs

    def _failed(self, call: _PendingCall, owner: Any, error: BaseException) -> None:
        self._answered(call, None)

    def _answered(self, call: _PendingCall, result: Any) -> None:
        call.response = result
        if call.model_call is not None:
            call.model_call.leave()


class InteractionCalls(Frame[_PendingCall]):
    """Around a method of ``client.interactions``."""

    place = "google.interactions"

    def __init__(self, sdk: Sdk, endpoint: Endpoint) -> None:
        self._sdk = sdk
        self._endpoint = endpoint

    def _begin(self, owner: Any, args: Args, kwargs: Kwargs) -> tuple[_PendingCall, Kwargs] | None:
        if not self._sdk.enabled:
            return None
        body: dict[str, Any] | None = None
        if isinstance(self._endpoint, FetchResponse):
            body = {
                "response_id": args[0] if args else kwargs["id"],
                "starting_after": kwargs.get("last_event_id"),
                "stream": kwargs.get("stream"),
            }
        pending = _PendingCall(self._endpoint, body)
        _pending.set(pending)
        return pending, kwargs

    def _failed(self, call: _PendingCall, owner: Any, error: BaseException) -> None:
        _pending.set(None)
        if call.model_call is not None:
            call.model_call.failed(error)

    def _answered(self, call: _PendingCall, result: Any) -> None:
        _pending.set(None)
        model_call = call.model_call
        if model_call is None:
            return
        if is_raw(result):
            attach_raw(result, model_call)
        elif "generator" in result.__dict__:
            attach(result, model_call)
        else:
            body = orjson.loads(call.response.content) if model_call.wants_response else None
            model_call.close(body, body)

    def _unsettled(self, call: _PendingCall, result: Any) -> None:
        if call.model_call is not None:
            call.model_call.close(None)


def patch_interactions(sdk: Any, patches: Patches) -> None:
    """Put the wrappers on a ``GoogleSdk``'s interactions, which it imports when they are used."""
    older = find_spec("google.genai._interactions") is not None
    if older and find_spec(_CLIENT) is None:  # 1.55 to 2.9 have another client
        patches.missing.append(f"{_CLIENT}.interactions:Interactions.create")
        return
    interactions, sent = Interactions(), SentInteractions(sdk)
    frames = {
        "create": InteractionCalls(sdk, interactions),
        "get": InteractionCalls(sdk, FetchResponse(interactions)),
        "cancel": InteractionCalls(sdk, FetchResponse(interactions, semconv.OP_CANCEL_RESPONSE)),
    }
    for name, frame in frames.items():
        patches.wrap_later(f"{_CLIENT}.interactions", f"Interactions.{name}", frame.call)
        patches.wrap_later(f"{_CLIENT}.interactions", f"AsyncInteractions.{name}", frame.acall)
    hooks, answers = f"{_CLIENT}._hooks", f"{_CLIENT}.utils.response_helpers"
    streams = f"{_CLIENT}.utils.eventstreaming"
    for module, path, wrapper in (
        (f"{_CLIENT}.basesdk", "BaseSDK.do_request", sent.call),
        (f"{_CLIENT}.basesdk", "AsyncBaseSDK.do_request_async", sent.acall),
        (f"{hooks}.sdkhooks", "SDKHooks.before_request", sdk.sent),
        (f"{hooks}.asyncsdkhooks", "AsyncSDKHooks.before_request", sdk.sent),
        (streams, "Stream.close", sdk.close),
        (streams, "AsyncStream.close", sdk.aclose),
        (answers, "_APIResponseBase.close", sdk.close),
        (answers, "_AsyncAPIResponseBase.close", sdk.aclose),
        *((answers, f"{name}.parse", sdk.parse) for name in ("APIResponse", "StreamedAPIResponse")),
        (answers, "AsyncAPIResponse.parse", sdk.aparse),
        (answers, "AsyncStreamedAPIResponse.parse", sdk.aparse),
    ):
        patches.wrap_later(module, path, wrapper)
