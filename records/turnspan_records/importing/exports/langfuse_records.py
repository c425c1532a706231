"""What Langfuse exports: traces, observations and scores, as its API, its UI and its blob storage
integration write them (https://langfuse.com/docs/api-and-data-platform)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from turnspan.content.model import as_dict, as_list
from turnspan.tracing.content_store import Judgment
from turnspan_records.importing import ids
from turnspan_records.importing.exports.exported_rows import Row, listed, number, renamed, text
from turnspan_records.importing.exports.langfuse_spans import KIND, resource
from turnspan_records.importing.transcripts.fields import nanoseconds, opened

OBSERVATION: Final = "observation"
TRACE: Final = "trace"
SCORE: Final = "score"
SESSION: Final = "session"

_BOTH: Final = (
    *("id", "name", "project_id", "environment", "metadata", "input", "output", "version"),
    *("release", "created_at", "updated_at", "tags", "bookmarked", "public", "user_id"),
    *("session_id", "latency", "total_cost", "scores", "comments", "event_ts", "html_path"),
)
_OBSERVATION: Final = frozenset(
    {
        *_BOTH,
        *("trace_id", "type", "start_time", "end_time", "parent_observation_id", "level"),
        *("status_message", "model", "provided_model_name", "internal_model_id", "model_id"),
        *("model_parameters", "usage", "usage_details", "provided_usage_details", "cost_details"),
        *("provided_cost_details", "completion_start_time", "prompt_id", "prompt_name", "unit"),
        *("prompt_version", "time_to_first_token", "usage_pricing_tier_id", "trace_name"),
        *("usage_pricing_tier_name", "tool_calls", "tool_call_names", "tool_definitions"),
        *("trace_tags", "trace_timestamp", "tool_definitions_count", "tool_calls_count"),
        *("input_price", "output_price", "total_price", "calculated_input_cost", "prompt_tokens"),
        *("calculated_output_cost", "calculated_total_cost", "completion_tokens", "total_tokens"),
        *("input_usage", "output_usage", "total_usage", "input_cost", "output_cost"),
        *("is_root_observation", "is_app_root", "has_app_root", "parent_id", "input_length"),
        *("output_length", "is_deleted", "source"),
    }
)
_TRACE: Final = frozenset(
    {*_BOTH, "timestamp", "observations", "external_id", "is_deleted", "trace_id", "usage"}
)
_SCORE: Final = frozenset(
    {
        *_BOTH,
        *("timestamp", "trace_id", "observation_id", "dataset_run_id", "value", "string_value"),
        *("long_string_value", "data_type", "source", "comment", "author_user_id", "config_id"),
        *("queue_id", "execution_trace_id", "trace", "is_deleted"),
    }
)
_WRAPPERS: Final = ("data", "observations", "traces", "scores", "items", "trace", "sessions")


@dataclass(slots=True)
class LangfuseRecord:
    """One record. ``row`` has its columns in snake case, ``more`` those of no name known: in the
    UI's export of traces and observations the names of their scores."""

    kind: str
    row: Row
    more: Row

    @property
    def trace_id(self) -> str:
        """The trace that it is of; empty for a session's score."""
        own = text(self.row, "id")
        if self.kind == TRACE:
            return own
        return text(self.row, "trace_id") or (own if self.kind == OBSERVATION else "")


def exported(value: Any) -> Iterator[LangfuseRecord]:
    """The records of a line: one, or those of a page of the API, a trace or a session."""
    line = as_dict(value)
    for each in as_list(value) or [] if line is None else ():
        yield from exported(each)
    if line is None:
        return
    kind = _kind_of(line)
    if kind == SESSION:
        for trace in listed(line, "traces"):
            yield from exported({"sessionId": line["id"], **(as_dict(trace) or {})})
    elif kind:
        yield from _record(kind, line)
    else:
        for name in _WRAPPERS:
            inner = opened(line.get(name))
            yield from exported(inner)


def _record(kind: str, line: Row) -> Iterator[LangfuseRecord]:
    names = {OBSERVATION: _OBSERVATION, TRACE: _TRACE, SCORE: _SCORE}[kind]
    record = LangfuseRecord(kind, *renamed(line, names))
    yield record
    identity = text(record.row, "id")
    judged = {"traceId": identity} if kind == TRACE else {"observationId": identity}
    for name, whose in (("observations", {"traceId": identity}), ("scores", judged)):
        for inner in listed(record.row, name):
            if as_dict(inner):
                yield from exported({**whose, **inner})


def _kind_of(line: Row) -> str:
    names, _ = renamed(line, _ANY)
    if "id" not in names:
        return ""
    if "start_time" in names and ("trace_id" in names or "type" in names):
        return OBSERVATION
    if names.keys() & {"data_type", "value", "string_value", "long_string_value"}:
        return SCORE
    if "timestamp" in names:
        return TRACE
    return SESSION if "traces" in line else ""


_ANY: Final = frozenset({*_OBSERVATION, *_TRACE, *_SCORE})


SOURCE: Final = "import"
Subject = tuple[str, str]


def score(row: Row, subject: Subject, otherwise: int) -> Judgment:
    """The judgment that a score is; ``otherwise`` is when it was given if it does not say."""
    kind = text(row, "data_type").upper()
    said = text(row, "string_value") or text(row, "long_string_value")
    value = row.get("value")
    if not kind and isinstance(value, str) and number(value) is None:
        said, value = value, None
    numeric = kind in ("NUMERIC", "BOOLEAN") or (not kind and not said)
    long = kind in ("TEXT", "CORRECTION")
    comment = text(row, "comment")
    return _judgment(
        subject,
        f"evaluation:{text(row, 'name')}",
        text(row, "id"),
        environment=text(row, "environment"),
        created_at=nanoseconds(row.get("timestamp")) or otherwise,
        author=text(row, "author_user_id") or text(row, "source").lower(),
        score=number(value) if numeric else None,
        outcome="" if long else said,
        comment="\n".join(part for part in (said if long else "", comment) if part),
    )


def of_columns(record: LangfuseRecord, subject: Subject, when: int) -> Iterator[Judgment]:
    """What the UI's exports say of a trace or an observation in columns of their own: each score's
    values by its name, and comments."""
    for name, given in record.more.items():
        for place, value in enumerate(as_list(opened(given)) or []):
            if isinstance(value, (int, float, str)):
                identity = f"{subject[1]}/{name}/{place}"
                row = {"name": name, "value": value, "id": identity}
                yield score(row, subject, when)
    for said in listed(record.row, "comments"):
        comment = as_dict(said) or {}
        yield _judgment(
            subject,
            "comment",
            text(comment, "id"),
            environment=text(record.row, "environment"),
            created_at=nanoseconds(comment.get("created_at")) or when,
            author=text(comment, "author_email"),
            comment=text(comment, "content"),
        )


def is_score_column(given: Any) -> bool:
    """Whether a column of a name that is none of Langfuse's has a score's values."""
    values = as_list(opened(given))
    return bool(values) and all(isinstance(value, (int, float, str)) for value in values or ())


def _judgment(
    subject: Subject, kind: str, identity: str, *, environment: str, **said: Any
) -> Judgment:
    return Judgment(
        resource=resource(environment).attributes,
        subject_kind=subject[0],
        subject_id=subject[1],
        kind=kind,
        annotation_id=ids.hex_id(KIND, kind, identity, *subject),
        source=SOURCE,
        **said,
    )
