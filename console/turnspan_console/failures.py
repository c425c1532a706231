"""Failures as people meet them: one sentence on standard error and an exit code."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from collections.abc import Generator
from typing import IO, TYPE_CHECKING, Any

import click

from turnspan_console.output import note
from turnspan_console.remedies import remedy

if TYPE_CHECKING:
    from turnspan_clickhouse.errors import QueryError

FINDING = 1
USAGE = 2
UNAVAILABLE = 3
INTERRUPTED = 130

_UNKNOWN_TABLE = 60
_OUR_SETTINGS = re.compile(r"\s*SETTINGS final = '1'(?:, \w+ = '\d+')*")


class Failure(click.ClickException):
    """A command cannot do what was asked: the message is one sentence with the remedy."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self._exit_code = exit_code

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        """The process's exit code."""
        return self._exit_code

    def show(self, file: IO[Any] | None = None) -> None:
        """Print it as a note, without a word about usage."""
        note(self.message)


@contextlib.contextmanager
def failing(*kinds: type[Exception], code: int, end: str = "") -> Generator[None]:
    """Turn errors of these kinds, whose text is the sentence but for its end, into failures."""
    try:
        yield
    except kinds as error:
        raise Failure(f"{error}{end}", code) from None


@contextlib.contextmanager
def explained() -> Generator[None]:
    """Turn errors of the store, of the pipe and of the keyboard into exit codes."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe has what it wanted. Python flushes stdout once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise click.exceptions.Exit(0) from None
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except Exception as error:
        failure = _of_the_disk(error) or _of_the_store(error)
        if failure is None:
            raise
        raise failure from None


def _of_the_disk(error: Exception) -> Failure | None:
    """Of a disk without room, whoever found it: SQLite has an error of its own for it."""
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    if not full and str(error) != "database or disk is full":
        return None
    named = getattr(error, "filename", None)
    where = f" (of {os.fsdecode(named)})" if named else ""
    return Failure(f"The disk{where} is full: make room, then run it again.", UNAVAILABLE)


def _of_the_store(error: Exception) -> Failure | None:
    """What a person reads of an error of the store; of another there is nothing to say."""
    # Here: they bring OpenTelemetry, and `turnspan --help` is to start at once.
    from turnspan_clickhouse.errors import OTHER_COLUMNS, QueryError, StoreError

    if isinstance(error, QueryError):
        if error.code in (*OTHER_COLUMNS, _UNKNOWN_TABLE) and not _own_query():
            return Failure(
                "The store lacks tables or columns that this Turnspan reads "
                f"({_named(error)}): `turnspan migrate` creates what is missing, `turnspan "
                "doctor` shows other differences.",
                UNAVAILABLE,
            )
        what = "" if _own_query() else f" {remedy(error)}"
        return Failure(f"ClickHouse refused the query: {refusal(error)}{what}", FINDING)
    return Failure(str(error), UNAVAILABLE) if isinstance(error, StoreError) else None


def _own_query() -> bool:
    """Whether the SQL is that of the user, to whom ClickHouse's own words say most."""
    context = click.get_current_context(silent=True)
    return context is not None and context.find_root().invoked_subcommand in ("sql", "watch")


def refusal(error: QueryError) -> str:
    """ClickHouse's words, without the settings that we put into every query."""
    return _OUR_SETTINGS.sub("", str(error))


def _named(error: QueryError) -> str:
    """The part of ClickHouse's words that names what is missing."""
    words = re.sub(r"^Code: \d+\. DB::Exception: ", "", str(error))
    return re.split(r"[.:] | in scope | In scope ", words, maxsplit=1)[0][:120]
