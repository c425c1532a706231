"""OTLP in JSON, as the OpenTelemetry Collector's file exporter writes it: a request a line."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Final

from turnspan import semconv
from turnspan.content.model import as_dict
from turnspan_clickhouse.receive.decoded import (
    Decoded,
    InternCache,
    MalformedOtlpError,
    Received,
    in_order,
)
from turnspan_clickhouse.receive.log_events import NOT_TAKEN, LogEvent, judgment, with_events
from turnspan_clickhouse.receive.otlp_json import read_events, read_spans
from turnspan_records.importing.exports.exported_spans import SpanJoiner
from turnspan_records.importing.files.file_log import LeftOut, NotUnderstoodError, Read
from turnspan_records.importing.files.groups import Groups
from turnspan_records.importing.sources import Part, Problem

_ID: Final = b"spanid"
_CACHE: Final = 16 * 2**20
"""Bytes of lines that are remembered as they were decoded, some twelve times as large."""


class Otlp:
    """The format of exported requests. ``Format`` says what its methods are for.

    The spans of a trace are imported together, and with them the traces of the same session and
    those whose calls go on with one another.
    """

    kind = "otlp-json"
    tables = False
    own_projects = True

    def __init__(self) -> None:
        self._shared = InternCache()
        self._joiner = SpanJoiner()
        self._decoded: OrderedDict[int, Decoded] = OrderedDict()
        self._held = 0

    # -- what belongs together ------------------

    def index(self, read: Read, groups: Groups) -> Sequence[LeftOut]:
        """Each trace is a group; one with those that it goes on with."""
        try:
            decoded = self._decode(read)
        except MalformedOtlpError as error:
            raise NotUnderstoodError(f"it is not OTLP: {error}") from None
        empty = not (decoded.spans or decoded.events or decoded.refused)
        if empty and _ID in read.line.raw.lower():
            raise NotUnderstoodError("its spans are not in resourceSpans, scopeSpans and spans")
        for one in decoded.spans:
            group = groups.group(bytes.fromhex(one.trace_id))
            groups.add(group, read.place)
            self._joiner.join(one.span, group, groups)
        for event in decoded.events:
            groups.add(groups.group(bytes.fromhex(event.trace_id)), read.place)
        return [
            LeftOut(why, number, expected=why == NOT_TAKEN)
            for why, number in decoded.refused.items()
        ]

    def _decode(self, read: Read) -> Decoded:
        found = self._decoded.get(read.place)
        if found is not None:
            return found
        request = as_dict(read.value)
        if request is None or not {"resourceSpans", "resourceLogs"} & request.keys():
            raise NotUnderstoodError("it has neither resourceSpans nor resourceLogs")
        found = Decoded(size=len(read.line.raw), any_time=True)
        read_spans(request, found, self._shared)
        read_events(request, found, self._shared)
        self._decoded[read.place] = found
        self._held += found.size
        while self._held > _CACHE and len(self._decoded) > 1:
            self._held -= self._decoded.popitem(last=False)[1].size
        return found

    # -- what it says ------------------

    def part(self, lines: Sequence[Read], keys: set[bytes]) -> Part:
        """The spans of the group's traces, in the order in which they ended, and their events."""
        part = Part()
        traces: dict[str, dict[str, Received]] = {}
        events: dict[str, list[tuple[Read, LogEvent]]] = {}
        for read in lines:
            decoded = self._decode(read)
            seen: Counter[str] = Counter()
            for one in decoded.spans:
                if bytes.fromhex(one.trace_id) in keys:
                    spans = traces.setdefault(one.trace_id, {})
                    seen["a span" if one.span_id not in spans else "a span that came again"] += 1
                    spans.setdefault(one.span_id, one)
            for event in decoded.events:
                if bytes.fromhex(event.trace_id) in keys:
                    events.setdefault(event.span_id, []).append((read, event))
                    seen["an event"] += 1
            for what, number in seen.items():
                part.seen[read.line.file.name, what] += number
        for spans in sorted(traces.values(), key=_began):
            for one in in_order(list(spans.values())):
                told = (event for _, event in events.get(one.span_id, ()))
                said = [event for event in told if event.name != semconv.EVENT_EVALUATION]
                part.spans.append(with_events(one.span, said) if said else one.span)
        self._tell_rest(traces, events, part)
        return part

    def _tell_rest(
        self,
        traces: dict[str, dict[str, Received]],
        events: dict[str, list[tuple[Read, LogEvent]]],
        part: Part,
    ) -> None:
        """What events say that are no span's content."""
        for of_span in events.values():
            for read, event in of_span:
                one = traces.get(event.trace_id, {}).get(event.span_id)
                if event.name == semconv.EVENT_EVALUATION:
                    part.facts.append(judgment(event, one.span if one else None))
                elif one is None:
                    reason = f"the span {event.span_id} that it is about is in none of the files"
                    part.problems.append(Problem(str(read.line), f"{reason}: it was left out"))


def _began(spans: dict[str, Received]) -> int:
    return min(one.span.start_time or 0 for one in spans.values())
