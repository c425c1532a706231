"""What asks models past the HTTP clients: it is counted, its content is not read.

gRPC, by which older clients of Google ask Gemini; the library ``websockets``; and agents that run
as processes of their own, from which their requests leave.
"""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from turnspan.patching.patches import Args, Function, Kwargs, Patches, Wrapper
from turnspan.runtime.guard import guard
from turnspan.runtime.later import later
from turnspan.wire.gaps import watch

_ASKED: Final = guard("wire.grpc")
_CONNECT: Final = guard("wire.websockets")
_STARTED: Final = guard("unrecorded.seen")
_ASKS: Final = later(
    r"/google\.(?:ai\.generativelanguage|cloud\.aiplatform)\.\w+\.(?:Generative|Prediction)Service/"
    r"(?!Count)\w+"
)
"""Methods of the services that run models."""


def asked(wrapped: Function, method: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around a call of a gRPC method."""
    with _ASKED:
        name = method._method
        name = name.decode() if isinstance(name, bytes) else name
        if _ASKS.match(name):
            target = getattr(method, "_target", b"")
            watch.missed((target.decode() if isinstance(target, bytes) else target) or "Google")
    return wrapped(*args, **kwargs)


def connect(wrapped: Function, protocol: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around the making of a WebSocket's opening request."""
    with _CONNECT:
        uri: Any = protocol.uri
        watch.to_record("WEBSOCKET", uri.host, urlsplit(str(uri.path)).path)
    return wrapped(*args, **kwargs)


def started(wrapped: Function, process: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around the start of a process; one that could not be started is none."""
    result = wrapped(*args, **kwargs)
    with _STARTED:
        watch.started(args[0] if args else kwargs.get("args"))
    return result


_WRAPPERS: Final[dict[str, tuple[Wrapper, tuple[str, ...]]]] = {
    "grpc._channel": (
        asked,
        (
            *("_UnaryUnaryMultiCallable.__call__", "_UnaryUnaryMultiCallable.with_call"),
            *("_UnaryUnaryMultiCallable.future", "_UnaryStreamMultiCallable.__call__"),
            "_SingleThreadedUnaryStreamMultiCallable.__call__",
        ),
    ),
    "grpc.aio._channel": (
        asked,
        ("UnaryUnaryMultiCallable.__call__", "UnaryStreamMultiCallable.__call__"),
    ),
    "websockets.client": (connect, ("ClientProtocol.connect",)),
    "subprocess": (started, ("Popen.__init__",)),
}


def patch(module: str, patches: Patches) -> None:
    """Put the wrappers on a module of this name."""
    wrapper, paths = _WRAPPERS[module]
    for path in paths:
        if patches.has(module, path):
            patches.wrap(module, path, wrapper)
