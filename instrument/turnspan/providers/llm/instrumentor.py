"""Instrumentation of the package ``llm``: each response of a model is one model call, whatever
plugin makes it, and each tool that it runs is an executed tool.

A plugin may call an SDK that is instrumented: its call is the exact one, and is recorded with what
``llm`` knows of it. Where it sends its requests itself, or runs the model, the response is recorded
by what ``llm`` knows. Responses are made when somebody reads them, so their iterators are wrapped.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from typing import Any, Final

from opentelemetry.trace import Tracer

from turnspan import config, semconv
from turnspan.patching.instrumentor import SdkInstrumentor
from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.patching.stream import RECORD
from turnspan.providers.llm import consortium
from turnspan.providers.llm.open_response import Making
from turnspan.providers.llm.tools import after_tools, with_hooks
from turnspan.runtime.guard import guard
from turnspan.tracing.model_call import ABANDONED, COMPLETE

_BEGIN: Final = guard("llm.begin")
_MODELS: Final = "llm.models"


class LlmSdk:
    """The wrappers of one instrumentation."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.enabled = True
        self.consortia = consortium.Consortia(lambda: self.enabled)

    def _begin(self, response: Any) -> Making | None:
        with _BEGIN:
            if self.enabled and not response._done and config.active().enabled:
                return Making(self.tracer, response)
        return None

    # -- responses

    def pieces(
        self, wrapped: Function, response: Any, args: Args, kwargs: Kwargs
    ) -> Generator[Any]:
        """Around ``Response.__iter__`` and ``stream_events``."""
        return self._followed(wrapped(*args, **kwargs), response)

    def _followed(self, inner: Generator[Any], response: Any) -> Generator[Any]:
        making = self._begin(response)  # only now: it may never be read
        yield from inner if making is None else _followed(inner, making)

    def apieces(
        self, wrapped: Function, response: Any, args: Args, kwargs: Kwargs
    ) -> AsyncGenerator[Any]:
        """Around ``AsyncResponse.astream_events``."""
        return self._afollowed(wrapped(*args, **kwargs), response)

    async def _afollowed(self, inner: AsyncGenerator[Any], response: Any) -> AsyncGenerator[Any]:
        making = self._begin(response)
        async with aclosing(inner if making is None else _afollowed(inner, making)) as pieces:
            async for piece in pieces:
                yield piece

    def apiece(self, wrapped: Function, response: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``AsyncResponse.__anext__``."""
        making: Making | None = None
        with _BEGIN:
            making = response.__dict__.get(RECORD)
            if making is None:
                making = self._begin(response)
                if making is not None:
                    response.__dict__[RECORD] = making
        return wrapped(*args, **kwargs) if making is None else _apiece(wrapped, response, making)

    # -- tools

    def tools(self, wrapped: Function, response: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``Response.execute_tool_calls``."""
        hooks, kwargs = with_hooks(self, response, kwargs)
        try:
            return wrapped(*args, **kwargs)
        except BaseException as error:
            after_tools(hooks, error)
            raise

    async def atools(self, wrapped: Function, response: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``AsyncResponse.execute_tool_calls``."""
        hooks, kwargs = with_hooks(self, response, kwargs)
        try:
            return await wrapped(*args, **kwargs)
        except BaseException as error:
            after_tools(hooks, error)
            raise


def _followed(inner: Generator[Any], making: Making) -> Generator[Any]:
    """What ``inner`` gives, each piece fetched within the making."""
    try:
        while True:
            entered = making.enter()
            try:
                piece = next(inner)
            except StopIteration:
                break
            finally:
                making.leave(entered)
            making.came(piece)
            yield piece
    except GeneratorExit:
        making.finish(ABANDONED)
        inner.close()
        raise
    except BaseException as error:
        making.finish("", error)
        raise
    making.finish(COMPLETE)


async def _afollowed(inner: AsyncGenerator[Any], making: Making) -> AsyncGenerator[Any]:
    """``_followed`` for an asynchronous generator."""
    try:
        while True:
            entered = making.enter()
            try:
                piece = await inner.__anext__()
            except StopAsyncIteration:
                break
            finally:
                making.leave(entered)
            making.came(piece)
            yield piece
    except GeneratorExit:
        making.finish(ABANDONED)
        await inner.aclose()
        raise
    except BaseException as error:
        making.finish("", error)
        raise
    making.finish(COMPLETE)


async def _apiece(wrapped: Function, response: Any, making: Making) -> Any:
    """One piece of an asynchronous response."""
    entered = making.enter()
    try:
        piece = await wrapped()
    except StopAsyncIteration:
        making.leave(entered)
        _forget(response, making, COMPLETE, None)
        raise
    except BaseException as error:
        making.leave(entered)
        _forget(response, making, "", error)
        raise
    making.leave(entered)
    making.came(piece)
    return piece


def _forget(response: Any, making: Making, outcome: str, error: BaseException | None) -> None:
    making.finish(outcome, error)
    with _BEGIN:
        response.__dict__.pop(RECORD, None)


class LlmInstrumentor(SdkInstrumentor):
    """Records every response of ``llm``'s models, and the tools that they run."""

    package = "llm"
    scope = semconv.SCOPE_LLM
    versions = "llm >= 0.20, < 1"
    make_sdk = LlmSdk

    def patch(self, sdk: LlmSdk, patches: Patches) -> str:
        """Put the wrappers on; returns why ``llm`` cannot be instrumented, or nothing."""
        if not patches.has(_MODELS, "Response.__iter__", "AsyncResponse.__anext__"):
            return "this version of llm has no responses that can be followed"
        patches.wrap(_MODELS, "Response.__iter__", sdk.pieces)
        patches.wrap(_MODELS, "AsyncResponse.__anext__", sdk.apiece)
        if patches.has(_MODELS, "Response.stream_events"):  # since 0.32
            patches.wrap(_MODELS, "Response.stream_events", sdk.pieces)
            patches.wrap(_MODELS, "AsyncResponse.astream_events", sdk.apieces)
        if patches.has(_MODELS, "Response.execute_tool_calls"):  # since 0.26
            patches.wrap(_MODELS, "Response.execute_tool_calls", sdk.tools)
            patches.wrap(_MODELS, "AsyncResponse.execute_tool_calls", sdk.atools)
        patches.when_imported(consortium.MODULE, lambda: sdk.consortia.patch(patches))
        return ""
