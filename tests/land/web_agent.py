"""An agent behind a WSGI server; each request is a turn with one tool call, named by the path."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import Any

import turnspan

turnspan.configure(service_name="web")


@turnspan.tool
def look_up(question: str) -> str:
    """Slow where the question asks for it."""
    if "slow" in question:
        time.sleep(0.3)
    return question[::-1]


@turnspan.agent("web")
def answer(question: str) -> str:
    """One turn."""
    return look_up(question)


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answers with the worker's process id."""
    answer(environ["PATH_INFO"])
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]
