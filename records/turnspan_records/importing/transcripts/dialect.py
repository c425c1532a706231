"""What is the provider's own in a kind of transcripts: its APIs, and how a transcript is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from turnspan.tracing.endpoint import Endpoint
from turnspan_records.importing.transcripts.exchanges import Exchange
from turnspan_records.importing.transcripts.fields import Object


@dataclass(slots=True)
class SourceTranscript:
    """A conversation whose answers stand among its messages."""

    messages: list[Any]
    request: Object
    """What every call of it has beside the messages: tools, system prompt, parameters."""
    line: Object


@dataclass(frozen=True, slots=True)
class TranscriptProvider:
    """A provider's APIs."""

    kind: str
    name: str
    """As the GenAI conventions call it."""
    endpoint: Callable[[Exchange], Endpoint]
    """The API that an exchange went through."""
    conversation: Endpoint
    """The API that transcripts are of."""
    is_response: Callable[[Object], bool]
    transcript: Callable[[Any], SourceTranscript | None]
    answer: Callable[[Object], Object]
    """The response whose only message this is."""
