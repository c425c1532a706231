"""``turnspan import otlp-json``: traces in OTLP's JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from turnspan_console.imports._files import files_argument, import_files
from turnspan_console.imports._frame import import_options


@click.command(
    "otlp-json", short_help="Import traces in OTLP's JSON, as the Collector writes them."
)
@files_argument
@import_options
def command(files: tuple[Path, ...], **options: Any) -> None:
    """Import FILES of OTLP in JSON: lines of requests, as the OpenTelemetry Collector's file
    exporter writes them, or documents; with resourceSpans, resourceLogs or both. gzip and zstd are
    unpacked.

    Give all files of a trace together: a second command replaces what the first made of it.
    """
    from turnspan_records.importing.exports.otlp import Otlp

    import_files(Otlp(), files, own_projects=True, **options)
