"""``turnspan import langfuse``: what Langfuse has exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from turnspan_console.imports._files import files_argument, import_files
from turnspan_console.imports._frame import import_options


@click.command("langfuse", short_help="Import Langfuse's exports.")
@files_argument
@import_options
def command(files: tuple[Path, ...], **options: Any) -> None:
    """Import Langfuse's exports: traces, observations (of either kind) and scores, from its blob
    storage integration, UI or API, as JSON, JSON lines, CSV or Parquet.

    Give the files of traces, observations and scores together: they refer to each other.
    """
    from turnspan_records.importing.exports.langfuse import Langfuse

    import_files(Langfuse(), files, **options)
