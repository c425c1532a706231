"""``turnspan quality``: what became of what agents wrote."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import FINDING, UNAVAILABLE, USAGE, Failure, failing
from turnspan_console.options import (
    FORMATS,
    chosen_dsn,
    credentials_options,
    flag,
    format_option,
    open_chosen,
    optional,
    project_option,
    read_window,
    several,
    store_option,
    valued,
    wiki_of,
)
from turnspan_console.output import Output, note
from turnspan_console.values import counted

if TYPE_CHECKING:
    from turnspan_records.quality.check_run import QualityReport
    from turnspan_records.quality.sources import RevisionSource

_SHOWN = ("decision", "target", "reason", "found_by", "later_revision", "similarity", "artifact_id")


@click.command("quality", short_help="Judge agents' pages and files by later changes.")
@optional("--mediawiki", "API_URL", "The address of a wiki's api.php.", "api")
@optional(
    "--git", "REPO", "A folder in a git repository.", "repository", kind=click.Path(path_type=Path)
)
@optional(
    "--since",
    "WHEN",
    "Only artifacts written since: 30m, 12h, 7d, 2w, or 2026-11-01[T09:30] (UTC).",
)
@valued(
    "--window",
    "14d",
    "How long a text must stay unchanged to count as used.",
    "length",
    metavar="LONG",
)
@project_option
@several("--kind", "KIND", "Only artifacts of this kind.", "kinds")
@several(
    "--own",
    "NAME",
    "The agent's account, or its name or address as a git author. Its later changes do not "
    "count. Repeatable.  [default: for a wiki, the author of the agent's revision]",
)
@credentials_options
@flag("--again", "Also check settled artifacts again.")
@format_option(*FORMATS)
@store_option
def command(api: str | None, repository: Path | None, format_: str, **given: Any) -> None:
    """Judge agents' artifacts by what happened to them in a wiki or git repository: used if the
    text stayed unchanged, modified if a person changed it, rejected if it was reverted or deleted.
    The turn that wrote them gets the worst of their outcomes.

    It checks artifacts that are not settled yet: run it every day. A person's judgment takes
    precedence.

    \b
      turnspan quality --mediawiki https://wiki.example.org/w/api.php
      turnspan quality --git . --since 30d --own agent@example.org
    """
    from turnspan_clickhouse.spool.spool import Spool
    from turnspan_console.panels.bars import Bars
    from turnspan_records.access.window import duration
    from turnspan_records.quality.artifact_checks import ArtifactFilter
    from turnspan_records.quality.check_run import check_quality
    from turnspan_records.quality.sources import SourceError

    if (api is None) == (repository is None):
        raise Failure("Choose a source: --mediawiki API_URL or --git REPO.", USAGE)
    with failing(ValueError, code=USAGE):
        window = duration(given["length"])
    since = read_window(given["since"], None).since
    wanted = ArtifactFilter(given["project"], given["kinds"], since, given["again"])
    with failing(SourceError, code=UNAVAILABLE):
        source = _source(api, repository, given)
        with Bars() as bars:
            report = check_quality(
                open_chosen,
                Spool(chosen_dsn().spool),
                source,
                wanted=wanted,
                window=window,
                progress=lambda done, total: bars.show("artifacts", done, total),
            )
    if report.waiting:
        note(report.waiting)
    _print(report, format_, Output())
    if not report.checks:
        raise Failure("There is no artifact to check: all are settled, or there are none.", FINDING)


def _source(api: str | None, repository: Path | None, given: dict[str, Any]) -> RevisionSource:
    if repository is not None:
        from turnspan_records.quality.git import GitSource

        return GitSource(repository, own=given["own"])
    from turnspan_records.quality.mediawiki import MediaWikiSource

    wiki = wiki_of(api or "", given["file"], given["contact"])
    return MediaWikiSource(wiki, own=given["own"])


def _print(report: QualityReport, format_: str, output: Output) -> None:
    from turnspan_console.panels.results import print_rows
    from turnspan_records.quality.sources import DECISIONS

    counts = {one: report.counts[one] for one in DECISIONS if report.counts[one]}
    if format_ == "json":
        found = [
            {key: value for key, value in asdict(one).items() if key != "decided"}
            for one in report.checks
        ]
        output.json({"counts": counts, "judgments": report.judgments, "artifacts": found})
        return
    order = {one: at for at, one in enumerate(DECISIONS)}
    checks = sorted(report.checks, key=lambda one: (order[one.decision], one.project, one.target))
    rows = [[getattr(one, name) for name in _SHOWN] for one in checks]
    if format_ == "table":
        told = ", ".join(f"{number:,} {one.replace('_', ' ')}" for one, number in counts.items())
        made = f"{told}  {report.judgments:,} new judgments"
        output.title(counted(len(report.checks), "artifact"), made)
        if checks:
            output.line()
    print_rows(_SHOWN, rows, output, format_)
