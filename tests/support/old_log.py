"""A log of another tool, for the frame of imports: conversations of two calls and a judgment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from turnspan import semconv
from turnspan.tracing.content_store import Judgment
from turnspan_records.importing import ids
from turnspan_records.importing.sources import Part, SourceLogError
from turnspan_records.importing.spans import resource_of, scope_of, span_of

BEGAN = 1_500_000_000 * 10**9  # further back than a receiver takes
WEEK = 7 * 86_400 * 10**9
SCOPE = scope_of("made")
RESOURCE = resource_of("made")


def words(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def conversation(number: int) -> Part:
    """Two calls of a conversation, with a judgment of the first."""
    part = Part(
        position=str(number), seen=Counter({("talk", "calls"): 2, ("note", "judgments"): 1})
    )
    for place in range(2):
        asked = [{"role": "user", "parts": [{"type": "text", "content": f"ask {n} of {number}"}]}
                 for n in range(place + 1)]  # fmt: skip
        start = BEGAN + number * WEEK + place * 10**9
        part.spans.append(
            span_of(
                "chat made-1",
                trace_id=ids.trace_id("made", number),
                span_id=ids.span_id("made", number, place),
                start_time=start,
                end_time=start + 10**8,
                attributes={
                    semconv.OPERATION_NAME: "chat",
                    semconv.REQUEST_MODEL: "made-1",
                    semconv.CONVERSATION_ID: f"talk {number}",
                    semconv.INPUT_MESSAGES: json.dumps(asked),
                    semconv.OUTPUT_MESSAGES: words("assistant", f"answer {place} of {number}"),
                },
                resource=RESOURCE,
                scope=SCOPE,
            )
        )
    part.facts.append(
        Judgment(
            resource=RESOURCE.attributes,
            subject_kind="call",
            subject_id=f"{ids.span_id('made', number, 0):016x}",
            kind="comment",
            annotation_id=ids.hex_id("made", number),
            comment="fine",
            author="import",
            created_at=BEGAN,
        )
    )
    return part


@dataclass
class Made:
    """A log of so many conversations, which can stop in the middle."""

    conversations: int
    stops_at: int | None = None
    kind: str = "made"
    identity: str = "the one"
    own_projects: bool = False

    def total(self, after: str) -> int:
        return 3 * (self.conversations - int(after or "0"))

    def parts(self, after: str) -> Iterator[Part]:
        for number in range(int(after or "0") + 1, self.conversations + 1):
            if number == self.stops_at:
                raise SourceLogError("The source went away.")
            yield conversation(number)
