"""``turnspan gate``: whether a version of an agent is worse than another, for continuous
integration."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import FINDING, UNAVAILABLE, USAGE, Failure, explained, failing
from turnspan_console.options import (
    answer_options,
    open_chosen,
    optional,
    period_options,
    read_window,
    several,
    text_option,
)
from turnspan_console.output import Output

if TYPE_CHECKING:
    from turnspan_records.again.gating.figures import VersionFigures
    from turnspan_records.again.gating.verdict import GateLimits

_EXIT_CODES = {"passed": 0, "worse": FINDING, "too_little_data": USAGE}


class _GateCommand(click.Command):
    """What cannot be compared has an exit code of its own: 1 and 2 are answers."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _not_compared():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _not_compared():
            return super().invoke(ctx)


@contextmanager
def _not_compared() -> Generator[None]:
    try:
        with explained():
            yield
    except click.ClickException as error:
        raise Failure(error.format_message(), UNAVAILABLE) from None


@click.command(
    "gate", cls=_GateCommand, short_help="Compare two versions, and fail if the new one is worse."
)
@text_option("--base", "VERSION", "The version to compare with.")
@text_option("--head", "VERSION", "The version to judge.")
@text_option("--base-where", "FILTER", "Only these turns, as `turnspan turns --filter`.")
@text_option("--head-where", "FILTER", "The same of the head.")
@several(
    "--max-worse",
    "MEASURE=AMOUNT",
    "How much worse a measure may be: cost=5%, rounds=0.5. Of shares, percentage points.  "
    "[default: 0]",
)
@several(
    "--detect",
    "MEASURE=AMOUNT",
    "The worsening that the data must suffice to find, else the exit code is 2.  "
    "[default: completion=20%]",
)
@several("--measure", "NAME", "Only these measures: fewer find less.", "only")
@optional(
    "--config",
    "FILE",
    "Read [tool.turnspan.gate] of this file.  [default: pyproject.toml, if there is one]",
    kind=click.Path(path_type=Path),
)
@optional("--out", "FILE", "Write the head's figures as JSON.", kind=click.Path(path_type=Path))
@optional("--summary", "FILE", "Append Markdown to FILE.", kind=click.Path(path_type=Path))
@text_option("--page", "URL", "The address of `turnspan console`, for links to turns.")
@period_options
@answer_options("text", "json")
def command(
    base: str, head: str, base_where: str, head_where: str, max_worse: Sequence[str],
    detect: Sequence[str], only: Sequence[str], config: Path | None, out: Path | None,
    summary: Path | None, page: str, since: str | None, until: str | None, project: str,
    format_: str,
) -> None:  # fmt: skip
    """Compare two versions of an agent, by case where the cases match.

    A VERSION is an agent_version, LINEAGE@VERSION, experiment:NAME@VERSION, or a JSON file that
    --out wrote. Measures: completion, tool_failures, loops, rounds, cost, stop:REASON, score:NAME;
    duration and tool_order only if an option names them. Equal versions are called worse in at
    most 5 % of comparisons.

    Exit codes: 0 passed, 1 worse, 2 too little data, 3 it could not be compared.

    \b
      turnspan gate --base 1.4.0 --head 1.5.0 --max-worse cost=5%
      turnspan gate --head experiment:nightly@main --out main.json
      turnspan gate --base main.json --head experiment:nightly@fix --summary summary.md
    """
    from turnspan_console.panels.gate import markdown, print_gate
    from turnspan_records.again.gating.figures import write_figures
    from turnspan_records.again.gating.verdict import compared

    with failing(ValueError, OSError, code=UNAVAILABLE):
        limits = _limits(config, max_worse, detect, only)
        if out is not None and not (base or base_where):
            [found] = _read([(head, head_where)], project, since, until)
            write_figures(out, found)
            Output().line(f"Wrote the figures of {len(found.runs):,} runs of {found.name}: {out}")
            return
        before, after = _read([(base, base_where), (head, head_where)], project, since, until)
        report = compared(before, after, limits)
        if out is not None:
            write_figures(out, after)
        if summary is not None:
            with summary.open("a", encoding="utf-8") as file:
                file.write(markdown(report, page))
    Output().answer(report, format_, lambda one, output: print_gate(one, output, page))
    raise click.exceptions.Exit(_EXIT_CODES[report.verdict])


def _read(
    versions: Sequence[tuple[str, str]], project: str, since: str | None, until: str | None
) -> list[VersionFigures]:
    from turnspan_records.again.gating.verdict import is_file, version_figures

    window = read_window(since, until)
    files = all(is_file(version) for version, _ in versions)
    with nullcontext() if files else open_chosen() as store:
        return [version_figures(store, *one, project, window) for one in versions]


def _limits(
    config: Path | None, max_worse: Sequence[str], detect: Sequence[str], only: Sequence[str]
) -> GateLimits:
    from turnspan_records.again.gating.verdict import GateLimits, project_limits

    usual = Path("pyproject.toml")
    place = config or (usual if usual.is_file() else None)
    known = GateLimits() if place is None else project_limits(place)
    return GateLimits(
        {**known.max_worse, **dict(map(_amount, max_worse))},
        {**known.detect, **dict(map(_amount, detect))},
        only or known.only,
    )


def _amount(text: str) -> tuple[str, str]:
    name, equals, amount = text.rpartition("=")
    if not equals:
        raise ValueError(f"{text!r} is no MEASURE=AMOUNT: write cost=5%.")
    return name, amount
