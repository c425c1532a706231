"""The importers of files."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.options import F, text_option, together

if TYPE_CHECKING:
    from turnspan_records.importing.files.file_log import FileLog, Format

_files = together(
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


def _provider(default: str) -> Callable[[F], F]:
    return text_option(
        "--provider",
        "NAME",
        f"The provider, if it is another one with the same API.  [default: {default}]",
    )


def _log(format_: Format, files: tuple[Path, ...], **limits: int | None) -> FileLog:
    """The log in files, closed when the command ends; the limits are those of ``_files``."""
    from turnspan_records.importing.files.file_log import FileLog
    from turnspan_records.importing.files.limits import ReadLimits

    chosen = ReadLimits(**{name: value for name, value in limits.items() if value is not None})
    return click.get_current_context().with_resource(closing(FileLog(format_, files, chosen)))


@click.command(short_help="Import transcripts and calls in OpenAI's JSON.")
@_files
@_provider("openai")
def openai_jsonl(files: tuple[Path, ...], provider: str, **limits: int | None) -> FileLog:
    """Import FILES with lines of OpenAI's JSON: transcripts ({"messages": [...]}), logged calls
    ({"request": ..., "response": ...}), the two files of a batch, or stored completions, of the
    Chat Completions, Responses, Completions and Embeddings APIs. gzip and zstd are unpacked.

    \b
      turnspan import openai-jsonl calls.jsonl --project shop
    """
    from turnspan_records.importing.transcripts.openai import OPENAI
    from turnspan_records.importing.transcripts.transcript_lines import Transcripts

    return _log(Transcripts(OPENAI, provider), files, **limits)


@click.command(short_help="Import transcripts and calls in Anthropic's JSON.")
@_files
@_provider("anthropic")
def anthropic_jsonl(files: tuple[Path, ...], provider: str, **limits: int | None) -> FileLog:
    """Import FILES of Anthropic's JSON: transcripts ({"system": ..., "messages": [...]}),
    logged calls ({"request": ..., "response": ...}), requests and results of batches. gzip and zstd
    are unpacked.

    \b
      turnspan import anthropic-jsonl calls.jsonl --project shop
    """
    from turnspan_records.importing.transcripts.anthropic import ANTHROPIC
    from turnspan_records.importing.transcripts.transcript_lines import Transcripts

    return _log(Transcripts(ANTHROPIC, provider), files, **limits)


@click.command(short_help="Import traces in OTLP's JSON, as the Collector writes them.")
@_files
def otlp_json(files: tuple[Path, ...], **limits: int | None) -> FileLog:
    """Import FILES of OTLP in JSON: lines of requests, as the OpenTelemetry Collector's file
    exporter writes them, or documents; with resourceSpans, resourceLogs or both. gzip and zstd are
    unpacked.

    Give all files of a trace together: a second command replaces what the first made of it.

    \b
      turnspan import otlp-json traces.json
    """
    from turnspan_records.importing.exports.otlp import Otlp

    return _log(Otlp(), files, **limits)


@click.command(short_help="Import Helicone's exports.")
@_files
def helicone(files: tuple[Path, ...], **limits: int | None) -> FileLog:
    """Import Helicone's exports: requests with their bodies, from its export tool (with
    --include-body), its API or its page, as JSON, JSON lines or CSV.

    Give all files of a session together: a second command replaces what the first made of it.

    \b
      turnspan import helicone requests.jsonl
    """
    from turnspan_records.importing.exports.helicone import Helicone

    return _log(Helicone(), files, **limits)


@click.command(short_help="Import Langfuse's exports.")
@_files
def langfuse(files: tuple[Path, ...], **limits: int | None) -> FileLog:
    """Import Langfuse's exports: traces, observations (of either kind) and scores, from its blob
    storage integration, UI or API, as JSON, JSON lines, CSV or Parquet.

    Give the files of traces, observations and scores together: they refer to each other.

    \b
      turnspan import langfuse traces.jsonl observations.jsonl scores.jsonl
    """
    from turnspan_records.importing.exports.langfuse import Langfuse

    return _log(Langfuse(), files, **limits)


@click.command(short_help="Import Arize Phoenix's exports.")
@_files
def phoenix(files: tuple[Path, ...], **limits: int | None) -> FileLog:
    """Import Arize Phoenix's exports: spans and annotations, from its API or its client's data
    frames, as JSON, JSON lines or Parquet.

    \b
      turnspan import phoenix spans.parquet annotations.parquet
    """
    from turnspan_records.importing.exports.phoenix import Phoenix

    return _log(Phoenix(), files, **limits)
