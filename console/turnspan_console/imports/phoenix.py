"""``turnspan import phoenix``: what Arize Phoenix has exported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from turnspan_console.imports._files import files_argument, import_files
from turnspan_console.imports._frame import import_options


@click.command("phoenix", short_help="Traces that Arize Phoenix has exported.")
@files_argument
@import_options
def command(files: tuple[Path, ...], **options: Any) -> None:
    """Import FILES that Arize Phoenix has exported: spans and annotations, of its API or as the
    data frames of its client; as JSON, JSON lines or Parquet.
    """
    from turnspan_records.importing.exports.phoenix import Phoenix

    import_files(Phoenix(), files, **options)
