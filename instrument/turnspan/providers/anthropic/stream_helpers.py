"""Stream helpers of older Anthropic SDKs, which take a stream's response and leave the stream.

``messages.stream()`` of these makes a raw stream, then one of its own over the same response, and
drops the first. What follows the first is moved to the second. Newer helpers keep the raw stream.
"""

from __future__ import annotations

import weakref
from typing import Any, Final

from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.patching.stainless import Sdk, helper_close
from turnspan.patching.stream import RECORD, StreamRecord, afolded, folded, record_of
from turnspan.runtime.guard import guard

_MOVE = guard("anthropic.stream_helper")

_STREAM = "_turnspan_stream"
"""The attribute of a response that refers to the stream which was made of it."""

_HELPERS: Final = (
    ("anthropic.lib.streaming._messages", "MessageStream"),
    ("anthropic.lib.streaming._prompt_caching_beta_messages", "PromptCachingBetaMessageStream"),
)


class OldHelpers:
    """The wrappers for stream helpers that drop the stream."""

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
