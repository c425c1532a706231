"""What a judge said, and how far it agrees with people, on the screen."""

from __future__ import annotations

from rich.text import Text

from turnspan_console import styles
from turnspan_console.output import Output
from turnspan_console.panels.results import print_block
from turnspan_console.values import counted, dollars, one_line
from turnspan_records.judging.judge_agreement import FEWEST_JUDGED, JudgeAgreement
from turnspan_records.judging.judge_run import JudgeReport


def print_agreement(found: JudgeAgreement, output: Output) -> None:
    """Write an agreement: kappa with its interval, a warning where few were judged, the table."""
    if found.kappa is None:
        value = "is not known"
    else:
        bounds = "" if found.low is None else f" ({found.low:.2f} to {found.high:.2f})"
        value = f"is {found.kappa:.2f}{bounds}{', by distance' if found.weighted else ''}"
    judged = f"{counted(found.records, 'record')} that people judged too ({found.people})"
    output.line(f"Agreement of {found.name} with people: kappa {value}; {judged}")
    if found.too_few:
        few = f"People judged fewer than {FEWEST_JUDGED} of its records: do not trust it yet."
        output.line(Text(few, styles.WARN))
    table = [(one_line(str(judge)), one_line(str(person)), n) for judge, person, n in found.table]
    print_block(("judge", "people", "records"), table, output)


def print_judged(report: JudgeReport, output: Output) -> None:
    """Write what a judge did."""
    cost = f", {dollars(report.cost_usd)}" if report.cost_usd else ""
    output.line()
    output.title(
        f"{report.name}@{report.version}",
        f"{report.judged:,} of {report.turns:,} judged now, {report.known:,} known before{cost}",
    )
    if report.score is not None:
        output.line(f"  mean score  {report.score:.3g}")
    for label, n in report.labels.most_common():
        output.line(f"  {one_line(label)}  {n:,}")
    if report.by_position:
        ties = counted(report.by_position, "pair")
        output.line(f"  {ties} judged by position, and counted as ties")
    for reason, n in report.errors.most_common():
        output.line(Text(f"  {n:,} not judged: {one_line(reason)}", styles.BAD))
    if report.stopped:
        output.line(Text(f"  stopped: {one_line(report.stopped)}", styles.WARN))
    output.line()
