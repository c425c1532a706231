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
    """Withdraw a judgment of a turn, a call or anything else with an id. Never raises.

    Nothing is deleted: the withdrawal is a record of its own, and the judgment of that kind that
    stood before holds again. To judge the same again holds, too.

    Args:
        subject: what was judged, as for ``annotate``.
        judgment: the kind of the judgment: ``outcome``, ``training_flag``, ``score``, ``comment``,
            ``directive``, ``preference``, or ``evaluation:`` and a name.
        kind: what the id is of, as for ``annotate``.
        id: the id of the judgment; else it is the newest of its kind that is not withdrawn.
        reason: why.
        author: who withdraws. Without an ``id`` only a judgment of theirs, or where nobody is
            named, of anybody.
        source: where they did.

    Returns:
        Whether it was taken, as ``annotate``. Whether there is such a judgment shows where it is
        read.
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
