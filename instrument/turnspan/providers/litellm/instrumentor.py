"""Instrumentation of LiteLLM: one call of its functions is one model call, whatever makes it.

LiteLLM calls other SDKs or sends requests itself; what these would record of the same call is left
out. Its functions are found by name, so they are replaced in every module that has imported them;
streams are its own objects, whose class is wrapped. LiteLLM's trying again is one call, and so is
the Router's as long as it goes to the same model of the same provider.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.trace import Tracer

from turnspan import config, semconv
from turnspan.patching.frame import Frame
from turnspan.patching.instrumentor import SdkInstrumentor
from turnspan.patching.models_on_the_wire import INSIDE
from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.patching.stainless import closed
from turnspan.patching.stream import RECORD, StreamRecord
from turnspan.providers.litellm.calls import PARAMETERS, body_of, endpoints
from turnspan.providers.litellm.names import Served, served_by, where_of
from turnspan.providers.litellm.retries import Retries, current_retries
from turnspan.providers.openai.instrumentor import streams_usage
from turnspan.runtime.guard import guard
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.begin_call import begin, current_call
from turnspan.tracing.model_call import COMPLETE, ModelCall

_ASKED: Final = guard("litellm.stream_usage")
_SERVED: Final = guard("litellm.served")
_FOLD: Final = guard("litellm.fold")
_FINISH: Final = guard("litellm.finish")

_STREAMS: Final = (
    ("litellm.litellm_core_utils.streaming_handler", "CustomStreamWrapper"),
    ("litellm.utils", "CustomStreamWrapper"),
)
_TEXT_STREAM: Final = "TextCompletionStreamWrapper"
_SPEAK_OPENAI: Final = frozenset(
    {
        *("openai", "azure", "custom_openai", "openai_like", "hosted_vllm", "llamafile"),
        *("lm_studio", "deepseek", "groq", "xai", "openrouter", "together_ai", "fireworks_ai"),
        "cerebras",
    }
)
"""Providers whose streams carry token usage only where it is asked for."""
_USAGE: Final = {"include_usage": True}


@dataclass(slots=True)
class Begun:
    """A call under way."""

    call: ModelCall
    served: Served
    asked: bool = False
    """Whether it asks for a stream's usage, and the caller did not."""


class LiteLLMFunction(Frame[Begun]):
    """The wrapper of one of LiteLLM's functions."""

    place = "litellm"

    def __init__(self, sdk: LiteLLMSdk, entry: str) -> None:
        self._sdk = sdk
        self._entry = entry
        self._endpoint = sdk.endpoints[entry]

    def _begin(self, owner: Any, args: Args, kwargs: Kwargs) -> tuple[Begun, Kwargs] | None:
        sdk, entry, endpoint = self._sdk, self._entry, self._endpoint
        if not sdk.enabled:
            return None
        running = current_call()
        if running is not None and running.gateway:
            own = running.endpoint.operation
            if entry == "completion" and own == semconv.OP_CHAT:  # LiteLLM itself, on its way
                running.attempts += 1
                running.tries = max(running.tries, running.attempts)
            return None
        if kwargs.get("acompletion") or kwargs.get("aembedding") or kwargs.get("fallbacks"):
            return None  # what these lead to is recorded
        body = body_of(entry, args, kwargs)
        served = served_by(body.get("model"), kwargs)
        retries = current_retries()
        call = None if retries is None else retries.again(served)
        stream = body.get("stream") is True
        if call is None:
            body["model"] = served.model
            target = {semconv.PROVIDER_NAME: served.provider, **served.where}
            call = begin(sdk.tracer, endpoint, target, body, stream=stream)
        if call is None:
            return None
        call.gateway = True
        call.attempts = 0 if entry[0] == "a" else 1
        begun = Begun(call, served)
        if stream and endpoint.operation == semconv.OP_CHAT:
            with _ASKED:
                kwargs = self._asking_for_usage(begun, kwargs)
        call.enter()
        return begun, kwargs

    def _asking_for_usage(self, begun: Begun, kwargs: Kwargs) -> Kwargs:
        """Have the server send a stream's usage where LiteLLM would not ask for it."""
        host = begun.served.where.get(semconv.SERVER_ADDRESS, "")
        if kwargs.get("stream_options") is not None or host in self._sdk.refusing:
            return kwargs
        if begun.served.name not in _SPEAK_OPENAI or not config.active().request_stream_usage:
            return kwargs
        begun.asked = bool(host) and streams_usage(host)
        return {**kwargs, "stream_options": dict(_USAGE)} if begun.asked else kwargs

    def _failed(self, begun: Begun, owner: Any, error: BaseException) -> None:
        call = begun.call
        call.leave()
        if begun.asked and "stream_options" in str(error):
            self._sdk.refusing.add(begun.served.where.get(semconv.SERVER_ADDRESS, ""))
        retries = current_retries()
        if retries is not None and isinstance(error, Exception):
            retries.hold(call, begun.served, error)
        else:
            call.failed(error)

    def _answered(self, begun: Begun, result: Any) -> None:
        call = begun.call
        if begun.asked:  # LiteLLM has asked; to the caller it is as if nobody had
            with _ASKED:
                result.stream_options, result.send_stream_usage = None, False
        try:
            call.leave()
        finally:
            hidden = getattr(result, "_hidden_params", None)
            if is_dict(hidden) and call.recording:
                with _SERVED:
                    _say_where(call, begun.served, hidden)
            if call.stream and hasattr(result, "completion_stream"):
                _follow(call, result)
            else:
                call.succeeded(result)

    def _unsettled(self, begun: Begun, result: Any) -> None:
        begun.call.close(None)


class LiteLLMSdk:
    """The wrappers of one instrumentation."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.enabled = True
        self.endpoints = endpoints()
        self.refusing: set[str] = set()
        """Servers that refuse to be asked for a stream's usage."""

    # -- streams

    def next(self, wrapped: Function, stream: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``__next__`` of LiteLLM's streams."""
        record: StreamRecord | None = stream.__dict__.get(RECORD)
        if record is None:
            return wrapped(*args, **kwargs)
        token = INSIDE.set(record.call or True) if record.accumulator.first is None else None
        try:
            chunk = wrapped(*args, **kwargs)
        except BaseException as error:
            with _FINISH:
                _over(record, error, StopIteration)
            raise
        finally:
            if token is not None:
                INSIDE.reset(token)
        with _FOLD:
            record.fold(chunk)
        return chunk

    def anext(self, wrapped: Function, stream: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``__anext__``."""
        record: StreamRecord | None = stream.__dict__.get(RECORD)
        if record is None:
            return wrapped(*args, **kwargs)
        return self._anext(wrapped, record, args, kwargs)

    async def _anext(
        self, wrapped: Function, record: StreamRecord, args: Args, kwargs: Kwargs
    ) -> Any:
        token = INSIDE.set(record.call or True) if record.accumulator.first is None else None
        try:
            chunk = await wrapped(*args, **kwargs)
        except BaseException as error:
            with _FINISH:
                _over(record, error, StopAsyncIteration)
            raise
        finally:
            if token is not None:
                INSIDE.reset(token)
        with _FOLD:
            record.fold(chunk)
        return chunk

    async def aclose(self, wrapped: Function, stream: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``aclose``."""
        try:
            return await wrapped(*args, **kwargs)
        finally:
            with _FINISH:
                closed(stream)

    # -- the Router

    def retries(self, wrapped: Function, router: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around the Router's synchronous trying again, which older versions have."""
        with Retries():
            return wrapped(*args, **kwargs)

    async def aretries(self, wrapped: Function, router: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around the Router's asynchronous trying again."""
        with Retries():
            return await wrapped(*args, **kwargs)


def _follow(call: ModelCall, stream: Any) -> None:
    record = StreamRecord(call)
    inner = stream if hasattr(stream, "chunks") else stream.completion_stream
    accumulator: Any = record.accumulator
    accumulator.chunks = getattr(inner, "chunks", None)
    stream.__dict__[RECORD] = record
    call.followed = True


def _over(record: StreamRecord, error: BaseException, end: type[BaseException]) -> None:
    if isinstance(error, end):
        record.finish(COMPLETE)
    else:
        record.finish("", error)


def _say_where(call: ModelCall, served: Served, hidden: Mapping[str, Any]) -> None:
    """What is known once LiteLLM has chosen where to send the request."""
    if not served.where:
        for name, value in where_of(hidden.get("api_base")).items():
            call.span.set_attribute(name, value)
    if hidden.get("cache_hit") is True:
        call.span.set_attribute(semconv.RESPONSE_CACHED, True)


class LiteLLMInstrumentor(SdkInstrumentor):
    """Records every chat, text completion and embedding made through LiteLLM."""

    package = "litellm"
    scope = semconv.SCOPE_LITELLM
    versions = "litellm >= 1.55, < 2"
    make_sdk = LiteLLMSdk

    def patch(self, sdk: LiteLLMSdk, patches: Patches) -> str:
        """Put the wrappers on; returns why LiteLLM cannot be instrumented, or nothing."""
        if not patches.has("litellm.main", "completion", "acompletion"):
            return "this version of litellm has no completion"
        for entry in PARAMETERS:
            if patches.has("litellm.main", entry):
                function = LiteLLMFunction(sdk, entry)
                around = function.acall if entry[0] == "a" else function.call
                patches.wrap_everywhere("litellm.main", entry, around)
        for module, name in _STREAMS:
            if patches.has(module, f"{name}.__next__"):
                patches.wrap(module, f"{name}.__next__", sdk.next)
                patches.wrap(module, f"{name}.__anext__", sdk.anext)
                if patches.has(module, f"{name}.aclose"):
                    patches.wrap(module, f"{name}.aclose", sdk.aclose)
                break
        patches.wrap("litellm.utils", f"{_TEXT_STREAM}.__next__", sdk.next)
        patches.wrap("litellm.utils", f"{_TEXT_STREAM}.__anext__", sdk.anext)
        if "litellm.router" in sys.modules:
            patches.wrap("litellm.router", "Router.async_function_with_retries", sdk.aretries)
            if patches.has("litellm.router", "Router.function_with_retries"):
                patches.wrap("litellm.router", "Router.function_with_retries", sdk.retries)
        return ""
