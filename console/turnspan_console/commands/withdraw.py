"""``turnspan withdraw``: a judgment that no longer holds."""

from __future__ import annotations

import click

from turnspan_console.failures import FINDING, USAGE, Failure
from turnspan_console.judgment_command import Judging, author_option, subject_options
from turnspan_console.options import optional, store_option, text_option
from turnspan_console.output import Output


@click.command("withdraw", short_help="Take a judgment back.")
@click.argument("id_", metavar="ID")
@click.argument("judgment", required=False)
@optional("--id", "ID", "The id of the judgment (`turnspan show` lists them).", "chosen")
@optional("--ranking", "ID", "All preferences of a ranking (its ranking_id).")
@text_option("--reason", "TEXT", "The reason.")
@author_option(
    "Who withdraws. Without --id, the newest judgment of this author; empty: of any author.  "
    "[default: you]"
)
@subject_options
@store_option
def command(
    id_: str,
    judgment: str | None,
    chosen: str | None,
    ranking: str | None,
    reason: str,
    author: str,
    kind: str | None,
    project: str,
) -> None:
    """Withdraw a judgment of the record with this ID; the judgment before it holds again.

    JUDGMENT is outcome, training_flag, score, comment, directive, preference or evaluation:NAME; it
    is not needed with --id. Nothing is deleted: the withdrawal is a record, too.

    \b
      turnspan withdraw 2d7bcff0 outcome --reason 'a slip'
    """
    from turnspan_records.judging.annotation import withdraw, withdraw_ranking
    from turnspan_records.judging.history import judgments

    if ranking is not None and kind is None:
        with Judging(None, "") as judging:
            subject = judging.record(id_)
            assert judging.store is not None
            store, spool = judging.store, judging.spool
            count = withdraw_ranking(spool, store, subject, ranking, reason=reason, author=author)
            if not count:
                raise Failure(f"There is no ranking {ranking!r} of {subject.kind}s.", FINDING)
        Output().line(f"ranking {ranking}: {count} preferences withdrawn")
        return
    if judgment is None and (chosen is None or kind is not None):
        raise Failure("Name the judgment: outcome, score, ..., or its --id.", USAGE)
    with Judging(kind, project) as judging:
        subject = judging.record(id_)
        what = judgment or ""
        if judging.store is not None:
            told = judgments(judging.store, subject.project, subject.kind, subject.id)
            fits = [
                one
                for one in told
                if one.withdrawn_at is None
                and one.subject_id == subject.id
                and judgment in (None, one.kind)
                and (one.id.startswith(chosen) if chosen else author in ("", one.author))
            ]
            if not fits:
                said = f"judgment {chosen!r}" if chosen else f"{judgment} of {author or 'anybody'}"
                raise Failure(
                    f"There is no {said} on {subject.kind} {subject.id} to withdraw: `turnspan "
                    "show` lists them.",
                    FINDING,
                )
            what, chosen = fits[-1].kind, fits[-1].id
        withdraw(judging.spool, subject, what, id=chosen or "", reason=reason, author=author)
    Output().line(f"{subject.kind} {subject.id}: {what} withdrawn")
