"""``turnspan import openai-jsonl``: lines of OpenAI's APIs."""

from __future__ import annotations

from pathlib import Path

import click

from turnspan_console.imports._files import files_argument, opened
from turnspan_console.imports._frame import import_options, run


@click.command("openai-jsonl", short_help="Transcripts and calls in OpenAI's JSON.")
@files_argument
@click.option(
    "--provider",
    metavar="NAME",
    default="",
    help="Who answered, where it is another one with the same API.  [default: openai]",
)
@import_options
def command(
    files: tuple[Path, ...], provider: str, project: str, again: bool, format_: str
) -> None:
    """Import FILES with lines of OpenAI's JSON: transcripts ({"messages": [...]}), logged calls
    ({"request": ..., "response": ...}), the two files of a batch, stored completions; of the Chat
    Completions, Responses, Completions and Embeddings APIs. gzip and zstd are unpacked.
    """
    from turnspan_records.importing.transcripts.openai import OPENAI
    from turnspan_records.importing.transcripts.reading import Transcripts

    with opened(Transcripts(OPENAI, provider), files) as log:
        run(log, project=project, again=again, format_=format_)
