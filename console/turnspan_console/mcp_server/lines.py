"""The lines of standard input: one that is no message is answered as JSON-RPC has it, and kept from
the server of the package ``mcp``, which drops it without a word.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, Final, cast

from anyio import to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

MAX_LINE_BYTES: Final = 4 * 2**20


class LineServer(MCPServer):
    """A server that answers each line of standard input."""

    async def run_stdio_async(self) -> None:
        """Serve until standard input ends."""
        async with stdio_server(stdin=cast("Any", self._lines())) as (read, self._answers):
            server = self._lowlevel_server
            await server.run(read, self._answers, server.create_initialization_options())

    async def _lines(self) -> AsyncIterator[str]:
        """The messages among the lines."""
        read = partial(sys.stdin.buffer.readline, MAX_LINE_BYTES)
        while line := await to_thread.run_sync(read, abandon_on_cancel=True):
            long = False
            while len(line) == MAX_LINE_BYTES and not line.endswith(b"\n"):  # or the rest of one
                long, line = True, await to_thread.run_sync(read, abandon_on_cancel=True)
            wrong = _TOO_LONG if long else _wrong(line)
            if wrong is None:
                yield line.decode("utf-8")
            elif line.strip() or long:
                answer = JSONRPCError(jsonrpc="2.0", id=wrong[0], error=wrong[1])
                await self._answers.send(SessionMessage(answer))


_TOO_LONG = (
    None,
    ErrorData(code=INVALID_REQUEST, message=f"A message has {MAX_LINE_BYTES:,} bytes at most."),
)


def _wrong(line: bytes) -> tuple[str | int | None, ErrorData] | None:
    """What is wrong with a line, and the id of the request that it is, where it has one."""
    try:
        found: object = json.loads(line.decode("utf-8"), parse_constant=_refused)
    except RecursionError:
        return None, ErrorData(code=PARSE_ERROR, message="This JSON is nested too deeply.")
    except ValueError as error:
        return None, ErrorData(code=PARSE_ERROR, message=f"This is no JSON in UTF-8: {error}.")
    if not isinstance(found, dict):
        what = "Write one JSON-RPC object a line; there are no batches."
        return None, ErrorData(code=INVALID_REQUEST, message=what)
    message = cast("dict[str, object]", found)
    named = message.get("id")
    known = named if isinstance(named, (str, int)) and not isinstance(named, bool) else None
    try:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
        if known is not None or not {"id", "method"} <= message.keys():
            return None
    except ValueError:
        pass  # said below
    what = "This is no JSON-RPC 2.0 message: it has jsonrpc, a method, and params in an object."
    return known, ErrorData(code=INVALID_REQUEST, message=what)


def _refused(name: str) -> None:
    raise ValueError(f"{name} is none of its numbers")
