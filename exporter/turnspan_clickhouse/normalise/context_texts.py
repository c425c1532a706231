"""Which model calls used which assembled context: its text is looked for in their requests.

The worker does it, and only for calls in whose turn or trace a text was assembled. A message is
looked through once for each text, since the next call brings it again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from turnspan import semconv
from turnspan.content.model import RequestParts, as_dict, as_list
from turnspan.content.text_message import as_dict_message
from turnspan.runtime.throttle import give_way
from turnspan.tracing.assembly import Assembly
from turnspan.tracing.content_store import ContextFact
from turnspan_clickhouse.normalise.message_store import MessageStore
from turnspan_clickhouse.normalise.turn_facts import note
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import NO_HASH, ContextAssemblyRow, ContextItemRow, LlmCall

if TYPE_CHECKING:
    from turnspan_clickhouse.normalise.fact_rows import FactRows


KIND: Final = "context_assembled"
"""What such a text is called among the definitions, and its column in ``llm_call``."""
MAX_KEYS: Final = 4_096
"""Turns, traces and assemblies whose texts are remembered."""
MAX_HELD: Final = 2**24
"""Letters of all the texts that are remembered."""
MAX_TEXTS: Final = 16
"""Texts of one turn."""
SHORTEST_APART: Final = 64
"""A text of fewer letters proves nothing for a call that is in no common turn or trace."""
_MAX_LOOKED: Final = 10_000
_MAX_DEPTH: Final = 16
_APART: Final = ""
"""The key of texts that were assembled outside of turns."""


class _Text:
    """One assembled text."""

    __slots__ = ("assembly_id", "looked", "session_id", "text", "wanted")

    def __init__(self, assembly: Assembly, text: str) -> None:
        self.assembly_id = assembly.id
        self.session_id = assembly.place.session_id
        self.text = text
        self.wanted = text.strip()
        self.looked: dict[bytes, bool] = {}
        """Whether it is in a message, by the message's hash."""


class ContextTexts:
    """The texts that were assembled lately, by the turn, the trace and the id of the assembly."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[str, list[_Text]] = OrderedDict()
        self._held = 0
        self.any = False
        """Whether there is one at all: all that is asked where none is."""

    def add(self, assembly: Assembly, text: str) -> None:
        """Remember a text: calls that send it use this assembly."""
        if not text.strip():
            return
        made = _Text(assembly, text)
        place = assembly.place
        around = [place.turn_id] if place.turn_id else [_APART]
        for key in (assembly.id, f"{place.trace_id:032x}", *around):
            self._put(key, made)
        self.any = True
        while self._by_key and (self._held > MAX_HELD or len(self._by_key) > MAX_KEYS):
            self._held -= sum(len(one.text) for one in self._by_key.pop(next(iter(self._by_key))))

    def _put(self, key: str, made: _Text) -> None:
        texts = self._by_key.setdefault(key, [])
        self._by_key.move_to_end(key)
        for known in texts:
            if known.assembly_id == made.assembly_id and known.text == made.text:
                return
        texts.append(made)
        self._held += len(made.text)
        if len(texts) > MAX_TEXTS:
            self._held -= len(texts.pop(0).text)

    def attach(
        self,
        row: LlmCall,
        attributes: Mapping[str, Any],
        request: RequestParts,
        when: int,
        message_store: MessageStore,
        batch: Batch,
    ) -> None:
        """Say in a call's row which assemblies it used: those that the application named, else
        those whose text its request has. The column is the longest text's."""
        named = attributes.get(semconv.CONTEXT_ID)
        if isinstance(named, str):
            found = [each for key in named.split(",") for each in self._by_key.get(key, ())[-1:]]
        else:
            found = [one for one in self._near(row) if _is_sent(one, request, row.input_messages)]
            if found:
                ids = dict.fromkeys(one.assembly_id for one in found)
                note(row, semconv.CONTEXT_ID, ",".join(ids))
        if found and batch.redactor.settings.capture_content:
            longest = max(found, key=lambda one: len(one.text))
            row.context_assembled = land(longest.text, row.project, when, message_store, batch)

    def _near(self, row: LlmCall) -> list[_Text]:
        """The texts that a call may have used, the oldest first."""
        near = {id(one): one for key in (row.turn_id, row.trace_id) for one in self._of(key)}
        for one in self._of(_APART):
            same = not one.session_id or one.session_id == row.session_id
            if same and len(one.wanted) >= SHORTEST_APART:
                near[id(one)] = one
        return list(near.values())

    def _of(self, key: str) -> Sequence[_Text]:
        return self._by_key.get(key, ())


def land(text: str, project: str, when: int, message_store: MessageStore, batch: Batch) -> bytes:
    """The hash of an assembled text, which lands once; zero for none, and where none is kept."""
    if not text or not batch.redactor.settings.capture_content:
        return NO_HASH
    digest = message_store.remembered(text)
    if digest is None:
        body = batch.redactor.text(text, "context")
        digest = message_store.definition(KIND, body, project=project, when=when, batch=batch)
        message_store.remember(text, digest)
    return digest


def _is_sent(one: _Text, request: RequestParts, hashes: Sequence[bytes]) -> bool:
    """Whether a request has the text in it; ``hashes`` are its messages', where those landed."""
    if request.system_raw is not None and _says(request.system_raw, one.wanted, 0):
        return True
    messages = request.messages_raw
    if len(hashes) != len(messages):
        return any(_says(as_dict_message(raw), one.wanted, 0) for raw in messages)
    looked = one.looked
    if len(looked) > _MAX_LOOKED:
        looked.clear()
    for digest, raw in zip(hashes, messages, strict=True):
        known = looked.get(digest)
        if known is None:
            known = looked[digest] = _says(as_dict_message(raw), one.wanted, 0)
        if known:
            return True
    return False


def _says(value: Any, wanted: str, depth: int) -> bool:
    """Whether a text stands in one of a value's texts."""
    if isinstance(value, str):
        return wanted in value
    if depth > _MAX_DEPTH:
        return False
    fields = as_dict(value)
    items = as_list(value) if fields is None else fields.values()
    return items is not None and any(_says(each, wanted, depth + 1) for each in items)


RUNNING: Final = "running"
FINAL: Final = "final"
ITEM_KIND: Final = "context_item"
"""What an item's text is called among the definitions."""


def context_rows(fact: ContextFact, rows: FactRows, batch: Batch) -> None:
    """Add what a fact about an assembly says: its row, and one for each of its items."""
    assembly = fact.assembly
    if fact.stage == "assembled":
        rows.contexts.add(assembly, fact.text)
    elif fact.stage == "ended":
        _add_whole(assembly, rows, batch)
    elif not assembly.ended:  # else the final row is on its way
        batch.add(_begun(assembly, RUNNING, rows, batch))


def _begun(assembly: Assembly, status: str, rows: FactRows, batch: Batch) -> ContextAssemblyRow:
    """What an assembly's row says from the beginning; its identity is in it."""
    place = assembly.place
    return rows.context(place.resource, batch).row(
        ContextAssemblyRow,
        place,
        rows.origins.of(place.resource),
        session_id=rows.cleaner.column(semconv.CONVERSATION_ID, place.session_id),
        trace_id=f"{place.trace_id:032x}",
        span_id=f"{place.span_id:016x}",
        parent_span_id=f"{place.parent_span_id:016x}" if place.parent_span_id else "",
        assembly_id=assembly.id,
        start_time=assembly.start_time,
        status=status,
        task_type=assembly.task,
        budget=assembly.budget,
    )


def _add_whole(assembly: Assembly, rows: FactRows, batch: Batch) -> None:
    """Add an assembly that has ended, with its items and texts."""
    context = rows.context(assembly.place.resource, batch)
    row = _begun(assembly, FINAL, rows, batch)
    items = assembly.items()
    row.duration = assembly.seconds
    if context.captured:
        row.entities = [context.redacted(one, "context:entity") for one in assembly.entities]
    row.used, row.used_estimated = assembly.used(items)
    row.considered = len(items)
    row.kept = sum(item.kept for item in items)
    row.dropped = row.considered - row.kept
    row.bypassed = assembly.bypassed
    row.bypass_reason = context.redacted(assembly.bypass_reason, "context:reason")
    for step in assembly.steps:
        row.step_names.append(context.redacted(step.name, "context:step"))
        row.step_durations.append(assembly.seconds_of(step))
        row.step_errors.append(step.error_type)
    row.error_type = assembly.error_type
    row.context_hash = land(assembly.text, row.project, row.start_time, rows.message_store, batch)
    taken: set[str] = set()
    for position, item in enumerate(items):
        give_way()
        content = NO_HASH
        if item.text and context.captured:  # it lands once, however many assemblies consider it
            body = context.redacted(item.text, "context")
            content = context.define(ITEM_KIND, body, row.start_time)
        made = context.row(
            ContextItemRow, item, row, item_id=item.id, position=position, content_hash=content
        )
        name, number = made.item_id, 2  # masking may have made two ids one
        while name in taken:
            name, number = f"{made.item_id}#{number}", number + 1
        taken.add(name)
        made.item_id = name
        batch.add(made)
    batch.add(row)
