"""What changed between two model calls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from turnspan_records.screens.outline_types import Head, Text, ToolsChange


@dataclass(frozen=True, slots=True)
class ComparedCall:
    """One of the two calls. ``system`` and ``tools`` are hashes, empty for none."""

    project: str
    span_id: str
    session_id: str
    trace_id: str
    turn_id: str
    agent_name: str
    start_time: datetime
    model: str
    input_tokens: int | None
    output_tokens: int | None
    cache_read_tokens: int | None
    cache_write_tokens: int | None
    cost_usd: Decimal | None
    messages: int
    system: str
    tools: str


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """A parameter that differs: its JSON in either request, empty where it was not given."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TextChange:
    """A text that is the same or has changed, by its hash; how each begins."""

    same: bool
    before: Text
    after: Text


@dataclass(frozen=True, slots=True)
class MessageChange:
    """Messages at a place of either request: ``same`` (as many as ``count``), ``edited`` (one in
    the place of one), ``dropped`` or ``added``. Places count from 0; -1 where there is none. What
    is not the same has its beginnings."""

    kind: str
    before: int
    after: int
    count: int = 1
    was: Head | None = None
    now: Head | None = None


@dataclass(frozen=True, slots=True)
class CacheBreak:
    """Where the beginning that both requests share ends, which is as far as a cache could hold.

    ``place`` is the first thing that differs, in the order in which providers cache: model, tools,
    system, message (at ``message``, counted from 0), or nothing. ``shared_tokens`` is estimated
    from bytes. ``cached`` are the tokens that the first call had read from the cache or written
    into it, ``read`` those that the second read, ``lost`` what it could have read too.
    """

    place: str
    message: int
    shared_messages: int
    shared_tokens: int | None
    cached: int | None
    read: int | None
    lost: int | None


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from one call to another."""

    before: ComparedCall
    after: ComparedCall
    parameters: tuple[ParameterChange, ...]
    system: TextChange
    tools: ToolsChange
    tools_same: bool
    messages: tuple[MessageChange, ...]
    cache: CacheBreak

    @property
    def nothing(self) -> bool:
        """Whether both requests are the same."""
        return (
            not self.parameters
            and self.system.same
            and self.tools_same
            and all(one.kind == "same" for one in self.messages)
        )
