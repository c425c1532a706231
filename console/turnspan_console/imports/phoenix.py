"""``turnspan import phoenix``: what Arize Phoenix has exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from turnspan_console.imports._files import files_argument, import_files
from turnspan_console.imports._frame import import_options


@click.command("phoenix", short_help="Import Arize Phoenix's exports.")
@files_argument
@import_options
def command(files: tuple[Path, ...], **options: Any) -> None:
    """Import Arize Phoenix's exports: spans and annotations, from its API or its client's data
    frames, as JSON, JSON lines or Parquet.
    """
    from turnspan_records.importing.exports.phoenix import Phoenix

    import_files(Phoenix(), files, **options)
