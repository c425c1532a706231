"""``turnspan import phoenix``: what Arize Phoenix has exported."""

from __future__ import annotations

from pathlib import Path

import click

from turnspan_console.imports._files import files_argument, opened
from turnspan_console.imports._frame import import_options, run


@click.command("phoenix", short_help="Traces that Arize Phoenix has exported.")
@files_argument
@import_options
def command(files: tuple[Path, ...], project: str, again: bool, format_: str) -> None:
    """Import FILES that Arize Phoenix has exported: spans and annotations, of its API or as the
    data frames of its client; as JSON, JSON lines or Parquet.
    """
    from turnspan_records.importing.exports.phoenix import Phoenix

    with opened(Phoenix(), files) as log:
        run(log, project=project, again=again, format_=format_)
