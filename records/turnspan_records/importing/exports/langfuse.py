"""Langfuse's exports: JSON lines, documents, CSV or Parquet of traces, observations and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from opentelemetry.sdk.trace import ReadableSpan

from turnspan_clickhouse.foreign_dialects.base import money
from turnspan_records.importing.exports.exported_rows import Row, text
from turnspan_records.importing.exports.exported_spans import SpanJoiner, amending
from turnspan_records.importing.exports.langfuse_records import (
    OBSERVATION,
    SCORE,
    TRACE,
    LangfuseRecord,
    Subject,
    exported,
    is_score_column,
    of_columns,
    score,
)
from turnspan_records.importing.exports.langfuse_spans import (
    KIND,
    costs_of,
    observation_span,
    root_number,
    span_number,
    times_of,
    trace_number,
    trace_span,
)
from turnspan_records.importing.files.file_log import LeftOut, NotUnderstoodError, Read
from turnspan_records.importing.files.groups import Groups
from turnspan_records.importing.sources import Part, Problem
from turnspan_records.importing.spans import in_span_order
from turnspan_records.importing.transcripts.fields import nanoseconds

_AROUND: Final = ("SPAN", "AGENT", "CHAIN")
"""Observations that stand for their trace, where they are its only root."""
_SUBJECTS: Final = {"GENERATION": "call", "EMBEDDING": "call", "TOOL": "tool", "AGENT": "turn"}
_UNKNOWN: Final = "it is neither a trace, an observation nor a score of Langfuse"


ReadRecords = dict[str, tuple[Read, LangfuseRecord]]
"""By their ids."""


@dataclass(slots=True)
class _LangfuseTrace:
    row: Row = field(default_factory=Row)
    record: LangfuseRecord | None = None
    read: Read | None = None
    observations: ReadRecords = field(default_factory=ReadRecords)
    scores: ReadRecords = field(default_factory=ReadRecords)


class Langfuse:
    """The format of its exports. ``Format`` says what its methods are for.

    A trace, its observations and its scores are imported together, from whichever files have them,
    and so are the traces of a session.
    """

    kind = KIND
    tables = True
    own_projects = False

    def __init__(self) -> None:
        self._joiner = SpanJoiner()

    def index(self, read: Read, groups: Groups) -> Sequence[LeftOut]:
        """Each trace is a group; one with the others of its session."""
        records = list(exported(read.value))
        if not records:
            raise NotUnderstoodError(_UNKNOWN)
        left: Counter[str] = Counter()
        for record in records:
            key = _key(record)
            if not key:
                left["a score of a dataset's run, which is of no trace"] += 1
                continue
            group = groups.group(key)
            groups.add(group, read.place)
            session = text(record.row, "session_id")
            if session and record.kind != SCORE:
                groups.join(groups.group(_session_key(session)), group)
            span = observation_span(record.row, {}, 0) if record.kind == OBSERVATION else None
            if span is not None:
                self._joiner.join(span, group, groups)
            for name, value in record.more.items():
                if record.kind != SCORE and not is_score_column(value):
                    left[f"the column {name}, which is not known"] += 1
        return [LeftOut(why, count, expected=why.startswith("the")) for why, count in left.items()]

    def part(self, lines: Sequence[Read], keys: set[bytes]) -> Part:
        """The spans of the group's traces, and what was said of them."""
        part = Part()
        traces: dict[str, _LangfuseTrace] = {}
        for read in lines:
            for record in exported(read.value):
                if _key(record) in keys:
                    self._take(read, record, traces, part)
        costs: dict[str, Decimal] = {}
        for identity, trace in sorted(traces.items(), key=_began):
            self._tell(identity, trace, part, costs)
        part.amend = amending(costs, KIND)
        return part

    def _take(
        self, read: Read, record: LangfuseRecord, traces: dict[str, _LangfuseTrace], part: Part
    ) -> None:
        key = record.trace_id or text(record.row, "session_id")
        trace = traces.setdefault(key, _LangfuseTrace())
        identity = text(record.row, "id")
        again = ""
        if record.kind == TRACE:
            again = " that came again" if trace.record is not None else ""
            trace.row = {**trace.row, **record.row}
            trace.record, trace.read = record, read
        else:
            held = trace.observations if record.kind == OBSERVATION else trace.scores
            if identity in held:  # of a trace's own page as well, or of both kinds of observations
                again = " that came again"
                record.row = {**held[identity][1].row, **record.row}
                record.more = {**held[identity][1].more, **record.more}
            held[identity] = (read, record)
        article = "an" if record.kind == OBSERVATION else "a"
        part.seen[read.line.file.name, f"{article} {record.kind}{again}"] += 1

    def _tell(
        self, identity: str, trace: _LangfuseTrace, part: Part, costs: dict[str, Decimal]
    ) -> None:
        rows = [record.row for _, record in trace.observations.values()]
        times = [each for each in map(times_of, rows) if each is not None]
        when = nanoseconds(trace.row.get("timestamp"))
        start = min([each[0] for each in times] + ([when] if when else []), default=0)
        root = root_number(identity) if trace.record is not None and _is_bare(rows) else 0
        spans: list[ReadableSpan] = []
        for read, record in trace.observations.values():
            span = observation_span(record.row, trace.row, root)
            if span is None:
                reason = "the observation does not say when it began: it was left out"
                part.problems.append(Problem(str(read.line), reason))
                continue
            spans.append(span)
            cost = money(costs_of(record.row).get("total"))
            if cost is not None and span.context is not None:
                costs[f"{span.context.span_id:016x}"] = cost
        if root and start:
            spans.append(trace_span(trace.row, start, max([start, *(each[1] for each in times)])))
        elif root and trace.read is not None:
            reason = "the trace does not say when it began: it was left out"
            part.problems.append(Problem(str(trace.read.line), reason))
        part.spans += in_span_order(spans)
        self._judge(identity, trace, part, start)

    def _judge(self, identity: str, trace: _LangfuseTrace, part: Part, when: int) -> None:
        whole = _subject_of_trace(identity, trace)
        for read, record in trace.scores.values():
            observation = text(record.row, "observation_id")
            subject = whole
            if observation and observation in trace.observations:
                subject = _subject(identity, trace.observations[observation][1])
            elif observation:
                subject = ("span", f"{span_number(identity, observation):016x}")
                reason = f"its observation {observation} is in none of the files: judged as a span"
                part.problems.append(Problem(str(read.line), reason))
            elif not record.trace_id:
                subject = ("session", text(record.row, "session_id"))
            part.facts.append(score(record.row, subject, when or read.time))
        if trace.record is not None:
            part.facts += of_columns(trace.record, whole, when)
        for _, record in trace.observations.values():
            began = times_of(record.row)
            subject = _subject(identity, record)
            part.facts += of_columns(record, subject, began[0] if began else when)


def _key(record: LangfuseRecord) -> bytes:
    if record.trace_id:
        return f"trace\0{record.trace_id}".encode(errors="replace")
    session = text(record.row, "session_id")
    return _session_key(session) if session else b""


def _session_key(session: str) -> bytes:
    return f"session\0{session}".encode(errors="replace")


def _is_bare(rows: list[Row]) -> bool:
    """Whether no observation stands for the trace."""
    roots = [row for row in rows if not text(row, "parent_observation_id")]
    return len(roots) != 1 or text(roots[0], "type").upper() not in _AROUND


def _subject(trace_id: str, record: LangfuseRecord) -> Subject:
    kind = _SUBJECTS.get(text(record.row, "type").upper(), "span")
    return kind, f"{span_number(trace_id, text(record.row, 'id')):016x}"


def _subject_of_trace(identity: str, trace: _LangfuseTrace) -> Subject:
    """The turn that a trace is: its agent's, else the one that is derived of its calls."""
    agents = [
        record
        for _, record in trace.observations.values()
        if text(record.row, "type").upper() == "AGENT"
    ]
    first = min(agents, key=lambda each: times_of(each.row) or (0, 0), default=None)
    if first is not None:
        return _subject(identity, first)
    return "turn", f"{trace_number(identity):032x}"


def _began(item: tuple[str, _LangfuseTrace]) -> tuple[int, str]:
    identity, trace = item
    times = [times_of(record.row) for _, record in trace.observations.values()]
    said = nanoseconds(trace.row.get("timestamp")) or 0
    return min((each[0] for each in times if each is not None), default=said), identity
