"""``turnspan week``: where a week of agents went, with the evidence."""

from __future__ import annotations

import click

from turnspan_console.failures import FINDING, USAGE, failing
from turnspan_console.options import (
    format_option,
    html_option,
    open_chosen,
    project_option,
    store_option,
    text_option,
    valued,
)
from turnspan_console.output import Output


@click.command("week", short_help="Show where a week went, what failed and what came again.")
@text_option(
    "--week", "WEEK", "The ISO week, such as 2026-W47 (UTC).  [default: this week]", "name"
)
@project_option
@valued("--limit", 10, "Rows of each table at most.", kind=click.IntRange(1, 1000))
@html_option
@format_option("table", "json")
@store_option
def command(name: str, project: str, limit: int, html: str, format_: str) -> None:
    """Show where the time and the money of a week went, which tasks failed, loops, context lost to
    compaction, what people said again and again, and what to write into the instructions file.

    It asks the records and no model. Each row names a turn, session or span that
    `turnspan show ID` opens.

    \b
      turnspan week
      turnspan week --week 2026-W47 --project parser
      turnspan week --html week.html
    """
    from turnspan_console.commands._listing import explain
    from turnspan_console.panels.html_file import save
    from turnspan_console.panels.week import as_html, print_week, week_json
    from turnspan_records.coding.week import week_report

    with open_chosen() as store:
        with failing(ValueError, code=USAGE):
            report = week_report(store, name, project=project, limit=limit)
        if report.is_empty:
            explain(store, f"nothing in {report.name}", project=project, window=report.window)
    if html:
        save(html, f"Week {report.name}", as_html(report))
    elif format_ == "json":
        Output().json(week_json(report))
    elif not report.is_empty:
        print_week(report, Output())
    if report.is_empty:
        raise click.exceptions.Exit(FINDING)
