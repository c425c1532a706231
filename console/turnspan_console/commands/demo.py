"""``turnspan demo``: recorded agents over the real SDKs, and what the store then knows of them."""

from __future__ import annotations

from pathlib import Path

import click

from turnspan_console.commands import console
from turnspan_console.options import flag, optional, several, store_option


@click.command("demo", short_help="Run recorded agents and ask the store about them.")
@several(
    "--trajectories",
    "FILE",
    "Play the runs in this file instead of the shipped ones. Repeatable.",
    "files",
    kind=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.argument("more_files", nargs=-1, type=click.Path(exists=True, path_type=Path))
@optional("--limit", "N", "The most runs of each file.", kind=click.IntRange(1))
@click.option(
    "--provider",
    type=click.Choice(["openai", "anthropic", "both"]),
    help="The SDK to use.  [default: the run's own; openai for a trajectory file]",
)
@flag(
    "--camp",
    "Play the training camp instead: lineages of an agent, judged and changed (examples/).",
)
@click.option("--stream/--no-stream", default=None, help="Stream all replies, or none.")
@flag("--wiki", "Run the wiki agent instead: the context of a prompt.")
@flag(
    "--consortium",
    "Let several models answer and an arbiter decide; uses llm-consortium if installed.",
)
@flag("--quiet", "Only play and record: show nothing of the records.")
@flag("--open", "Open the records in a browser afterwards.", "and_open")
@store_option
@click.pass_context
def command(
    context: click.Context,
    files: tuple[Path, ...],
    more_files: tuple[Path, ...],
    limit: int | None,
    provider: str | None,
    stream: bool | None,
    wiki: bool,
    camp: bool,
    consortium: bool,
    quiet: bool,
    and_open: bool,
) -> None:
    """Play recorded agent runs through the real OpenAI and Anthropic SDKs and record them.

    A local model server gives the recorded replies, so you need no key. --trajectories takes JSON
    Lines of tau-bench, tau2-bench, intercode or SWE-agent, or a run of your own as .json.

    \b
      turnspan demo --open
      turnspan demo --trajectories gpt-4o-airline.jsonl --limit 20 --provider both
      turnspan demo --wiki
    """
    from turnspan_console.panels import camp_demo, consortium_demo, wiki_demo
    from turnspan_console.panels.demo_frame import Demonstration, chosen_store, demonstrate
    from turnspan_console.panels.recorded_demo import RecordedRuns

    chosen: Demonstration = RecordedRuns((*files, *more_files), limit, provider, stream)
    if consortium:
        chosen = consortium_demo
    elif wiki:
        chosen = wiki_demo
    elif camp:
        chosen = camp_demo
    demonstrate(chosen, show=not quiet)
    if and_open:
        context.find_root().meta["turnspan.store"] = chosen_store()[1]
        context.invoke(console.command, port=console.usual_or_free_port())
