"""``turnspan summaries``: a page per session, which outlives the records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import click

from turnspan_console.failures import UNAVAILABLE, USAGE, Failure
from turnspan_console.options import (
    credentials_options,
    open_chosen,
    read_window,
    store_option,
    wiki_of,
)

if TYPE_CHECKING:
    from turnspan_records.keeping.summaries import SessionSummary
    from turnspan_records.quality.mediawiki_client import MediaWiki

FORMATS = ("markdown", "wikitext", "jsonl")


class _Pages(NamedTuple):
    """How pages are written."""

    write: Callable[[SessionSummary], str]
    suffix: str
    between: str = "\n"
    """What stands between two in one file."""


@click.command("summaries", short_help="Write a page about each session.")
@click.option(
    "--to",
    "target",
    metavar="PATH",
    type=click.Path(),
    help="A file for all pages, or a folder (it exists, or ends in /) for a file per session.  "
    "[default: print them]",
)
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default=FORMATS[0], show_default=True
)
@click.option(
    "--mediawiki",
    "api",
    metavar="API_URL",
    help="Write the pages into the wiki with this api.php address.",
)
@click.option(
    "--namespace",
    default="Logs",
    show_default=True,
    metavar="NAME",
    help="With --mediawiki: the namespace of the pages.",
)
@credentials_options
@click.option(
    "--session",
    "sessions",
    multiple=True,
    metavar="ID",
    help="Only this session. Repeatable.",
)
@click.option("--project", default="", metavar="NAME", help="Only this project.")
@click.option("--until", metavar="WHEN", help="Only sessions with a turn before.")
@click.option(
    "--since", metavar="WHEN", help="Only sessions with a turn since: 12h, 7d, 2026-11-01 (UTC)."
)
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
    from turnspan_console.output import Output
    from turnspan_console.panels.bars import Bars
    from turnspan_records.keeping.summaries import Sessions, number_of, summaries

    output = Output()
    wiki = None if api is None else wiki_of(api, file, contact)
    if wiki is not None and target is not None:
        raise Failure("Choose where to write: --to PATH or --mediawiki API_URL.", USAGE)
    pages = _pages(format_)
    which = Sessions(project, sessions, read_window(since, until))
    with open_chosen() as store, Bars() as bars:
        total = number_of(store, which)
        found = _counted(summaries(store, which), lambda done: bars.show("pages", done, total))
        if wiki is not None:
            output.line(_into_wiki(wiki, namespace, found))
            return
        if target is None:
            for text in _texts(found, pages):
                output.lines(text.splitlines())
            return
        try:
            if target.endswith(("/", os.sep)) or Path(target).is_dir():
                told = _into_folder(Path(target), found, pages)
            else:
                told = _into_file(Path(target), found, pages)
        except OSError as error:
            raise Failure(f"{target} cannot be written: {error.strerror}.", UNAVAILABLE) from None
    output.line(told)


def _pages(format_: str) -> _Pages:
    from turnspan_console.panels.summary_pages import json_line, markdown, wikitext

    return {
        "markdown": _Pages(markdown, ".md"),
        "wikitext": _Pages(wikitext, ".wiki"),
        "jsonl": _Pages(json_line, ".json", ""),
    }[format_]


def _counted(
    sessions: Iterable[SessionSummary], show: Callable[[int], None]
) -> Iterator[SessionSummary]:
    for done, session in enumerate(sessions, 1):
        yield session
        show(done)


def _texts(sessions: Iterable[SessionSummary], pages: _Pages) -> Iterator[str]:
    """The pages as they follow each other in one file."""
    between = ""
    for session in sessions:
        yield between + pages.write(session)
        between = pages.between


def _into_folder(folder: Path, sessions: Iterable[SessionSummary], pages: _Pages) -> str:
    """A file a session, in a folder of its project; says how many changed."""
    from turnspan_clickhouse.files.atomic_files import write_whole
    from turnspan_console.panels.summary_pages import page_name
    from turnspan_console.values import counted

    changed = same = 0
    for session in sessions:
        page = pages.write(session).encode()
        name = f"{page_name(session.session_id)}{pages.suffix}"
        path = folder / page_name(session.project) / name
        if path.is_file() and path.read_bytes() == page:
            same += 1
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, page)
        changed += 1
    return f"{counted(changed, 'page')} written, {same:,} unchanged, in {folder}"


def _into_wiki(wiki: MediaWiki, namespace: str, sessions: Iterable[SessionSummary]) -> str:
    """A page a session; says how many changed."""
    from turnspan_console.panels.summary_pages import page_name, wikitext
    from turnspan_console.values import counted
    from turnspan_records.quality.mediawiki_client import WikiError

    changed = same = 0
    try:
        for session in sessions:
            name = f"{page_name(session.project)}/{page_name(session.session_id)}"
            title = f"{namespace}:{name}"
            made = wiki.edit(title, wikitext(session), summary="turnspan summaries")
            if made.changed:
                changed += 1
            else:
                same += 1
    except WikiError as error:
        told = f" {counted(changed, 'page')} had been written." if changed else ""
        raise Failure(f"{error}{told}", UNAVAILABLE) from None
    return f"{counted(changed, 'page')} written, {same:,} unchanged, in {wiki.api}"


def _into_file(path: Path, sessions: Iterable[SessionSummary], pages: _Pages) -> str:
    """All in one file, which is whole or as it was."""
    from turnspan_clickhouse.files import held_files
    from turnspan_console.values import counted

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
