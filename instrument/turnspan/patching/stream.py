"""Streams: the SDK's own object, with its iterator replaced by one that folds what passes.

The caller keeps the SDK's type with every attribute and method. The span is current only while the
stream is being created, never across the caller's loop; it ends when the stream does: read to the
end, raised, cancelled, closed, or dropped without a word (``__del__`` of the record that the stream
and its iterator hold). There is no cycle: a dropped stream is collected at once.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, cast

from turnspan.runtime.guard import errors, guard
from turnspan.tracing.endpoint import Accumulator
from turnspan.tracing.model_call import ABANDONED, COMPLETE, ModelCall

RECORD = "_turnspan_record"
"""The attribute of a stream or raw response that holds its record."""

_FOLD = guard("stream.fold")
_FINISH = guard("stream.finish")


class StreamRecord:
    """One stream's call and what has arrived so far."""

    call: ModelCall | None = None
    """``None`` once it has ended."""

    def __init__(self, call: ModelCall) -> None:
        self.accumulator = call.endpoint.accumulator()
        self.hide = call.hide_usage_chunk
        call.chunks = call.state.metrics.chunk_clock()
        self.fold = _folding(self.accumulator, call.chunks)
        call.streams(self.accumulator.response)
        self.call = call

    def broken(self, error: BaseException, chunk: Any) -> bool:
        """Folding a chunk failed; true if the chunk must stay hidden all the same."""
        errors.record("stream.fold", error)
        return self.hide and usage_only(chunk)

    def finish(self, outcome: str, error: BaseException | None = None) -> None:
        """The stream is over; ends the span the first time it is called."""
        call, self.call = self.call, None
        if call is None:
            return
        response: Any = None
        try:
            if outcome == ABANDONED and self.accumulator.done:
                outcome = COMPLETE
            response = self.accumulator.response()
        finally:
            first = self.accumulator.first
            call.close(response, response, error=error, outcome=outcome, first_chunk=first)

    def __del__(self) -> None:
        if self.call is not None:
            with _FINISH:
                self.finish(ABANDONED)


def _folding(accumulator: Accumulator, chunks: array[float] | None) -> Callable[[Any], bool]:
    """What takes the chunks in; notes when each after the first came, where that is wanted."""
    if chunks is None:
        return accumulator.fold

    def timed(chunk: Any) -> bool:
        if accumulator.first is not None:
            chunks.append(time.perf_counter())
        return accumulator.fold(chunk)

    return timed


def usage_only(chunk: Any) -> bool:
    """Whether an OpenAI chunk carries nothing but the usage that was asked for."""
    return not chunk.choices and chunk.usage is not None


def folded(inner: Iterator[Any], record: StreamRecord) -> Iterator[Any]:
    """What ``inner`` gives, folded in passing."""
    fold = record.fold
    hide = record.hide
    try:
        for chunk in inner:
            try:
                if fold(chunk) and hide:
                    continue
            except BaseException as error:  # noqa: BLE001  ours, never the caller's
                hidden = False
                with _FOLD:
                    hidden = record.broken(error, chunk)
                if hidden:
                    continue
            yield chunk
    except GeneratorExit:
        with _FINISH:
            record.finish(ABANDONED)
        close = getattr(inner, "close", None)
        if close is not None:
            close()
        raise
    except BaseException as error:
        with _FINISH:
            record.finish("", error)
        raise
    with _FINISH:
        record.finish(COMPLETE)


async def afolded(inner: AsyncIterator[Any], record: StreamRecord) -> AsyncIterator[Any]:
    """``folded`` for an asynchronous stream."""
    fold = record.fold
    hide = record.hide
    try:
        async for chunk in inner:
            try:
                if fold(chunk) and hide:
                    continue
            except BaseException as error:  # noqa: BLE001  ours, never the caller's
                hidden = False
                with _FOLD:
                    hidden = record.broken(error, chunk)
                if hidden:
                    continue
            yield chunk
    except GeneratorExit:
        with _FINISH:
            record.finish(ABANDONED)
        close = getattr(inner, "aclose", None)
        if close is not None:
            await close()
        raise
    except BaseException as error:
        with _FINISH:
            record.finish("", error)
        raise
    with _FINISH:
        record.finish(COMPLETE)


def attach(stream: Any, call: ModelCall) -> None:
    """Follow the stream that a call returned.

    Raises ``AttributeError`` where the SDK's stream is not what we know, with nothing changed.
    """
    own = stream.__dict__
    name = "generator" if "generator" in own else "_iterator"
    inner = getattr(stream, name)
    record = StreamRecord(call)
    asynchronous = hasattr(inner, "__anext__")
    replacement: Any = afolded(inner, record) if asynchronous else folded(inner, record)
    own[RECORD] = record
    setattr(stream, name, replacement)
    call.followed = True


def hide_usage_chunks(stream: Any) -> None:
    """Where the recording failed: the chunk that we asked for stays hidden even so."""
    inner = stream._iterator

    def shown() -> Iterator[Any]:
        for chunk in inner:
            if not usage_only(chunk):
                yield chunk

    async def ashown() -> AsyncIterator[Any]:
        async for chunk in inner:
            if not usage_only(chunk):
                yield chunk

    stream._iterator = ashown() if hasattr(inner, "__anext__") else shown()


class RawRecord:
    """A raw response that the caller reads on its own: its call waits for the body."""

    _call: ModelCall | None = None

    def __init__(self, call: ModelCall, response: Any) -> None:
        self._response = response
        self._call = call

    def parsed(self, result: Any) -> None:
        """The caller had the body parsed: a stream to follow, or the whole response."""
        call, self._call = self._call, None
        if call is None:
            return
        if call.stream:
            attach(result, call)
        else:
            call.succeeded(result)

    def finish(self, outcome: str) -> None:
        """The response was closed or dropped; records the body if it was read."""
        call, self._call = self._call, None
        if call is None:
            return
        response: Any = None
        try:
            if self._response.is_stream_consumed:
                outcome = COMPLETE if call.stream else ""
                if not call.stream:
                    response = _json(self._response)
        finally:
            call.close(response, response, outcome=outcome)

    def __del__(self) -> None:
        if self._call is not None:
            with _FINISH:
                self.finish(ABANDONED)


def is_raw(result: Any) -> bool:
    """Whether this is a raw response; not by ``hasattr``, which is slow on a model without it."""
    return "http_response" in getattr(result, "__dict__", ())


def attach_raw(raw: Any, call: ModelCall) -> None:
    """Follow a raw response, which the caller gets untouched."""
    response = raw.http_response
    if not call.stream and response.is_stream_consumed:
        body = _json(response) if call.wants_response else None
        call.close(body, body)
        return
    raw.__dict__[RECORD] = RawRecord(call, response)
    call.followed = True


def _json(response: Any) -> Any:
    import orjson

    try:
        return orjson.loads(response.content)
    except (ValueError, RuntimeError):  # not JSON; or read piece by piece, and not kept
        return None


def record_of(owner: Any) -> StreamRecord | RawRecord | None:
    """The record that ``attach`` or ``attach_raw`` left with a stream or raw response."""
    return cast("StreamRecord | RawRecord | None", owner.__dict__.get(RECORD))
