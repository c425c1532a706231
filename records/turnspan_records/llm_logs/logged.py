"""A call as llm logged it, whatever the generation."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class LoggedResponse:
    """One row of ``responses`` or ``turns``."""

    table: str
    position: int
    """Where it stands in its table, by insertion."""
    id: str
    model: str
    resolved_model: str | None
    prompt: str
    """What was asked, with the fragments that belong to it."""
    stored_prompt: str
    """The same as the row has it: without fragments in the older generations."""
    system: str | None
    """What the row calls the system prompt, without its fragments in the older generations."""
    response: str
    prompt_json: str | None
    response_json: str | None
    """What the provider said, with references in place of texts that the row has
    (``condensed.resolved``)."""
    options_json: str | None
    conversation_id: str | None
    conversation_name: str | None
    datetime_utc: str | None
    """When it began."""
    duration_ms: int | None
    input_tokens: int | None
    output_tokens: int | None
    token_details: str | None
    schema_id: str | None
    reasoning: str | None
    consortium_id: str | None
    """As the column of this name has it; ``None`` also where there is no such column."""
    is_arbiter_response: int | None
    parent_message_hash: str | None = None
    """Of a turn: its last message before the reply."""
    tip_message_hash: str | None = None
    """Of a turn: its last message."""
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    """What ``response_json`` refers to."""

    @property
    def began(self) -> int | None:
        """When it began, in microseconds since the epoch; ``None`` where no time can be read."""
        return microseconds(self.datetime_utc)

    @property
    def ended(self) -> int | None:
        """When it ended, in microseconds since the epoch, to the millisecond of its duration."""
        began = self.began
        if began is None or self.duration_ms is None:
            return began
        return began + max(self.duration_ms, 0) * 1000


def microseconds(text: str | None) -> int | None:
    """A time of llm's in microseconds since the epoch; one without a zone is in UTC."""
    if not text:
        return None
    try:
        # Python 3.10 reads no "Z".
        time = datetime.datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
        if time.tzinfo is None:
            time = time.replace(tzinfo=datetime.timezone.utc)
        since = time - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    except (ValueError, OverflowError):
        return None
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
