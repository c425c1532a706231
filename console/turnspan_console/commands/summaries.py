"""``turnspan summaries``: a page per session, which outlives the records."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from turnspan_console.failures import UNAVAILABLE, USAGE, Failure
from turnspan_console.options import (
    credentials_options,
    open_chosen,
    optional,
    project_option,
    read_window,
    several,
    store_option,
    valued,
    wiki_of,
)
from turnspan_console.output import Output
from turnspan_console.values import counted

if TYPE_CHECKING:
    from turnspan_console.panels.summary_pages import PageFormat
    from turnspan_records.keeping.summaries import SessionSummary
    from turnspan_records.quality.mediawiki_client import MediaWiki

FORMATS = ("markdown", "wikitext", "jsonl")


@click.command("summaries", short_help="Write a page about each session.")
@optional(
    "--to",
    "PATH",
    "A file for all pages, or a folder (it exists, or ends in /) for a file per session.  "
    "[default: print them]",
    "target",
    kind=click.Path(),
)
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default=FORMATS[0], show_default=True
)
@optional(
    "--mediawiki", "API_URL", "Write the pages into the wiki with this api.php address.", "api"
)
@valued("--namespace", "Logs", "With --mediawiki: the namespace of the pages.", metavar="NAME")
@credentials_options
@several("--session", "ID", "Only this session. Repeatable.", "sessions")
@project_option
@optional("--until", "WHEN", "Only sessions with a turn before.")
@optional("--since", "WHEN", "Only sessions with a turn since: 12h, 7d, 2026-11-01 (UTC).")
@store_option
def command(
    target: str | None,
    format_: str,
    api: str | None,
    namespace: str,
    file: Path | None,
    contact: str,
    sessions: tuple[str, ...],
    project: str,
    since: str | None,
    until: str | None,
) -> None:
    """Write a page about each session: the user, the questions, how each turn ended, calls, tokens,
    cost, judgments.

    The same records give the same pages. In a folder, unchanged pages are not rewritten, and a page
    stays after its session has left the store.

    \b
      turnspan summaries --to logs/
      turnspan summaries --to sessions.md --since 7d
      turnspan summaries --mediawiki https://wiki.example.org/w/api.php
    """
    from turnspan_console.panels import summary_pages
    from turnspan_console.panels.bars import Bars
    from turnspan_records.keeping.summaries import Sessions, number_of, summaries

    output = Output()
    wiki = None if api is None else wiki_of(api, file, contact)
    if wiki is not None and target is not None:
        raise Failure("Choose where to write: --to PATH or --mediawiki API_URL.", USAGE)
    pages = summary_pages.FORMATS[format_]
    which = Sessions(project, sessions, read_window(since, until))
    with open_chosen() as store, Bars() as bars:
        total = number_of(store, which)
        found = _counted(summaries(store, which), lambda done: bars.show("pages", done, total))
        if wiki is not None:
            output.line(_tallied(_into_wiki(wiki, namespace, found), wiki.api))
            return
        if target is None:
            for text in _texts(found, pages):
                output.lines(text.splitlines())
            return
        try:
            if target.endswith(("/", os.sep)) or Path(target).is_dir():
                output.line(_tallied(_into_folder(Path(target), found, pages), Path(target)))
            else:
                output.line(_into_file(Path(target), found, pages))
        except OSError as error:
            raise Failure(f"{target} cannot be written: {error.strerror}.", UNAVAILABLE) from None


def _counted(
    sessions: Iterable[SessionSummary], show: Callable[[int], None]
) -> Iterator[SessionSummary]:
    for done, session in enumerate(sessions, 1):
        yield session
        show(done)


def _texts(sessions: Iterable[SessionSummary], pages: PageFormat) -> Iterator[str]:
    """The pages as they follow each other in one file."""
    between = ""
    for session in sessions:
        yield between + pages.write(session)
        between = pages.between


def _tallied(changes: Iterator[bool], place: object) -> str:
    """Write pages, each of which may be as it was; says how many changed."""
    from turnspan_records.quality.mediawiki_client import WikiError

    tally: Counter[bool] = Counter()
    try:
        for changed in changes:
            tally[changed] += 1
    except WikiError as error:
        told = f" {counted(tally[True], 'page')} had been written." if tally[True] else ""
        raise Failure(f"{error}{told}", UNAVAILABLE) from None
    return f"{counted(tally[True], 'page')} written, {tally[False]:,} unchanged, in {place}"


def _into_folder(
    folder: Path, sessions: Iterable[SessionSummary], pages: PageFormat
) -> Iterator[bool]:
    """A file a session, in a folder of its project."""
    from turnspan_clickhouse.files.atomic_files import write_whole
    from turnspan_records.access.whole_folders import page_name

    for session in sessions:
        page = pages.write(session).encode()
        name = f"{page_name(session.session_id)}{pages.suffix}"
        path = folder / page_name(session.project) / name
        changed = not path.is_file() or path.read_bytes() != page
        if changed:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, page)
        yield changed


def _into_wiki(
    wiki: MediaWiki, namespace: str, sessions: Iterable[SessionSummary]
) -> Iterator[bool]:
    """A page a session."""
    from turnspan_console.panels.summary_pages import wikitext
    from turnspan_records.access.whole_folders import page_name

    for session in sessions:
        name = f"{page_name(session.project)}/{page_name(session.session_id)}"
        title = f"{namespace}:{name}"
        yield wiki.edit(title, wikitext(session), summary="turnspan summaries").changed


def _into_file(path: Path, sessions: Iterable[SessionSummary], pages: PageFormat) -> str:
    """All in one file, which is whole or as it was."""
    from turnspan_clickhouse.files import held_files

    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.partial")
    with aside.open("a", encoding="utf-8", newline="\n") as file:
        if not held_files.lock(file.fileno()):
            raise Failure(f"Another process is writing {path}: wait for it to finish.", UNAVAILABLE)
        try:
            written = _fill(file, _texts(sessions, pages))
        except BaseException:
            aside.unlink()
            raise
    aside.replace(path)
    return f"{counted(written, 'page')} in {path}"


def _fill(file: IO[str], texts: Iterable[str]) -> int:
    """Write the file anew, to the disk; returns how many texts it has."""
    file.truncate(0)
    written = 0
    for text in texts:
        file.write(text)
        written += 1
    file.flush()
    os.fsync(file.fileno())
    return written
