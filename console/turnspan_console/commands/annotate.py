"""``turnspan annotate``: judge a record."""

from __future__ import annotations

import click

from turnspan_console.failures import USAGE, Failure
from turnspan_console.judging import Judging, author_of, author_options, subject_options
from turnspan_console.options import store_option

OUTCOMES = ("pending", "used", "modified", "rejected")
"""As ``turnspan.annotations`` has them; importing that would slow the command's start."""


@click.command("annotate", short_help="Judge a turn, model call, session, consortium run...")
@click.argument("id_", metavar="ID")
@click.option("--outcome", type=click.Choice(OUTCOMES), help="What became of the answer.")
@click.option(
    "--flag",
    type=click.Choice(["1", "0", "-1"]),
    help="For training: 1 a good candidate, -1 leave out, 0 neither.",
)
@click.option("--score", type=float, metavar="NUMBER", help="1 to 10, where people judge.")
@click.option("--comment", metavar="TEXT", help="Why.")
@click.option("--directive", metavar="TEXT", help="What is to be done differently.")
@click.option("--over", metavar="ID", help="The record that this one was chosen over.")
@author_options
@subject_options
@store_option
def command(
    id_: str,
    outcome: str | None,
    flag: str | None,
    score: float | None,
    comment: str | None,
    directive: str | None,
    over: str | None,
    author: str | None,
    confidence: float | None,
    source: str,
    kind: str | None,
    project: str,
) -> None:
    """Judge the turn, model call, tool call, session or consortium run with this ID.

    ID is whole or its beginning of at least six characters. Judgments are appended: the newest of
    each kind holds (the view annotation_current), the ones before it stay. The same one given twice
    is stored once. `turnspan withdraw` takes one back.
    """
    from turnspan_console.output import Output
    from turnspan_records.judging.annotating import annotate

    with Judging(kind, project) as judging:
        subject = judging.one(id_)
        other = judging.one(over, prefer=(subject.kind,)).id if over else None
        count = annotate(
            judging.spool,
            subject,
            outcome=outcome,
            training_flag=None if flag is None else int(flag),
            score=score,
            comment=comment,
            directive=directive,
            preferred_over=other,
            author=author_of(author),
            confidence=confidence,
            source=source,
        )
        if not count:
            raise Failure("Say what you think of it: --outcome, --flag, --score, ...", USAGE)
    judgments = "judgment" if count == 1 else "judgments"
    Output().line(f"{subject.kind} {subject.id}: {count} {judgments}")
