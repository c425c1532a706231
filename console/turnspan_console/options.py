"""Options that commands share, and what they mean."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from turnspan_console.failures import UNAVAILABLE, USAGE, Failure, failing
from turnspan_console.output import note

if TYPE_CHECKING:
    from turnspan_clickhouse.files.lock_holders import Holder
    from turnspan_clickhouse.store.client import Store
    from turnspan_clickhouse.store.dsn import Dsn
    from turnspan_records.access.window import Window
    from turnspan_records.quality.mediawiki_client import MediaWiki

F = TypeVar("F", bound=Callable[..., Any])

FORMATS = ("table", "json", "jsonl", "csv")


class AskedRecords(TypedDict):
    """Which records a list is of: arguments of the questions in ``turnspan_records``."""

    project: str
    window: Window


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Options and arguments as one decorator, in the order of the help."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def flag(name: str, meaning: str, *called: str) -> Callable[[F], F]:
    """An option without a value; it is called as its name says, unless ``called`` does."""
    return click.option(name, *called, is_flag=True, help=meaning)


def text_option(name: str, metavar: str, meaning: str, *called: str) -> Callable[[F], F]:
    """An option with a text, which is empty where it is not given."""
    return click.option(name, *called, default="", metavar=metavar, help=meaning)


def optional(
    name: str, metavar: str, meaning: str, *called: str, kind: Any = None
) -> Callable[[F], F]:
    """An option that is ``None`` where it is not given."""
    return click.option(name, *called, type=kind, metavar=metavar, help=meaning)


def several(
    name: str, metavar: str, meaning: str, *called: str, kind: Any = None
) -> Callable[[F], F]:
    """An option that may be repeated."""
    return click.option(name, *called, type=kind, multiple=True, metavar=metavar, help=meaning)


def valued(
    name: str,
    default: Any,
    meaning: str,
    *called: str,
    kind: Any = None,
    metavar: str | None = None,
) -> Callable[[F], F]:
    """An option with a default, which the help shows."""
    return click.option(
        *(name, *called),
        type=kind,
        default=default,
        show_default=True,
        metavar=metavar,
        help=meaning,
    )


def store_option(command: F) -> F:
    """``--store DSN``, before the subcommand or after it; the nearer one wins."""
    return click.option(
        "--store",
        "store",
        metavar="DSN",
        expose_value=False,
        callback=_remember_store,
        help="The store to use instead of TURNSPAN_STORE: chdb:///folder or "
        "http(s)://user:password@host:port/database.",
    )(command)


def _remember_store(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        root = context.find_root()
        root.meta["turnspan.store"] = value


def format_option(*formats: str) -> Callable[[F], F]:
    """``--format`` with the given choices; the first is the default."""
    return valued(
        "--format", formats[0], "The output format.", "format_", kind=click.Choice(formats)
    )


full_option = flag("--full", "Show long texts whole (a pipe always gets them whole).")
"""``--full``, for commands that cut long texts on a terminal."""

html_option = text_option(
    "--html",
    "FILE",
    "Write one offline page, for an issue tracker or a mail. It contains the content as recorded.",
)
"""``--html``, for commands whose answer can be saved as a page."""

raw_option = flag(
    "--raw",
    "With --format csv: print texts exactly as recorded. Otherwise control characters and "
    "formulas (= + - @) are made harmless.",
)
"""``--raw``, for commands that print csv."""

period_options = together(
    optional(
        "--since",
        "WHEN",
        "Only records that began since: 30m, 12h, 7d, 2w, or 2026-11-01[T09:30] (UTC).",
    ),
    optional("--until", "WHEN", "Only records that began before (as --since)."),
)
"""``--since`` and ``--until``."""

project_option = text_option("--project", "NAME", "Only this project.")

window_options = together(
    period_options,
    project_option,
    valued("--limit", 20, "The most rows to show.", kind=click.IntRange(1, 1_000_000)),
)
"""``--since``, ``--until``, ``--project`` and ``--limit``."""

credentials_options = together(
    optional(
        "--credentials",
        "FILE",
        "A JSON file with the bot's name and password: user, password.  [default: "
        "TURNSPAN_MEDIAWIKI_USER and TURNSPAN_MEDIAWIKI_PASSWORD]",
        "file",
        kind=click.Path(path_type=Path),
    ),
    text_option("--contact", "TEXT", "How the wiki's operators can reach you."),
)
"""``--credentials`` and ``--contact``, for commands that ask a wiki."""


def wiki_of(api: str, file: Path | None, contact: str) -> MediaWiki:
    """The wiki of an address; a usage failure where that, or a bot's credentials, are none."""
    from turnspan_records.quality.mediawiki_client import MediaWiki, credentials

    with failing(ValueError, code=USAGE, end="."):
        return MediaWiki(api, credentials(file), contact=contact)


def read_window(since: str | None, until: str | None) -> Window:
    """The window that ``--since`` and ``--until`` name; a usage failure when they do not."""
    from turnspan_records.access.window import window

    with failing(ValueError, code=USAGE):
        read = window(since, until)
    if read.since >= read.until:
        raise Failure("--since must be before --until.", USAGE)
    return read


def answer_options(*formats: str) -> Callable[[F], F]:
    """``--project``, ``--format`` and ``--store``, for commands that print an answer."""
    return together(project_option, format_option(*formats), store_option)


def store_text() -> str | None:
    """What ``--store`` said; ``None`` means TURNSPAN_STORE."""
    return click.get_current_context().find_root().meta.get("turnspan.store")


def chosen_dsn() -> Dsn:
    """The store that ``--store`` or TURNSPAN_STORE names; a usage failure when it is no DSN."""
    from turnspan_clickhouse.errors import StoreError
    from turnspan_clickhouse.store.dsn import parse

    with failing(StoreError, code=USAGE):
        return parse(store_text())


def own_command(*words: str) -> list[str]:
    """A command line of ours that another program runs: by an absolute path, since its own may be
    another, and with the store that ``--store`` named."""
    name = "turnspan.exe" if sys.platform == "win32" else "turnspan"
    program = Path(sys.executable).with_name(name)
    if not os.access(program, os.X_OK):
        raise Failure(f"There is no {program}: install turnspan[console] there.", UNAVAILABLE)
    if store_text() is None:
        return [str(program), *words]
    dsn = chosen_dsn()
    if dsn.password:
        raise Failure(
            "Others can read that file: give --store without the password, and set "
            "TURNSPAN_STORE_PASSWORD_FILE.",
            USAGE,
        )
    return [str(program), *words, "--store", str(dsn)]


def open_chosen(*, create: bool = False) -> Store:
    """The store, up to date and with what waited in its spool, as every reading command wants it.

    One that does not exist is a failure, or made where ``create`` says so. Ctrl-C ends what it is
    asked.
    """
    from turnspan_clickhouse.store.interrupts import ended_by_interrupts
    from turnspan_records.access import open_dsn

    store = open_dsn(chosen_dsn(), note=note, create=create, waiting=say_who_has_it)
    click.get_current_context().with_resource(ended_by_interrupts(store))
    return store


def say_other_nodes(dsn: Dsn, command: str) -> None:
    """What is still to be run, where a command has seen to one node of a cluster without Keeper."""
    if dsn.cluster and not dsn.replicated:
        note(
            f"{dsn} is one node: also run `turnspan {command}` on every other node of the cluster."
        )


def say_who_has_it(found: Holder) -> None:
    """Who is waited for, when that takes longer than a moment."""
    note(f"waiting for {found}: its statement uses the store")
