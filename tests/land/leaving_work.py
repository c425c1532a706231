"""What the agents of ``leaving_agent`` do: pieces of work, each noted when it has ended.

For processes that are called with a case and the path of a log.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable

import turnspan

CASE, LOG = sys.argv[1], sys.argv[2]
PIECES = 25
_numbers = itertools.count()
_log = os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def note(name: str) -> None:
    """Write down that this was emitted."""
    os.write(_log, f"{name}\n".encode())


def named(where: str) -> str:
    """A name that no other piece has."""
    return f"{CASE}/{where}/{os.getpid()}/{next(_numbers)}"


def record(where: str, count: int = PIECES) -> None:
    """Do pieces of work, and note each one that has ended."""
    for _ in range(count):
        name = named(where)
        with turnspan.tool("work", call_id=name, arguments={"name": name}):
            pass
        note(name)


def record_calls(where: str, count: int = PIECES) -> None:
    """The same with model calls; the first needs the prices, which take a moment to load."""
    for _ in range(count):
        name = named(where)
        messages = [{"role": "user", "content": name}]
        with turnspan.inference(provider="openai", model="gpt-4o", messages=messages) as call:
            call.response(text="yes", input_tokens=1, output_tokens=1, id=name)
        note(name)


def configure() -> None:
    """As an application does it; half a second passes between two writes to the spool."""
    turnspan.configure(service_name="leaving", project=CASE)


def children(work: Callable[[int], None], count: int = 4) -> list[int]:
    """Fork; each child works and leaves by itself. Their exit codes."""
    forked: list[int] = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            work(number)
            os._exit(99)
        forked.append(child)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in forked]
