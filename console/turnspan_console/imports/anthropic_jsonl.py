"""``turnspan import anthropic-jsonl``: lines of Anthropic's Messages API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from turnspan_console.imports._files import files_argument, import_files, provider_option
from turnspan_console.imports._frame import import_options


@click.command("anthropic-jsonl", short_help="Import transcripts and calls in Anthropic's JSON.")
@files_argument
@provider_option("anthropic")
@import_options
def command(files: tuple[Path, ...], provider: str, **options: Any) -> None:
    """Import FILES of Anthropic's JSON: transcripts ({"system": ..., "messages": [...]}),
    logged calls ({"request": ..., "response": ...}), requests and results of batches. gzip and zstd
    are unpacked.
    """
    from turnspan_records.importing.transcripts.anthropic import ANTHROPIC
    from turnspan_records.importing.transcripts.transcript_lines import Transcripts

    import_files(Transcripts(ANTHROPIC, provider), files, **options)
