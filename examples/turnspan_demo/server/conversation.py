"""A conversation as both providers' requests can be compared with a run: plain, without ids.

Ids are left out because a caller may rename them; reasoning because callers need not send it back.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from turnspan_demo.model import OPENED, Provider, Reply, Run, ToolUse, arguments_of


@dataclass(frozen=True, slots=True)
class Said:
    """One message: what a user or the model said, or a tool answered.

    ``tools`` are the (name, canonical arguments) that an assistant message asks for.
    """

    role: str
    text: str = ""
    tools: tuple[tuple[str, str], ...] = ()

    def canonical(self) -> bytes:
        """The bytes that are hashed: equal exactly for equal messages."""
        return json.dumps([self.role, self.text, self.tools], ensure_ascii=False).encode(
            "utf-8", "surrogatepass"
        )


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A provider's request, read.

    ``keys`` are the words by which the caller may have named its run (a header, the provider's
    user field); ``instance`` tells two replays of one run apart.
    """

    provider: Provider
    model: str
    system: str
    messages: tuple[Said, ...]
    tools_text: str = ""
    stream: bool = False
    include_usage: bool = True
    thinking: bool = False
    cached: bool = False
    keys: tuple[str, ...] = ()
    instance: str = ""


def asked(tools: Sequence[ToolUse]) -> tuple[tuple[str, str], ...]:
    """Tool calls without their ids."""
    return tuple((tool.name, canonical_arguments(tool.arguments)) for tool in tools)


def canonical_arguments(text: str) -> str:
    """Arguments in one spelling, however they were written."""
    return json.dumps(arguments_of(text), sort_keys=True, ensure_ascii=False)


def positions(run: Run, provider: Provider) -> Iterator[tuple[tuple[Said, ...], Reply]]:
    """Every model call of a run: (the messages new since the call before, the reply)."""
    new: list[Said] = []
    if run.greeting:
        if provider == "anthropic":
            new.append(Said("user", OPENED))
        new.append(Said("assistant", run.greeting))
    for turn in run.turns:
        new.append(Said("user", turn.user))
        for reply in turn.replies:
            yield tuple(new), reply
            new = []
            if reply.lost or (provider == "anthropic" and not reply.text and not reply.tools):
                continue
            new.append(Said("assistant", reply.text, asked(reply.tools)))
            new.extend(Said("tool", tool.result) for tool in reply.tools)


class Chain:
    """A running hash of a conversation: the same after the same messages."""

    def __init__(self, system: str) -> None:
        self._hash = hashlib.blake2b(system.encode("utf-8", "surrogatepass"), digest_size=16)

    def add(self, message: Said) -> bytes:
        """Add a message; returns the digest of everything so far."""
        body = message.canonical()
        self._hash.update(len(body).to_bytes(8, "big"))
        self._hash.update(body)
        return self.digest()

    def digest(self) -> bytes:
        """The digest of everything so far."""
        return self._hash.digest()
