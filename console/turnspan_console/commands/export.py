"""``turnspan export``: training data out of the records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.options import F, open_chosen, read_window, store_option

if TYPE_CHECKING:
    from turnspan_records.training import TrainingSet

KINDS = ("sft", "preference", "kto", "reward", "cot")
FORMATS = ("openai", "trl", "parquet")
UNITS = ("turn", "call", "session")
PAIRS = ("preferences", "corrections", "locked", "scores", "best")
"""As ``turnspan_records.training`` has them; importing that would slow the command's start."""


def _several(name: str, metavar: str, text: str) -> Callable[[F], F]:
    return click.option(name, multiple=True, metavar=metavar, help=text)


@click.command(
    "export", short_help="Export training data: fine-tuning, preferences, rewards, reasoning."
)
@click.argument("kind", type=click.Choice(KINDS))
@click.option(
    "--to",
    "folder",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="A new folder for the set.",
)
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="openai", show_default=True
)
@click.option(
    "--unit",
    type=click.Choice(UNITS),
    default="turn",
    show_default=True,
    help="What one sample is.",
)
@_several(
    "--good",
    "RULE",
    "What makes an answer good.  [default: outcome=used, flag=1, locked, correction]",
)
@_several("--bad", "RULE", "What makes an answer bad, for kto.  [default: outcome=rejected]")
@_several("--only", "RULE", "A rule that must also hold.")
@click.option("--pairs", multiple=True, type=click.Choice(PAIRS), help="The source of pairs.")
@click.option(
    "--margin",
    type=float,
    metavar="NUMBER",
    default=1.0,
    show_default=True,
    help="The least difference of the scores of a pair.",
)
@click.option("--project", default="", metavar="NAME", help="Only this project.")
@_several("--agent", "NAME", "Only this agent. Repeatable, as the filters below.")
@_several("--version", "NAME", "Only this version of an agent.")
@_several("--model", "NAME", "Only answers of this model.")
@_several("--stop-reason", "REASON", "Only turns with this stop reason.")
@_several("--author", "NAME", "Count only this author's judgments.")
@click.option(
    "--since", metavar="WHEN", help="Only records that began since: 12h, 7d, 2026-11-01 (UTC)."
)
@click.option("--until", metavar="WHEN", help="Only records that began before.")
@click.option(
    "--where", default="", metavar="SQL", help="Only records that meet this SQL condition."
)
@_several(
    "--split", "NAME=SHARE", "The share of prompts in a split.  [default: train=0.9, test=0.1]"
)
@click.option(
    "--together",
    type=click.Choice(["session", "user", "lineage"]),
    default="session",
    show_default=True,
    help="What stays together in one split.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    metavar="N",
    help="Another number puts other prompts into each split.",
)
@click.option(
    "--near",
    type=float,
    metavar="SIMILARITY",
    help="Drop samples this similar to an earlier one, such as 0.9.",
)
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Drop longer samples.")
@click.option(
    "--tokenizer",
    default="",
    metavar="NAME",
    help="Count tokens with this tokenizer.json, or tiktoken:o200k_base.  [default: estimate]",
)
@click.option(
    "--unfinished",
    is_flag=True,
    help="Include turns whose last call failed or whose reply was cut.",
)
@click.option("--images", type=click.Choice(["urls", "files"]), help="How images are written.")
@store_option
def command(**given: Any) -> None:
    """Export a training set of KIND: sft, preference, kto, reward or cot.

    A RULE is outcome=used, flag=1, score>=8, evaluation:NAME>=0.5, evaluation:NAME=pass, locked
    (results of a locked lineage), correction (a person's rewrite of an agent's text) or any.
    --where takes a condition on the columns of turn_summary (llm_call with --unit call).

    \b
      turnspan export sft --to sets/good
      turnspan export preference --to sets/pairs --format trl --margin 2
      turnspan export sft --to sets/tall --good 'score>=8' --where "tool_call_count > 3"
    """
    from turnspan_console.output import Output
    from turnspan_console.panels.bars import Bars
    from turnspan_records.training import ExportError, export

    with failing(ExportError, code=USAGE):
        wanted = _wanted(given)
    output = Output()
    with open_chosen() as store, Bars() as bars, failing(ExportError, code=USAGE):
        made = export(store, given["folder"], wanted, progress=bars.show)
    from turnspan_console.panels.training_set import print_made

    print_made(made, output)
    if not made.lines and wanted.needs_judgment and not made.manifest["counts"]["looked_at"]:
        raise Failure(
            "No record became a line: no judgment meets the rules of the set (`used`, unless "
            "--good says otherwise). Type `turnspan annotate TURN --outcome used`.",
            FINDING,
        )
    if not made.lines:
        raise Failure(
            "No record became a line, so there is no set: see the dropped records.", FINDING
        )


def _wanted(given: dict[str, Any]) -> TrainingSet:
    from turnspan_records.training import Filters, TrainingSet, rule
    from turnspan_records.training.export_request import BAD, GOOD, SPLITS
    from turnspan_records.training.export_request import PAIRS as PAIR_SOURCES

    def rules(name: str) -> tuple[Any, ...]:
        return tuple(rule(one) for one in given[name])

    return TrainingSet(
        given["kind"],
        given["format_"],
        given["unit"],
        Filters(
            project=given["project"],
            agents=given["agent"],
            versions=given["version"],
            models=given["model"],
            stop_reasons=given["stop_reason"],
            authors=given["author"],
            window=read_window(given["since"], given["until"]),
            only=rules("only"),
            where=given["where"],
        ),
        good=rules("good") or GOOD,
        bad=rules("bad") or BAD,
        pairs=given["pairs"] or PAIR_SOURCES,
        margin=given["margin"],
        splits=dict(map(_share, given["split"])) or dict(SPLITS),
        together=given["together"],
        seed=given["seed"],
        near=given["near"],
        max_tokens=given["max_tokens"],
        tokenizer=given["tokenizer"],
        images=given["images"],
        unfinished=given["unfinished"],
    )


def _share(text: str) -> tuple[str, float]:
    from turnspan_records.training import ExportError

    name, _, share = text.partition("=")
    try:
        return name, float(share)
    except ValueError:
        raise ExportError(f"{text!r} is no split: write train=0.9.") from None
