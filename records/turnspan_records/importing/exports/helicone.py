"""Helicone's exports: requests as JSON lines, documents or CSV, each with its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from opentelemetry.sdk.trace import ReadableSpan

from turnspan.tracing.content_store import Content, Judgment
from turnspan_clickhouse.foreign_dialects.base import money
from turnspan_records.importing import ids
from turnspan_records.importing.exports.exported_rows import Row, mapping, number
from turnspan_records.importing.exports.exported_spans import amending
from turnspan_records.importing.exports.helicone_rows import (
    KIND,
    TOOL,
    HeliconeRequest,
    exported,
    origin_of,
)
from turnspan_records.importing.files.file_log import LeftOut, NotUnderstoodError, Read
from turnspan_records.importing.files.groups import Groups
from turnspan_records.importing.sources import Part, Problem
from turnspan_records.importing.transcripts.fields import nanoseconds
from turnspan_records.importing.transcripts.joiner import Joiner

_UNKNOWN: Final = "it is no request of Helicone (request_created_at with request_id or response_id)"
_FEEDBACK: Final = "helicone-score-feedback"


class Helicone:
    """The format of its exports. ``Format`` says what its methods are for.

    Requests are imported together that have a session, or whose histories go on with each other.
    """

    kind = KIND
    tables = True
    own_projects = False

    def __init__(self) -> None:
        self._joiner = Joiner()

    def index(self, read: Read, groups: Groups) -> Sequence[LeftOut]:
        """Each request is a group; one with its session's, and with those that it goes on with."""
        rows = list(_rows(read))
        if not rows:
            raise NotUnderstoodError(_UNKNOWN)
        left: Counter[str] = Counter()
        for row in rows:
            request = HeliconeRequest(row)
            if not request.start:
                left["a request that does not say when it began"] += 1
                continue
            group = groups.group(_key(request))
            groups.add(group, read.place)
            if request.session:
                session = f"session\0{request.session}".encode(errors="replace")
                groups.join(groups.group(session), group)
            if request.event:
                continue
            call = request.call
            self._joiner.join(call.endpoint.dialect, call.request, call.response, group, groups)
        return [LeftOut(why, count) for why, count in left.items()]

    def part(self, lines: Sequence[Read], keys: set[bytes]) -> Part:
        """The calls and tools of a session or conversation, and what was said of them."""
        part = Part()
        requests: dict[str, tuple[Read, HeliconeRequest]] = {}
        for read in lines:
            for row in _rows(read):
                request = HeliconeRequest(row)
                if not request.start or _key(request) not in keys:
                    continue
                again = " that came again" if request.identity in requests else ""
                part.seen[read.line.file.name, f"{request.what}{again}"] += 1
                requests[request.identity] = (read, request)
        costs: dict[str, Decimal] = {}
        made: list[tuple[ReadableSpan, Content | None]] = []
        for read, request in requests.values():
            if request.damaged:
                reason = f"its {request.damaged} is not JSON: it was left out"
                part.problems.append(Problem(str(read.line), reason))
            made.append(request.span_and_content())
            cost = money(request.row.get("cost"))
            if cost is not None:
                costs[f"{request.span_id:016x}"] = cost
            part.facts += _judgments(request)
        for span, content in sorted(made, key=lambda each: (each[0].end_time, each[0].start_time)):
            part.spans.append(span)
            if content is not None:
                part.contents.append((span, content))
        part.amend = amending(costs, KIND)
        return part


def _rows(read: Read) -> Iterator[Row]:
    """The rows of a line; one without any id is known by its place in the file."""
    place = f"{read.line.file.begins}/{read.line.offset}"
    for index, row in enumerate(exported(read.value)):
        if not row.keys() & {"request_id", "response_id"}:
            row["request_id"] = ids.hex_id(KIND, place, index)
        yield row


def _key(request: HeliconeRequest) -> bytes:
    return f"request\0{request.identity}".encode(errors="replace")


def _judgments(request: HeliconeRequest) -> Iterator[Judgment]:
    """Scores by name, and whether a user liked the answer (1 or 0)."""
    scores: dict[str, Any] = dict(mapping(request.row, "scores"))
    rating = request.row.get("feedback_rating")
    if rating is not None:
        scores[_FEEDBACK] = {"true": 1, "false": 0}.get(str(rating).lower(), rating)
    subject_id = f"{request.span_id:016x}"
    subject_kind = "call" if not request.event else "tool" if request.event == TOOL else "span"
    for name, score in scores.items():
        value = number(mapping(scores, name).get("value", score))
        if value is None:
            continue
        kind = "evaluation:feedback" if name == _FEEDBACK else f"evaluation:{name}"
        yield Judgment(
            resource=origin_of(request.provider).resource.attributes,
            subject_kind=subject_kind,
            subject_id=subject_id,
            kind=kind,
            annotation_id=ids.hex_id(KIND, kind, request.identity),
            score=value,
            source="import",
            created_at=nanoseconds(request.row.get("feedback_created_at")) or request.end,
        )
