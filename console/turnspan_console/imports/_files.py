"""What the kinds that import files have in common."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from turnspan_console.failures import UNAVAILABLE, Failure

if TYPE_CHECKING:
    from turnspan_records.importing.files.file_log import FileLog, Format

F = TypeVar("F", bound=Callable[..., Any])


_LIMITS = "turnspan.import.limits"


def files_argument(command: F) -> F:
    """``FILES...``, and how much reading them may take."""
    for name, what, default in (
        ("disk", "temporary files, of what is packed and what is no lines", "16 GiB"),
        ("memory", "memory, about, to read a line, a document or a conversation", "1 GiB"),
    ):
        command = click.option(
            f"--max-{name}-bytes",
            name,
            type=click.IntRange(min=2**20),
            expose_value=False,
            callback=_remember,
            help=f"At most so many bytes of {what}.  [default: {default}]",
        )(command)
    return click.argument(
        "files",
        nargs=-1,
        required=True,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
    )(command)


def _remember(context: click.Context, parameter: click.Parameter, value: int | None) -> None:
    if value is not None:
        context.meta.setdefault(_LIMITS, {})[parameter.name] = value


@contextmanager
def opened(format_: Format, files: Sequence[Path]) -> Generator[FileLog]:
    """The files as a log. Raises ``Failure`` where one cannot be read."""
    from turnspan_records.importing.files.file_log import FileLog
    from turnspan_records.importing.files.limits import Limits
    from turnspan_records.importing.sources import SourceLogError

    try:
        limits = Limits(**click.get_current_context().meta.get(_LIMITS, {}))
        log = FileLog(format_, files, limits)
    except SourceLogError as error:
        raise Failure(str(error), UNAVAILABLE) from None
    try:
        yield log
    finally:
        log.close()
