"""The record of a model call that has not ended."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.native_types import EMPTY_MAP
from turnspan_clickhouse.rows.record import NO_HASH, Located, Texts, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class RunningCall(Located):
    """One model call that has not ended. Its ``final`` row, which has none of its texts, replaces
    its ``running`` row; ``llm_call`` has what came of it."""

    round: int = column("UInt32", 0)
    status: str = column("String", "")
    """``running``, ``final``, or ``interrupted`` if its process died."""
    provider: str = column("String", "")
    operation: str = column("String", "")
    request_model: str = column("String", "")
    request_parameters: str = column("String", "")
    stream: bool = column("Bool", False)
    input_messages: list[bytes] = column("Array(FixedString(16))", factory=list)
    """Hashes of the messages that were sent."""
    system_prompt: bytes = column("FixedString(16)", NO_HASH)
    tool_definitions: bytes = column("FixedString(16)", NO_HASH)
    response_text: str = column("String", "")
    """Its text so far, without the newest 128 characters."""
    response_thoughts: str = column("String", "")
    """As ``response_text``."""
    tool_calls: str = column("String", "")
    """The tool calls so far, as JSON."""
    agent_name: str = column("String", "")
    scope_name: str = column("String", "")
    attributes: Texts = column("Map(String, String)", EMPTY_MAP)
