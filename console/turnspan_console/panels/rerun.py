"""What reruns did, as text."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from turnspan_console import styles
from turnspan_console.output import Output
from turnspan_console.page import Page
from turnspan_console.values import counted, one_line

if TYPE_CHECKING:
    from turnspan_console.rerun_command import RerunDone
    from turnspan_records.again.rerun import RerunReport

_MOST = 5
_NOTES = {
    "network": "refused to connect to",
    "tool_ran": "ran for real:",
    "unredirected": "could not redirect",
}


def print_reruns(done: Sequence[RerunDone], output: Output) -> None:
    """Print what each rerun was answered, what ran for real, and where it diverged."""
    page = Page(output)
    for one in done:
        if one is not done[0]:
            page.blank()
        _print_report(one.report, page)
        if one.sessions:
            page.line(("recorded as  ", styles.FAINT), ", ".join(one.sessions))
    compared = list(dict.fromkeys(id_ for one in done for id_ in one.compared))
    if compared:
        page.line(shlex.join(["turnspan", "compare", *compared[:6]]))


def _print_report(report: RerunReport, page: Page) -> None:
    page.line((f"rerun {report.rerun_id}", styles.TITLE), f" of {report.session_id}")
    answered = counted(report.answered, "model call") + " from the records"
    page.line(answered + (f", {report.live} by the provider" if report.live else ""))
    if report.made_vectors:
        vectors = counted(report.made_vectors, "answer")
        page.line(
            (f"{vectors} with made vectors: those of embeddings are not recorded", styles.WARN)
        )
    if report.ambiguous:
        equal = counted(report.ambiguous, "model call")
        page.line(
            (
                f"{equal} like another conversation's at the same time: which reply was whose is"
                f" not known ({report.exchanged} exchanged)",
                styles.WARN,
            )
        )
    if report.tools_answered:
        named = [f"{name} {times}" for name, times in sorted(report.tools_answered.items())]
        page.line(f"tools from the records: {one_line(', '.join(named))}")
    for name, reason in report.tools_ran.items():
        page.line((one_line(f"tool {name} ran for real: {reason}"), styles.WARN))
    for (kind, text), times in Counter((n.kind, n.text) for n in report.notes).items():
        again = f" ({times} times)" if times > 1 else ""
        page.line((one_line(f"{_NOTES.get(kind, kind)} {text}{again}"), styles.WARN))
    if report.unasked:
        numbers = ", ".join(str(one.number) for one in report.unasked[:_MOST])
        more = "" if len(report.unasked) <= _MOST else ", …"
        calls = counted(len(report.unasked), "recorded call")
        page.line((f"{calls} never asked for: {numbers}{more}", styles.WARN))
    if not report.divergences:
        page.line(("no divergence", styles.GOOD))
        return
    first, *later = report.divergences
    page.text(str(first), style=styles.BAD)
    with page.deeper():
        for line in first.difference:
            style = {"-": styles.BAD, "+": styles.GOOD}.get(line[:1], styles.FAINT)
            page.line((one_line(line), style))
    if later:
        page.line((f"{counted(len(later), 'divergence')} after it", styles.FAINT))
