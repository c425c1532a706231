"""Where the OpenAI SDK makes WebSocket connections, the first and those that take its place."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from turnspan import semconv
from turnspan.patching.frame import Frame
from turnspan.patching.models_on_the_wire import INSIDE
from turnspan.patching.patches import Args, Kwargs, Patches
from turnspan.patching.stainless import Sdk
from turnspan.patching.stream import RECORD
from turnspan.providers.openai.realtime import RealtimeResponses
from turnspan.providers.openai.realtime_session import RealtimeSession
from turnspan.providers.openai.responses import Responses
from turnspan.providers.openai.sockets import ResponsesSocket, SocketRecord, follow
from turnspan.tracing.endpoint import Endpoint

_RESOURCES: Final = (
    ("openai.resources.realtime.realtime", "Realtime"),
    ("openai.resources.beta.realtime.realtime", "Realtime"),
    ("openai.resources.responses.responses", "Responses"),
    ("openai.resources.beta.responses.responses", "Responses"),
)


@dataclass(eq=False)
class ConnectFrame(Frame[Any]):
    """Around what connects."""

    place = "connect"
    sdk: Sdk
    record: type[SocketRecord]
    endpoint: Endpoint

    def _begin(self, owner: Any, args: Args, kwargs: Kwargs) -> tuple[Any, Kwargs] | None:
        own: dict[str, Any] = owner.__dict__
        private = f"_{type(owner).__name__}__"
        query: dict[str, Any] = own.get(f"{private}extra_query") or {}
        if not self.sdk.enabled or query.get("intent") == "transcription":  # without responses
            return None
        target = dict(self.sdk.target_of(own[f"{private}client"], owner._prepare_url()))
        model = own.get(f"{private}model")
        if isinstance(model, str):
            target.setdefault(semconv.REQUEST_MODEL, model)
        record = self.record(self.sdk, self.endpoint, target)
        if RECORD in own:
            record.session = own[RECORD].session
        own[RECORD] = record
        return (record, INSIDE.set(True)), kwargs

    def _failed(self, call: Any, owner: Any, error: BaseException) -> None:
        self._unsettled(call, error)

    def _unsettled(self, call: Any, result: Any) -> None:
        # Where it stays set, no later request counts. A coroutine may have been closed in another
        # context; and `_answered` may have failed behind its own reset.
        with contextlib.suppress(ValueError, RuntimeError):
            INSIDE.reset(call[1])

    def _answered(self, call: Any, result: Any) -> None:
        INSIDE.reset(call[1])
        follow(getattr(result, "_connection", result), call[0])


def patch_connections(sdk: Sdk, patches: Patches, responses: Responses) -> None:
    """Put the wrappers on what connects, as soon as the SDK has loaded it."""
    frames = {
        "Realtime": ConnectFrame(sdk, RealtimeSession, RealtimeResponses()),
        "Responses": ConnectFrame(sdk, ResponsesSocket, responses),
    }
    for module, name in _RESOURCES:
        patches.when_imported(module, partial(_patch, patches, module, name, frames[name]))


def _patch(patches: Patches, module: str, name: str, frame: ConnectFrame) -> None:
    for manager, enter, around in (
        (f"{name}ConnectionManager", "__enter__", frame.call),
        (f"Async{name}ConnectionManager", "__aenter__", frame.acall),
    ):
        connect = f"{manager}._connect_ws"
        both = (f"{manager}.{enter}", f"{manager}.enter")
        for path in (connect,) if patches.has(module, connect) else both:
            if patches.has(module, path):  # older versions have no such connections
                patches.wrap(module, path, around)
