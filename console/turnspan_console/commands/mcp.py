"""``turnspan mcp``: the records for coding agents."""

from __future__ import annotations

import sys

import click

from turnspan_console.failures import UNAVAILABLE, USAGE, Failure
from turnspan_console.options import chosen_dsn, flag, store_option, valued
from turnspan_console.output import note

PAGE = "http://127.0.0.1:4319"
"""Where ``turnspan console`` is, unless it was told otherwise."""


@click.command("mcp", short_help="Let coding agents query the records over MCP.")
@flag(
    "--allow-judgments",
    "Also offer a tool that records judgments, as a machine's. It writes nothing else.",
    "judgments",
)
@valued("--author", "mcp", "With --allow-judgments: the judge's name.", metavar="NAME")
@valued("--page", PAGE, "The address of `turnspan console`, for links to ids.", metavar="URL")
@store_option
def command(judgments: bool, author: str, page: str) -> None:
    """Serve the records to a coding agent over the Model Context Protocol, on standard input and
    output. The agent starts it: docs/mcp.md has the line for each agent.

    The tools only read: sessions, turns, replay, show, why, diff, diagnose, find, context,
    consortium, and sandboxed SQL. Answers are bounded, and mark recorded text as data.

    \b
      claude mcp add turnspan -- turnspan mcp
    """
    if not page.startswith(("http://", "https://")):
        raise Failure(f"--page {page!r} is not an address: write http://127.0.0.1:4319.", USAGE)
    dsn = chosen_dsn()
    from turnspan_console.mcp_server.store_questions import StoreQuestions

    try:
        from turnspan_console.mcp_server.tools import server_of
    except ImportError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "pydantic"):
            raise
        raise Failure(
            f"`turnspan mcp` needs the package mcp, version 2 ({error}): "
            "pip install 'turnspan[embedded,console,mcp]'.",
            UNAVAILABLE,
        ) from None

    if sys.stdin.isatty():
        note(
            "Waiting for a coding agent on standard input: docs/mcp.md explains how one starts it."
        )
    asking = StoreQuestions(dsn)
    server_of(asking, page=page.rstrip("/"), judgments=judgments, author=author).run()
