"""Model calls that have not ended: the prompt of each that takes long, and its text as it comes.

What a call was asked lands where it lands at the call's end: its messages are stored once. The text
so far is in the running row itself, since each version replaces the one before.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan

from turnspan import semconv
from turnspan.content.model import CallContent, dumps_text
from turnspan.dialects.convert import describe_reply, first_choice, split_request
from turnspan.redaction.redactor import Redactor
from turnspan.redaction.truncate import limit_text, limit_value, settled
from turnspan.runtime import otel_private
from turnspan.runtime.guard import errors
from turnspan.runtime.type_guards import is_dict
from turnspan.tracing.content_store import ContentStore, InferenceContent, OpenCall
from turnspan_clickhouse.normalise import llm_call
from turnspan_clickhouse.normalise.derived_turns import DerivedTurns
from turnspan_clickhouse.normalise.message_store import MessageStore
from turnspan_clickhouse.normalise.other_rows import FINAL, RUNNING
from turnspan_clickhouse.normalise.span_facts import SpanReader
from turnspan_clickhouse.rows.batch import Batch
from turnspan_clickhouse.rows.tables import Located, RunningCall, columns

_SHARED: Final = tuple(name for name, _ in columns(RunningCall) if name != "status")
"""The columns that a call has in ``llm_call`` as well."""
_PLACE: Final = (*(name for name, _ in columns(Located) if name != "written_at"), "scope_name")
EVERY_NS: Final = 2 * 10**9
"""So long at least between two writes of a text so far, and a thirtieth of the call's age: what is
written of a text in all is a multiple of its length, however long it takes."""
SHARE: Final = 30
UNEXPORTED_NS: Final = 30 * 10**9
"""A call that ended so long ago and was not exported is not going to be: a processor of the
application's left it out."""


@dataclass(slots=True)
class _Written:
    """What is known of a call whose running row was written; without ``row`` it cannot be."""

    row: RunningCall | None = None
    due: int = 0
    gone: int = 0
    """When it was seen that the call has ended, ns; its span is to be exported."""


class RunningCalls:
    """Writes rows of calls that have not ended, and their end."""

    def __init__(
        self, content: ContentStore, derived: DerivedTurns, message_store: MessageStore
    ) -> None:
        self._content = content
        self._derived = derived
        self._message_store = message_store
        self._written: dict[Any, _Written] = {}

    def write(
        self, batch: Batch, reader: SpanReader, ended: Iterable[ReadableSpan], *, last: bool = False
    ) -> None:
        """Add the rows that are due; the ``ended`` spans are exported with the batch.

        With ``last`` the process ends: calls are written however short they have run.
        """
        open_calls, now = self._content.open_calls, batch.written_at
        gone = [span for span in self._written if span not in open_calls]
        ids = {span.context.span_id for span in ended if span.context} if gone else ()
        for span in gone:
            self._ended(span, batch, ids)
        after = batch.redactor.settings.running_calls_after
        if not after:
            return
        # Other threads begin and end calls meanwhile: a copy, which is made at one go.
        for span, call in [*open_calls.items()]:
            written = self._written.get(span)
            if written is not None and (written.row is None or now < written.due):
                continue
            began = getattr(span, "start_time", None) or now
            if written is None and not last and now - began < after * 1e9:
                continue
            try:
                if written is None:
                    self._begin(span, call, batch, reader)
                else:
                    self._go_on(written, call, batch)
            except BaseException as error:  # noqa: BLE001  its row follows when it ends
                errors.record("normalise.running_call", error)
                self._written[span] = _Written()

    def _begin(self, span: Any, call: OpenCall, batch: Batch, reader: SpanReader) -> None:
        self._written[span] = written = _Written()
        context = span.context if isinstance(span, ReadableSpan) else None
        if context is None or not context.trace_flags.sampled:
            return
        dialect, request, _ = call
        facts = reader.read(_so_far(span))
        reader.settle(facts)
        row = llm_call.llm_call(facts, batch)
        if row.operation in semconv.COMPLETING_OPERATIONS:
            return
        content = None if request is None else InferenceContent(dialect, request)
        parts = split_request(dialect, {} if request is None else request)
        if not row.turn_id and row.operation not in semconv.OUTSIDE_ROUNDS:
            row.session_id, row.turn_id = self._derived.place(facts, dialect, parts)
        if content is not None and batch.redactor.settings.capture_content:
            llm_call.add_content(row, content, parts, facts, self._message_store, batch)
        found = RunningCall(**{name: getattr(row, name) for name in _SHARED}, status=RUNNING)
        written.row = found
        batch.add(found)
        self._go_on(written, call, batch, new=True)

    def _go_on(self, written: _Written, call: OpenCall, batch: Batch, *, new: bool = False) -> None:
        """Write what has come of the reply since, if anything has."""
        found, now = written.row, batch.written_at
        if found is None:
            return
        written.due = now + max(EVERY_NS, (now - found.start_time) // SHARE)
        row = found if new else copy(found)
        if not batch.redactor.settings.capture_content or not _add_text(row, call, batch.redactor):
            return
        if not new:
            row.written_at = now
            written.row = row
            batch.add(row)

    def _ended(self, span: Any, batch: Batch, ended: Container[int]) -> None:
        written = self._written[span]
        written.gone = written.gone or batch.written_at
        known = written.row
        waits = batch.written_at - written.gone < UNEXPORTED_NS
        if known is not None and waits and span.context.span_id not in ended:
            return
        del self._written[span]
        if known is not None:
            kept = {name: getattr(known, name) for name in _PLACE}
            batch.add(RunningCall(**kept, status=FINAL, written_at=batch.written_at))


def _so_far(span: ReadableSpan) -> ReadableSpan:
    """A span that has not ended, as it is now: the application may go on to add to it."""
    return ReadableSpan(
        span.name,
        span.context,
        span.parent,
        span.resource,
        dict(otel_private.attributes_of_ended(span)),  # at one go
        kind=span.kind,
        status=span.status,
        start_time=span.start_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _add_text(row: RunningCall, call: OpenCall, redactor: Redactor) -> bool:
    """Put the reply so far into a row; whether it has grown."""
    dialect, _, reply = call
    try:
        response = None if reply is None else reply()
    except RuntimeError:  # a dictionary grew while it was read: the next look reads it
        return False
    if response is None:
        return False
    found = CallContent()
    found.output = llm_call.output_of(InferenceContent(dialect, {}, response))
    describe_reply(found, first_choice(dialect, found.output))
    limit = redactor.settings.content_limit_bytes

    def shown(text: str) -> str:
        return limit_text(settled(redactor.text(text, "output")), limit)[0] if text else ""

    calls: list[dict[str, Any]] = []
    for asked in found.tool_calls:
        kept: Any = redactor.value(asked, "output")
        if is_dict(kept):  # else redaction failed
            given = kept["arguments"]  # a text while it comes
            given = settled(given) if isinstance(given, str) else given
            calls.append({**kept, "arguments": limit_value(given, limit)[0]})
    before = (row.response_text, row.response_thoughts, row.tool_calls)
    row.response_text, row.response_thoughts = map(
        shown, (found.response_text, found.response_thoughts)
    )
    row.tool_calls = dumps_text(calls) if calls else ""
    return before != (row.response_text, row.response_thoughts, row.tool_calls)
