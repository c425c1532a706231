"""The messages of a transcript, as the calls of their session refer to them.

A call's input is the whole history before it. Each message is converted and hashed once, when the
first call needs it, and forgotten but for its hash: a call then costs a copy of the hashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from turnspan.content.model import Message, Part
from turnspan.dialects import genai
from turnspan.tracing.content_store import InferenceContent
from turnspan_clickhouse.normalise.llm_call import add_reply
from turnspan_clickhouse.normalise.message_store import MessageScope, MessageStore
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import LlmCall

_DIALECT: Final = genai.NAME


@dataclass(slots=True, eq=False)
class SessionMessages:
    """Messages that were written together at ``when``, in ns."""

    messages: Sequence[Message]
    """Empty once they are hashed."""
    when: int
    landed: bool = False
    """Whether an earlier import has them in the store."""
    hashes: tuple[bytes, ...] | None = None
    scope: str = ""
    """The session in which they have landed."""


@dataclass(slots=True, eq=False)
class HistoryEntry:
    """Messages of a transcript, and what stands before them. After a compaction, those that it has
    kept stand in a second entry, behind the summary."""

    before: HistoryEntry | None
    content: SessionMessages
    place: int = -1
    """Its place in the path that was built last, if it is there."""
    call: HistoryEntry | None = None
    """The call whose tool's result it is."""
    last_result: HistoryEntry | None = None
    """The last result of the tools that a call asked for: they are siblings, and all of them go
    before what follows."""

    def know(self) -> None:
        """An earlier import has a call with this reply, and all that was sent for it."""
        entry: HistoryEntry | None = self
        while entry is not None and not entry.content.landed:
            entry.content.landed = True
            entry = entry.before

    def since(self, first: HistoryEntry) -> list[SessionMessages]:
        """The messages from those of ``first`` to its own; none where ``first`` is not before."""
        found: list[SessionMessages] = []
        entry: HistoryEntry | None = self
        while entry is not None:
            found.append(entry.content)
            if entry.content is first.content:
                return found[::-1]
            entry = entry.before
        return []


class SessionHistory:
    """Lands the messages of one session."""

    def __init__(self) -> None:
        self._store = MessageStore()
        self._path: list[HistoryEntry] = []
        self._hashes: list[bytes] = []
        self._ends: list[int] = []
        """How many hashes the path has up to each entry."""
        self._instructions: set[str] = set()

    def know(self, instructions: str) -> None:
        """An earlier import has a system prompt in the store."""
        self._instructions.add(instructions)

    def input_of(self, row: LlmCall, last: HistoryEntry | None, batch: Batch) -> None:
        """Put the hashes of all messages up to ``last`` into a call's row, and those that have not
        landed into the batch."""
        place = MessageScope(_DIALECT, row.project, row.session_id or row.trace_id, batch)
        missing: list[HistoryEntry] = []
        entry = last
        while entry is not None and not self._is_in_path(entry):
            if entry.content.scope not in ("", place.scope):  # of it only the hashes are known
                entry = None
                break
            missing.append(entry)
            entry = entry.before
        kept = 0 if entry is None else entry.place + 1
        del self._path[kept:], self._ends[kept:]
        del self._hashes[self._ends[-1] if self._ends else 0 :]
        for each in reversed(missing):
            hashes = each.content.hashes
            if hashes is None:
                hashes = self._land(each.content, place)
            each.place = len(self._path)
            self._path.append(each)
            self._hashes += hashes
            self._ends.append(len(self._hashes))
        row.input_messages = self._hashes[:]
        batch.content += 16 * len(self._hashes)

    def output_of(self, row: LlmCall, entry: HistoryEntry, parts: list[Part], batch: Batch) -> None:
        """Put a reply into its call's row, and its message into the batch."""
        reply = entry.content
        if not parts:
            reply.hashes, reply.messages = (), ()
            return
        place = MessageScope(_DIALECT, row.project, row.session_id or row.trace_id, batch)
        reply.scope = place.scope
        message: Message = {"role": "assistant", "parts": parts}
        content = InferenceContent(_DIALECT, {}, {"messages": [message]})
        add_reply(row, content, reply.when, self._store, place)
        reply.hashes, reply.messages = tuple(row.output_messages), ()

    def settings_of(
        self, row: LlmCall, instructions: str, parameters: dict[str, object], batch: Batch
    ) -> None:
        """Put a call's system prompt and parameters into its row."""
        if parameters:
            row.request_parameters = self._store.parameters(parameters, batch)
        if instructions:
            body = batch.redactor.text(instructions, "system")
            into = _aside(batch) if instructions in self._instructions else batch
            row.system_prompt = self._store.definition(
                "system_prompt", body, project=row.project, when=row.start_time, batch=into
            )

    def _is_in_path(self, entry: HistoryEntry) -> bool:
        return 0 <= entry.place < len(self._path) and self._path[entry.place] is entry

    def _land(self, content: SessionMessages, place: MessageScope) -> tuple[bytes, ...]:
        if content.landed:  # its hash is all that is wanted
            place = MessageScope(place.dialect, place.project, place.scope, _aside(place.batch))
        found: list[bytes] = []
        for message in content.messages:
            found += self._store.messages([message], place, content.when)
        content.messages, content.hashes, content.scope = (), tuple(found), place.scope
        return content.hashes


def _aside(batch: Batch) -> Batch:
    """A batch for rows that are in the store."""
    made = Batch(batch.writer, batch.written_at)
    made.redactor = batch.redactor
    return made
