"""Phoenix's exports: JSON lines, documents or Parquet of spans and annotations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from turnspan.tracing.content_store import Judgment
from turnspan_clickhouse.foreign_dialects.base import money
from turnspan_records.importing import ids
from turnspan_records.importing.exports.exported_rows import mapping, number, text
from turnspan_records.importing.exports.exported_spans import SpanJoiner, amending
from turnspan_records.importing.exports.phoenix_rows import (
    KIND,
    RESOURCE,
    SPAN_KIND,
    NotTaken,
    PhoenixAnnotation,
    PhoenixSpan,
    exported,
)
from turnspan_records.importing.files.file_log import LeftOut, NotUnderstoodError, Read
from turnspan_records.importing.files.groups import Groups
from turnspan_records.importing.sources import Part, SourceLogError
from turnspan_records.importing.spans import in_span_order
from turnspan_records.importing.transcripts.fields import nanoseconds

SOURCE: Final = "import"
_SUBJECTS: Final = {"LLM": "call", "EMBEDDING": "call", "TOOL": "tool", "AGENT": "turn"}
_UNKNOWN: Final = "it is neither a span nor an annotation of Phoenix"


class Phoenix:
    """The format of its exports. ``Format`` says what its methods are for."""

    kind = KIND
    tables = True
    own_projects = False

    def __init__(self) -> None:
        self._joiner = SpanJoiner()
        self._subjects: dict[int, str] = {}
        """What the spans are that are judged as more than a span."""

    def index(self, read: Read, groups: Groups) -> Sequence[LeftOut]:
        """Each trace is a group; one with those that it goes on with."""
        left: Counter[str] = Counter()
        rows = list(exported(read.value))
        for row in rows:
            if not isinstance(row, PhoenixAnnotation) and read.line.file.is_csv:
                raise SourceLogError(
                    f"The file {read.line.file.path} is CSV, where a span's messages are no JSON:"
                    " save the data frame with to_parquet() or to_json()."
                )
            if isinstance(row, NotTaken):
                left[row.why] += 1
                continue
            group = groups.group(_key(row))
            groups.add(group, read.place)
            if isinstance(row, PhoenixSpan):
                subject = _SUBJECTS.get(str(row.attributes.get(SPAN_KIND)))
                if subject is not None:
                    self._subjects[row.span_id] = subject
                self._joiner.join(row.span, group, groups)
        if not rows:
            raise NotUnderstoodError(_UNKNOWN)
        return [LeftOut(why, count) for why, count in left.items()]

    def part(self, lines: Sequence[Read], keys: set[bytes]) -> Part:
        """The spans of the group's traces, and what was said of them."""
        part = Part()
        traces: dict[int, dict[int, PhoenixSpan]] = {}
        annotations: list[tuple[Read, PhoenixAnnotation]] = []
        for read in lines:
            for row in exported(read.value):
                if isinstance(row, NotTaken) or _key(row) not in keys:
                    continue
                what = "an annotation"
                if isinstance(row, PhoenixAnnotation):
                    annotations.append((read, row))
                else:
                    spans = traces.setdefault(row.trace_id, {})
                    what = "a span that came again" if row.span_id in spans else "a span"
                    spans[row.span_id] = row
                part.seen[read.line.file.name, what] += 1
        costs: dict[str, Decimal] = {}
        for spans in sorted(traces.values(), key=_began):
            part.spans += in_span_order([one.span for one in spans.values()])
            for one in spans.values():
                cost = money(one.attributes.get("llm.cost.total"))
                if cost is not None:
                    costs[f"{one.span_id:016x}"] = cost
        part.amend = amending(costs, KIND)
        part.facts += [self._judgment(read, each, traces) for read, each in annotations]
        return part

    def _judgment(
        self, read: Read, said: PhoenixAnnotation, traces: Mapping[int, Mapping[int, PhoenixSpan]]
    ) -> Judgment:
        row = said.row
        result = mapping(row, "result")

        def value(name: str) -> Any:
            return result.get(name, row.get(f"result.{name}", row.get(name)))

        subject = self._subject(said, traces)
        starts = (one.start for one in traces.get(said.trace_id, {}).values())
        name = text(row, "annotation_name") or text(row, "name") or "evaluation"
        if row.get("document_position") is not None:
            name = f"{name} of document {row['document_position']}"
        created = nanoseconds(row.get("updated_at")) or nanoseconds(row.get("created_at"))
        known = text(row, "id") or f"{name}/{text(row, 'identifier')}/{text(row, 'annotator_kind')}"
        return Judgment(
            resource=RESOURCE.attributes,
            subject_kind=subject[0],
            subject_id=subject[1],
            kind=f"evaluation:{name}",
            annotation_id=ids.hex_id(KIND, "annotation", known, *subject),
            score=number(value("score")),
            outcome=_said(value("label")),
            comment=_said(value("explanation")),
            author=text(row, "user_id") or text(row, "annotator_kind").lower(),
            source=SOURCE,
            created_at=created or min(starts, default=0) or read.time,
        )

    def _subject(
        self, said: PhoenixAnnotation, traces: Mapping[int, Mapping[int, PhoenixSpan]]
    ) -> tuple[str, str]:
        if said.span_id:
            return self._subjects.get(said.span_id, "span"), f"{said.span_id:016x}"
        if said.trace_id:
            spans = traces.get(said.trace_id, {}).values()
            agents = [one for one in spans if one.attributes.get(SPAN_KIND) == "AGENT"]
            first = min(agents, key=lambda one: one.start, default=None)
            known = f"{said.trace_id:032x}" if first is None else f"{first.span_id:016x}"
            return "turn", known
        return "session", said.session


def _key(row: PhoenixSpan | PhoenixAnnotation) -> bytes:
    if row.trace_id:
        return row.trace_id.to_bytes(16, "big")
    if isinstance(row, PhoenixAnnotation) and row.session:
        return f"session\0{row.session}".encode(errors="replace")
    return row.span_id.to_bytes(8, "big")


def _said(value: Any) -> str:
    return "" if value is None or (number(value) is None and value != value) else str(value)


def _began(spans: Mapping[int, PhoenixSpan]) -> int:
    return min(one.start for one in spans.values())
