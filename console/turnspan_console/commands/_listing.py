"""Lists of records: the options of the commands that show one, and what those say, and how they
end, where there is nothing to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import FINDING, USAGE, failing
from turnspan_console.options import (
    AskedRecords,
    format_option,
    open_chosen,
    raw_option,
    read_window,
    store_option,
    text_option,
    together,
    window_options,
)
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Result, Store
    from turnspan_records.access.window import Window


@dataclass(frozen=True, slots=True)
class Listing:
    """What a list was asked with."""

    project: str
    window: Window
    limit: int
    format_: str
    raw: bool = False

    @property
    def records(self) -> AskedRecords:
        """Which records it is of."""
        return {"project": self.project, "window": self.window}

    def answer(
        self, ask: Callable[[Store], Result], nothing: str, *, session: str = "", kind: str = ""
    ) -> None:
        """Print what a question of the chosen store is answered; ``nothing`` is said, with the
        likeliest reason, where it has no rows."""
        with open_chosen() as store:
            with failing(ValueError, code=USAGE):
                result = ask(store)
            if not result.rows and nothing:
                explain(store, nothing, **self.records, session=session, kind=kind)
        print_found(result, self.format_, raw=self.raw)


def listing_options(
    *formats: str, more: Sequence[Callable[[Any], Any]] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """``--since``, ``--until``, ``--project``, ``--limit``, the command's own and ``--format``: the
    command is given them as ``listing``, but its own by their names."""
    raw = (raw_option,) if "csv" in formats else ()
    names = {one.name for one in fields(Listing)}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def called(since: str | None, until: str | None, **given: Any) -> None:
            named = {name: given.pop(name) for name in names & given.keys()}
            command(listing=Listing(window=read_window(since, until), **named), **given)

        return together(window_options, *more, format_option(*formats), *raw, store_option)(called)

    return decorate


def sort_option(names: str) -> Callable[[Any], Any]:
    """``--sort``, which names some of what a list is sorted by."""
    text = f"Sort by {names} With - before the name, the largest come first."
    return text_option("--sort", "NAME", text)


def explain(
    store: Store,
    what: str,
    *,
    project: str = "",
    window: Window | None = None,
    session: str = "",
    kind: str = "",
) -> None:
    """Say on standard error that there is nothing (``what``), where, and the likeliest reason."""
    from turnspan_records.access.absence import why_nothing

    reason = why_nothing(store, project=project, window=window, session=session, kind=kind)
    note(f"{what} in {store.dsn}{reason and f': {reason}'}.")


def print_found(result: Result, format_: str, *, raw: bool = False) -> None:
    """Print what was found; nothing ends with the exit code that every command has for that."""
    from turnspan_console.panels.results import print_result

    if result.rows or format_ != "table":
        print_result(result, format_, Output(), raw=raw)
    if not result.rows:
        raise click.exceptions.Exit(FINDING)
