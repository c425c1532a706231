"""Where the oldest supported SDKs and the newest differ in what tests use of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import openai

HTTP: Final[Any] = import_module(openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0])
"""The HTTP library of the installed SDK: httpx2 since 3.0, httpx before."""

BROKEN: Final[tuple[type[Exception], ...]] = (
    openai.APIConnectionError,
    HTTP.RemoteProtocolError,
)
"""What a stream of the OpenAI SDK raises when the connection breaks: older ones let httpx's by."""


def chat_helper(client: openai.OpenAI) -> Callable[..., Any]:
    """The stream helper of chat completions, which older SDKs have under ``beta``."""
    completions: Any = client.chat.completions
    if not hasattr(completions, "stream"):
        completions = getattr(client, "beta").chat.completions  # noqa: B009 (the newest has none)
    stream: Callable[..., Any] = completions.stream
    return stream
