"""``turnspan import anthropic-jsonl``: lines of Anthropic's Messages API."""

from __future__ import annotations

from pathlib import Path

import click

from turnspan_console.imports._files import files_argument, opened
from turnspan_console.imports._frame import import_options, run


@click.command("anthropic-jsonl", short_help="Transcripts and calls in Anthropic's JSON.")
@files_argument
@click.option(
    "--provider",
    metavar="NAME",
    default="",
    help="Who answered, where it is another one with the same API.  [default: anthropic]",
)
@import_options
def command(
    files: tuple[Path, ...], provider: str, project: str, again: bool, format_: str
) -> None:
    """Import FILES of Anthropic's JSON: transcripts ({"system": ..., "messages": [...]}),
    logged calls ({"request": ..., "response": ...}), requests and results of batches. gzip and zstd
    are unpacked.
    """
    from turnspan_records.importing.transcripts.anthropic import ANTHROPIC
    from turnspan_records.importing.transcripts.reading import Transcripts

    with opened(Transcripts(ANTHROPIC, provider), files) as log:
        run(log, project=project, again=again, format_=format_)
