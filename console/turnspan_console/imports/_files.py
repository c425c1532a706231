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


def files_argument(command: F) -> F:
    """``FILES...``."""
    return click.argument(
        "files",
        nargs=-1,
        required=True,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
    )(command)


@contextmanager
def opened(format_: Format, files: Sequence[Path]) -> Generator[FileLog]:
    """The files as a log. Raises ``Failure`` where one cannot be read."""
    from turnspan_records.importing.files.file_log import FileLog
    from turnspan_records.importing.sources import SourceLogError

    try:
        log = FileLog(format_, files)
    except SourceLogError as error:
        raise Failure(str(error), UNAVAILABLE) from None
    try:
        yield log
    finally:
        log.close()
