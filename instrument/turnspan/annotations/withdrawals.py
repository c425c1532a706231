"""``turnspan.withdraw``: a judgment that no longer holds."""

from __future__ import annotations

import re
import time
from typing import Final

from turnspan.annotations.judgments import (
    Subject,
    SubjectKind,
    no_subject,
    resource_of,
    subject_of,
)
from turnspan.content.given_values import text_of
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import guard
from turnspan.tracing.content_store import WithdrawalFact
from turnspan.tracing.state import current, taking_facts

JUDGMENTS: Final = ("outcome", "training_flag", "score", "comment", "directive", "preference")
"""The kinds of judgments, besides ``evaluation:`` and the name of one."""
_EVALUATION: Final = re.compile(r"evaluation:.+", re.DOTALL)


def withdraw(
    subject: Subject | None = None,
    judgment: str = "",
    *,
    kind: SubjectKind | None = None,
    id: str = "",
    reason: str = "",
    author: str = "",
    source: str = "withdraw",
) -> bool:
    """Withdraw a judgment of a turn, a call or another record. Never raises.

    Nothing is deleted: the withdrawal is a record, and the judgment before it holds again. You may
    judge the same again.

    Args:
        subject: the judged record, as for ``annotate``.
        judgment: the kind of judgment: ``outcome``, ``training_flag``, ``score``, ``comment``,
            ``directive``, ``preference`` or ``evaluation:NAME``.
        kind: the kind of record of the id, as for ``annotate``.
        id: the id of the judgment; default: the newest of its kind that is not withdrawn.
        reason: the reason.
        author: who withdraws. Without an ``id``, only this author's judgments are meant; without an
            author, any author's.
        source: where it was withdrawn.

    Returns:
        Whether it was taken, as for ``annotate``. It does not check that the judgment exists.
    """
    with guard("withdraw", "turnspan.withdraw"):
        content = taking_facts(current())
        if content is None:
            return False
        what = judgment_kind(text_of(judgment))
        found = subject_of(subject, kind)
        if found is None:
            return no_subject("turnspan.withdraw")
        content.tell(
            WithdrawalFact(
                resource=resource_of(subject),
                subject_kind=found[0],
                subject_id=found[1],
                kind=what,
                annotation_id=text_of(id),
                author=text_of(author),
                source=text_of(source),
                comment=text_of(reason),
                created_at=time.time_ns(),
            )
        )
        return True
    return False


def judgment_kind(given: str) -> str:
    """A kind of judgment, if it is one.

    Raises:
        ConfigError: it is not; the message says what is.
    """
    if given in JUDGMENTS or _EVALUATION.fullmatch(given):
        return given
    raise ConfigError(
        f"judgment is one of {', '.join(JUDGMENTS)} or evaluation:NAME: not {given!r}"
    )
