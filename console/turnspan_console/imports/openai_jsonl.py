"""``turnspan import openai-jsonl``: lines of OpenAI's APIs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from turnspan_console.imports._files import files_argument, import_files, provider_option
from turnspan_console.imports._frame import import_options


@click.command("openai-jsonl", short_help="Import transcripts and calls in OpenAI's JSON.")
@files_argument
@provider_option("openai")
@import_options
def command(files: tuple[Path, ...], provider: str, **options: Any) -> None:
    """Import FILES with lines of OpenAI's JSON: transcripts ({"messages": [...]}), logged calls
    ({"request": ..., "response": ...}), the two files of a batch, or stored completions, of the
    Chat Completions, Responses, Completions and Embeddings APIs. gzip and zstd are unpacked.
    """
    from turnspan_records.importing.transcripts.openai import OPENAI
    from turnspan_records.importing.transcripts.transcript_lines import Transcripts

    import_files(Transcripts(OPENAI, provider), files, **options)
