"""Langfuse's scores and comments -> judgments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from turnspan.content.model import as_dict, as_list
from turnspan.tracing.content_store import Judgment
from turnspan_records.importing import ids
from turnspan_records.importing.exports.exported_rows import Row, listed, number, text
from turnspan_records.importing.exports.langfuse_records import LangfuseRecord
from turnspan_records.importing.exports.langfuse_spans import KIND, resource
from turnspan_records.importing.transcripts.fields import nanoseconds, opened

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
    attributes: Mapping[str, Any] = resource(environment).attributes
    return Judgment(
        resource=attributes,
        subject_kind=subject[0],
        subject_id=subject[1],
        kind=kind,
        annotation_id=ids.hex_id(KIND, kind, identity, *subject),
        source=SOURCE,
        **said,
    )
