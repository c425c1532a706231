"""What a program says to the rerun's server beside its own requests."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from http.client import HTTPException, HTTPResponse
from typing import Any, Final

from opentelemetry import trace

from turnspan.content.model import dumps
from turnspan.patching.models_on_the_wire import INSIDE
from turnspan.runtime.errors import TurnspanError
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.begin_call import current_call
from turnspan.tracing.context import active_turn
from turnspan.tracing.manual_endpoint import ManualEndpoint
from turnspan.tracing.model_call import ModelCall
from turnspan.wire.rerunning.environment import RerunEnvironment

SECRET: Final = "x-turnspan-rerun"
ORIGIN: Final = "x-turnspan-origin"
PLACE: Final = "x-turnspan-place"
CALL: Final = "x-turnspan-framework-call"
"""The call of a framework, or one recorded by hand, that a request is made for: the server was told
of it under this id."""
HOST: Final = "127.0.0.1"
_TIMEOUT: Final = 60.0
"""Seconds: the server answers from memory."""


class RerunServerError(TurnspanError):
    """The rerun's server gave no answer."""


class ServerClient:
    """A rerun's server, as its program reaches it."""

    def __init__(self, environment: RerunEnvironment) -> None:
        self.port = environment.port
        self._secret = environment.secret

    def headers(self, scheme: str, host: str, port: int | None) -> dict[str, str]:
        """What a request that was for this origin carries to the server."""
        name = f"[{host}]" if ":" in host else host
        port = port or (443 if scheme == "https" else 80)
        found = {SECRET: self._secret, ORIGIN: f"{scheme}://{name}:{port}", PLACE: place()}
        call = current_call() or INSIDE.get()
        if isinstance(call, ModelCall) and call.request is not None and _is_translated(call):
            found[CALL] = f"{call.span.get_span_context().span_id:016x}"
            told = {"id": found[CALL], "model": call.model, "request": call.request}
            told |= {"operation": call.endpoint.operation, "dialect": call.endpoint.dialect}
            self.ask("/turnspan/call", told)
        return found

    def is_it(self, host: str, port: int | None) -> bool:
        """Whether this is the server's own address."""
        return host == HOST and port == self.port

    def ask(self, path: str, question: dict[str, Any]) -> dict[str, Any]:
        """The server's answer to a question, both as JSON.

        Raises:
            RerunServerError: there is none; the text says why.
        """
        body = dumps(question)
        head = (
            f"POST {path} HTTP/1.1\r\nhost: {HOST}:{self.port}\r\n{SECRET}: {self._secret}\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n"
            "connection: close\r\n\r\n"
        )
        try:
            # Not http.client's connection, whose functions are wrapped in a rerun.
            with socket.create_connection((HOST, self.port), _TIMEOUT) as connection:
                connection.sendall(head.encode() + body)
                response = HTTPResponse(connection, method="POST")
                response.begin()
                text = response.read()
                response.close()
            if response.status >= 300:
                raise RerunServerError(
                    f"The rerun's server answers {path} with {response.status}: "
                    f"{text[:500].decode('utf-8', 'replace')}"
                )
            answer: Any = json.loads(text) if text else {}
        except (OSError, HTTPException, ValueError) as error:
            raise RerunServerError(
                f"The rerun's server at {HOST}:{self.port} does not answer ({error}): start the "
                "program with `turnspan rerun` and leave that running."
            ) from error
        return answer if is_dict(answer) else {}

    def note(self, kind: str, text: str) -> None:
        """Have the rerun's report say something: of kind ``network``, ``tool_ran`` or
        ``unredirected``."""
        self.ask("/turnspan/note", {"kind": kind, "text": text})


def _is_translated(call: ModelCall) -> bool:
    """Whether a call was recorded as a framework makes it, or as it was recorded by hand: the
    request may say it in other words."""
    return call.gateway or isinstance(call.endpoint, ManualEndpoint)


def place() -> str:
    """Where a request is made: trace, turn, and task or thread."""
    trace_id = trace.get_current_span().get_span_context().trace_id
    turn = active_turn()
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no event loop runs in this thread
        task = None
    number = threading.get_ident() if task is None else id(task)
    return f"{trace_id:032x}:{turn.id if turn is not None and turn.id else '-'}:{number}"
