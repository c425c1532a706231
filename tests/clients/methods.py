"""Every method of an SDK's client, called with whatever its signature wants."""

from __future__ import annotations

import asyncio
import inspect
import signal
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

from clients.kinds import AWS_HI, HI, WAV

SECONDS = 5.0
"""How long one method may take, which has a server on loopback to ask."""
_DEPTH = 4
_LEFT_OUT = ("_", "with_", "aclose", "close", "do_request", "copy", "parent_ref", "aio")
_FETCHING = ("retrieve", "list", "get", "delete", "download", "content", "exists")
"""What a method that makes no model work is called."""
_WAITING = ("wait", "poll", "tool_runner", "runner", "and_stream", "get_paginator", "get_waiter")
"""Methods that ask others again and again, or send nothing."""
_FILES = {"file", "files", "audio", "image", "video", "data", "recording", "archive", "images"}
_PLAIN = {"get", "post", "put", "patch", "delete", "request", "get_api_list"}
"""Of a client itself, in SDKs made by Stainless: they take any path."""


def methods(owner: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public methods of a client and of the resources in it, by their path."""
    for key in sorted(set(dir(owner))):
        if key.startswith(_LEFT_OUT) or any(word in key for word in _WAITING):
            continue
        try:
            inner: Any = getattr(owner, key)
        except Exception:  # noqa: BLE001  a resource that wants another kind of client
            continue
        path = f"{name}.{key}".lstrip(".")
        if inspect.ismethod(inner):
            if (depth or key not in _PLAIN) and not key.startswith(_FETCHING):
                yield path, inner
        elif depth < _DEPTH and _is_resource(owner, inner):
            yield from methods(inner, path, depth + 1)


def _is_resource(owner: Any, value: Any) -> bool:
    """Whether it is a part of the same SDK's client that has methods, and no plain value."""
    module, name = type(value).__module__, type(value).__name__
    same = module.partition(".")[0] == type(owner).__module__.partition(".")[0]
    words = ("Config", "Options", "Wrapper", "Security", "Timeout", "Logger", "Hooks", "Parent")
    return same and not name.startswith("_") and not any(word in name for word in words)


def arguments(function: Any, *, streamed: bool) -> dict[str, Any] | None:
    """Something for every parameter that is wanted; ``None`` where it does not stream."""
    parameters = inspect.signature(function).parameters
    if streamed and "stream" not in parameters:
        return None
    some = {
        one.name: _value(one.name, str(one.annotation))
        for one in parameters.values()
        if (one.default is one.empty or one.default == "")
        and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
    }
    return {**some, "stream": True} if streamed else some


def _value(name: str, annotation: str) -> Any:
    if name == "messages":
        return HI
    if name in _FILES:
        return WAV
    if name in ("texts", "documents", "inputs", "tokens") or annotation.startswith(
        ("typing.List[str", "List[str", "typing.Sequence[str", "Sequence[str", "list[str")
    ):
        return ["hi"]
    if annotation in ("int", "<class 'int'>", "float", "<class 'float'>"):
        return 1
    return "id-1"


def aws_methods(client: Any) -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    """The operations of a service of AWS, with arguments of the shapes that it asks for."""
    model = client.meta.service_model
    for name, operation in client.meta.method_to_api_mapping.items():
        shape = model.operation_model(operation).input_shape
        if hasattr(client, name):  # all but what speaks HTTP/2 both ways
            yield name, getattr(client, name), _of_shape(shape) if shape is not None else {}


def _of_shape(shape: Any) -> Any:
    kind = shape.type_name
    if kind == "structure":
        if not shape.required_members and getattr(shape, "is_tagged_union", False):
            first = next(iter(shape.members))
            return {first: _of_shape(shape.members[first])}
        return {name: _of_shape(shape.members[name]) for name in shape.required_members}
    if kind == "list":
        return AWS_HI if shape.name == "Messages" else [_of_shape(shape.member)]
    if kind in ("integer", "long", "float", "double"):
        return 1
    if kind in ("map", "boolean", "blob", "timestamp"):
        some: dict[str, Any] = {"map": {}, "boolean": True, "blob": b"{}", "timestamp": 1}
        return some[kind]
    return (shape.enum or ["arn:aws:bedrock:us-east-1:123456789012:some/thing-1"])[0]


@contextmanager
def in_time() -> Generator[None]:
    """Interrupt what takes too long.

    Raises:
        TimeoutError: it did.
    """

    def late(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


async def drained(result: Any) -> None:
    """Wait for an answer, and read a stream to the end."""
    if inspect.isawaitable(result):
        result = await result
    if type(result).__name__ == "dict":  # boto3's, with a stream in it
        for value in result.values():
            if hasattr(value, "read"):
                value.read()
            elif type(value).__name__ == "EventStream":
                list(value)
    elif hasattr(result, "__anext__") or type(result).__name__ == "AsyncStream":
        async for _ in result:
            pass
    elif hasattr(result, "__next__") or type(result).__name__ == "Stream":
        for _ in result:
            pass


def call(loop: asyncio.AbstractEventLoop, function: Any, given: dict[str, Any]) -> str:
    """Call a method to its end; what it raised, or nothing."""

    async def called() -> None:
        await drained(function(**given))
        await asyncio.sleep(0.01)  # generators that were not read to their end are closed

    try:
        with in_time():
            loop.run_until_complete(called())
    except Exception as error:  # noqa: BLE001  of arguments or an answer that make no sense to it
        return type(error).__name__
    return ""
