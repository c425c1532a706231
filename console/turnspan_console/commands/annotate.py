"""``turnspan annotate``: judge a record."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import FINDING, USAGE, Failure
from turnspan_console.judgment_command import JUDGED, Judging, author_options, subject_options
from turnspan_console.options import optional, store_option
from turnspan_console.output import Output, note
from turnspan_console.values import counted

if TYPE_CHECKING:
    from turnspan.tracing.content_store import Judgment
    from turnspan_records.lookup import RecordRef

FIELDS = (
    *("id", "kind", "outcome", "flag", "score", "comment", "directive", "over", "author"),
    "confidence",
)
"""Of a row of ``--from``: as the options are called."""
OUTCOMES = ("pending", "used", "modified", "rejected")
"""As ``turnspan.annotations`` has them; importing that would slow the command's start."""


@click.command("annotate", short_help="Judge a turn, model call, session, consortium run...")
@click.argument("id_", metavar="[ID]", required=False)
@optional(
    "--from",
    "FILE",
    "Judge many records: CSV with a header, or JSON Lines; - reads standard input. Fields: "
    f"{', '.join(FIELDS)}.",
    "file",
    kind=click.File(encoding="utf-8-sig"),
)
@click.option("--outcome", type=click.Choice(OUTCOMES), help="The outcome of the answer.")
@click.option(
    "--flag",
    type=click.Choice(["1", "0", "-1"]),
    help="For training: 1 good candidate, -1 exclude, 0 neither.",
)
@optional("--score", "NUMBER", "A number; people give 1 to 10.", kind=float)
@optional("--comment", "TEXT", "The reason.")
@optional("--directive", "TEXT", "What to do differently.")
@optional("--over", "ID", "The record that this one is better than.")
@author_options
@subject_options
@store_option
def command(
    id_: str | None,
    file: io.TextIOBase | None,
    outcome: str | None,
    flag: str | None,
    score: float | None,
    comment: str | None,
    directive: str | None,
    over: str | None,
    kind: str | None,
    project: str,
    **by: Any,
) -> None:
    """Judge the turn, model call, tool call, session or consortium run with this ID.

    Six characters of ID are enough. Judgments are appended: the newest of each kind holds (the view
    annotation_current), earlier ones stay. A repeated judgment is stored once. `turnspan withdraw`
    takes one back.

    With --from, refused rows are reported by number; the others are written.

    \b
      turnspan annotate 2d7bcff0 --outcome used --score 8
    """
    from turnspan_records.judging.annotation import annotate

    if (id_ is None) == (file is None):
        raise Failure("Name what you judge: an ID, or --from FILE.", USAGE)
    if file is not None:
        said = (outcome, flag, score, comment, directive, over)
        if any(one is not None for one in said):
            raise Failure(
                "With --from, the rows contain the ids and judgments: give no others.", USAGE
            )
        with Judging(kind, project) as judging:
            _many(judging, file.read(), by)
        return
    assert id_ is not None
    with Judging(kind, project) as judging:
        subject = judging.record(id_)
        other = judging.record(over, prefer=(subject.kind,)).id if over else None
        given = annotate(
            *(judging.spool, subject),
            outcome=outcome,
            training_flag=None if flag is None else int(flag),
            score=score,
            comment=comment,
            directive=directive,
            preferred_over=other,
            **by,
        )
        if not given:
            raise Failure("Give a judgment: --outcome, --flag, --score, ...", USAGE)
    Output().line(f"{subject.kind} {subject.id}: {counted(len(given), 'judgment')}")


def _many(judging: Judging, text: str, by: Mapping[str, Any]) -> None:
    """Write the judgments of all rows that say one; a line for each of the others."""
    from turnspan_records.judging.annotation import write_judgments

    by_project: dict[str, list[Judgment]] = {}
    number = refused = 0
    for number, given in enumerate(_rows(text), 1):
        try:
            subject, each = _judged(judging, given, by)
        except (Failure, ValueError) as error:
            refused += 1
            note(f"row {number} is refused: {error}")
        else:
            by_project.setdefault(subject.project, []).extend(each)
    written = sum(write_judgments(judging.spool, of, each) for of, each in by_project.items())
    Output().line(f"{written:,} judgments of {number - refused:,} rows")
    if refused or not number:
        raise Failure(f"{refused:,} of {number:,} rows were refused.", FINDING)


def _rows(text: str) -> Iterator[str | Mapping[str | None, Any]]:
    """Rows of CSV, or lines of JSON, told apart by how they begin."""
    if text.lstrip().startswith("{"):
        yield from filter(str.strip, text.split("\n"))
    else:
        yield from csv.DictReader(io.StringIO(text, newline=""))


def _judged(
    judging: Judging, given: str | Mapping[str | None, Any], by: Mapping[str, Any]
) -> tuple[RecordRef, list[Judgment]]:
    """What a row is of, and what it says. Raises ``Failure`` or ``ValueError``."""
    from turnspan.annotations.judgments import judgments_of
    from turnspan.content.model import as_dict
    from turnspan_records.judging.annotation import unsaid

    loaded: dict[Any, Any] | None = as_dict(json.loads(given) if isinstance(given, str) else given)
    if loaded is None:
        raise ValueError("it is no JSON object")
    row = {name: value for name, value in loaded.items() if value not in (None, "")}
    for name in row:
        if name not in FIELDS:
            what = "has more cells than the header" if name is None else f"has a field {name!r}"
            raise ValueError(f"it {what}: fields are {', '.join(FIELDS)}")
    if "id" not in row:
        raise ValueError("it has no id")
    kind = row.get("kind")
    subject = judging.record(str(row["id"]), prefer=JUDGED if kind is None else (str(kind),))
    if kind not in (None, subject.kind):
        raise ValueError(f"{row['id']} is a {subject.kind}, and no {kind}")
    over = judging.record(str(row["over"]), prefer=(subject.kind,)).id if "over" in row else None
    flag, score, confidence = (_number(row, name) for name in ("flag", "score", "confidence"))
    sure = by["confidence"] if confidence is None else confidence
    one = unsaid(subject, str(row.get("author", by["author"])), sure, by["source"])
    each = judgments_of(
        *(one, row.get("outcome"), flag, score, row.get("comment"), row.get("directive"), over)  # type: ignore[arg-type]
    )
    if not each:
        raise ValueError("it has no judgment: give an outcome, flag, score, comment, ...")
    return subject, each


def _number(row: Mapping[Any, Any], name: str) -> float | None:
    try:
        return float(row[name]) if name in row else None
    except (TypeError, ValueError):
        raise ValueError(f"{name} is a number: not {row[name]!r}") from None
