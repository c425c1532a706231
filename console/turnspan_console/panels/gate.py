"""What a gate found: on the screen, and as Markdown for a pull request."""

from __future__ import annotations

import re
from collections.abc import Callable

from rich.text import Text

from turnspan_console import styles
from turnspan_console.output import Output
from turnspan_console.panels.results import print_block
from turnspan_console.values import UNKNOWN, counted, dollars, one_line, seconds
from turnspan_records.again.gating.verdict import ChangedCase, GateReport, MeasureChange

_COLUMNS = ("measure", "result", "base", "head", "change", "95_%_interval", "would_see")
_STYLES = {"passed": styles.GOOD, "worse": styles.BAD, "too_little_data": styles.WARN}
_VALUES: dict[str, Callable[[float], str]] = {
    "share": lambda value: f"{value:.1%}",
    "usd": dollars,
    "seconds": seconds,
}
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#|~!&])")


def print_gate(report: GateReport, output: Output, page: str = "") -> None:
    """Write a report for a person."""
    output.line(Text(_verdict(report), _STYLES[report.verdict]))
    output.line(Text(_sample(report), styles.FAINT))
    print_block(_COLUMNS, [_row(one) for one in report.measures], output)
    for one in report.worse:
        if one.cases:
            output.line()
            output.title(f"Cases with worse {one.name}")
            kind = one.cases[0].kind
            names = ("case", "base", "head", f"base_{kind}", f"head_{kind}")
            print_block(names, [_case(one, case, page) for case in one.cases], output)


def _case(one: MeasureChange, case: ChangedCase, page: str) -> tuple[str, ...]:
    values = [_value(one, value) for value in (case.base, case.head)]
    ids = [_link(page, id_) or id_ for id_ in (case.base_id, case.head_id)]
    return (one_line(case.case), *values, *ids)


def markdown(report: GateReport, page: str = "") -> str:
    """A report for a pull request. Recorded text in it stands as it is, without any markup."""
    mark = {"passed": "✅", "worse": "❌", "too_little_data": "⚠️"}[report.verdict]
    lines = [f"### {mark} {_plain(_verdict(report))}", "", _plain(_sample(report)), ""]
    lines.append(f"| {' | '.join(name.replace('_', ' ') for name in _COLUMNS)} |")
    lines.append(f"|{'---|' * len(_COLUMNS)}")
    lines += [f"| {' | '.join(map(_plain, _row(one)))} |" for one in report.measures]
    for one in report.worse:
        lines += ["", f"**Cases with worse {_plain(one.name)}**", ""] if one.cases else []
        for case in one.cases:
            ids = (case.base_id, case.head_id)
            base, head = (f"[{i[:8]}]({_link(page, i)})" if page else f"`{i}`" for i in ids)
            change = f"{_value(one, case.base)} → {_value(one, case.head)}"
            lines.append(f"- {_plain(case.case)}: {_plain(change)} ({base} → {head})")
    return "\n".join(lines) + "\n\n"


def _verdict(report: GateReport) -> str:
    versions = f"{report.head} against {report.base}"
    if report.verdict == "worse":
        return f"{versions}: worse in {', '.join(one.name for one in report.worse)}"
    if report.verdict == "passed":
        return f"{versions}: passed"
    unit = "cases" if report.paired else "sessions of each version"
    missing = [one for one in report.measures if one.more]
    needed = ", ".join(one.name + (f" by {one.detect}" if one.detect else "") for one in missing)
    return f"{versions}: too little data, {report.more:,} more {unit} would find {needed}"


def _sample(report: GateReport) -> str:
    runs = f"{counted(report.base_runs, 'run')} of the base, {report.head_runs:,} of the head"
    if not report.paired:
        return f"{runs}, compared as a whole"
    alone = f"; {counted(report.left_out, 'run')} left out, whose cases only one version has"
    return f"{runs}, by {counted(report.cases, 'case')}{alone if report.left_out else ''}"


def _row(one: MeasureChange) -> tuple[str, ...]:
    found = one.estimate
    if found is None or one.detectable is None:
        return (one.name, f"not tested: {counted(one.units, 'value')}", *(UNKNOWN,) * 5)
    low, high = (_change(one, found.base, value) for value in (found.low, found.high))
    return (
        one.name,
        one.state.replace("_", " ") + (f", {one.max_worse} allowed" if one.max_worse else ""),
        *(_value(one, value) for value in (found.base, found.head)),
        _change(one, found.base, found.change),
        f"{low.removesuffix(' points')} to {high}",
        _change(one, found.base, one.detectable).lstrip("+"),
    )


def _value(one: MeasureChange, value: float) -> str:
    return _VALUES.get(one.unit, "{:.2f}".format)(value)


def _change(one: MeasureChange, base: float, value: float) -> str:
    """Points of shares; parts of the base's mean of others."""
    if one.unit == "share":
        return f"{100 * value:+.1f} points"
    return f"{value / base:+.1%}" if base > 0 else f"{value:+.3g}"


def _link(page: str, id_: str) -> str:
    return f"{page.rstrip('/')}/go/{id_}" if page else ""


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", one_line(text)).replace("@", "@\u200b")
