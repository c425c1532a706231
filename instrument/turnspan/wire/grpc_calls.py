"""gRPC, by which older clients of Google ask Gemini: a call is counted, its content is not read."""

from __future__ import annotations

from typing import Any, Final

from turnspan.patching.patches import Args, Function, Kwargs, Patches
from turnspan.runtime.guard import guard
from turnspan.runtime.later import later
from turnspan.wire.gaps import watch

_ASKED: Final = guard("wire.grpc")
_ASKS: Final = later(
    r"/google\.(?:ai\.generativelanguage|cloud\.aiplatform)\.\w+\.(?:Generative|Prediction)Service/"
    r"(?!Count)\w+"
)
"""Methods of the services that run models."""
_CALLABLES: Final = {
    "grpc._channel": (
        *("_UnaryUnaryMultiCallable.__call__", "_UnaryUnaryMultiCallable.with_call"),
        *("_UnaryUnaryMultiCallable.future", "_UnaryStreamMultiCallable.__call__"),
        "_SingleThreadedUnaryStreamMultiCallable.__call__",
    ),
    "grpc.aio._channel": (
        *("UnaryUnaryMultiCallable.__call__", "UnaryStreamMultiCallable.__call__"),
    ),
}


def asked(wrapped: Function, method: Any, args: Args, kwargs: Kwargs) -> Any:
    """Around a call of a method."""
    with _ASKED:
        name = method._method
        name = name.decode() if isinstance(name, bytes) else name
        if _ASKS.match(name):
            target = getattr(method, "_target", b"")
            watch.missed((target.decode() if isinstance(target, bytes) else target) or "Google")
    return wrapped(*args, **kwargs)


def patch(module: str, patches: Patches) -> None:
    """Put the wrappers on a module of this name."""
    for path in _CALLABLES[module]:
        if patches.has(module, path):
            patches.wrap(module, path, asked)
