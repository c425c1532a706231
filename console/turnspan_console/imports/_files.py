"""What the kinds that import files have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import UNAVAILABLE, failing
from turnspan_console.imports._frame import run
from turnspan_console.options import F, together

if TYPE_CHECKING:
    from turnspan_records.importing.files.file_log import Format

files_argument = together(
    click.argument(
        "files",
        nargs=-1,
        required=True,
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
    ),
    *(
        click.option(
            f"--max-{name}-bytes",
            name,
            type=click.IntRange(min=2**20),
            help=f"The most bytes of {what}.  [default: {default}]",
        )
        for name, what, default in (
            ("memory", "memory, roughly, for a line, document or conversation", "1 GiB"),
            ("disk", "temporary files, for packed files and files without lines", "16 GiB"),
        )
    ),
)
"""``FILES...``, and how much reading them may take."""


def provider_option(default: str) -> Callable[[F], F]:
    """``--provider``, of transcripts."""
    return click.option(
        "--provider",
        metavar="NAME",
        default="",
        help=f"The provider, if it is another one with the same API.  [default: {default}]",
    )


def import_files(
    kind: Format, files: Sequence[Path], *, memory: int | None, disk: int | None, **options: Any
) -> None:
    """Import files; the options are those of ``run``. Raises ``Failure`` as it, or where one cannot
    be read."""
    from turnspan_records.importing.files.file_log import FileLog
    from turnspan_records.importing.files.limits import ReadLimits
    from turnspan_records.importing.sources import SourceLogError

    limits = {"memory": memory, "disk": disk}
    with failing(SourceLogError, code=UNAVAILABLE):
        log = FileLog(kind, files, ReadLimits(**{k: v for k, v in limits.items() if v is not None}))
    with closing(log):
        run(log, **options)
