"""``turnspan judge``: a model or a function that judges recorded turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.options import (
    answer_options,
    open_chosen,
    optional,
    period_options,
    read_window,
    store_text,
    text_option,
    valued,
)
from turnspan_console.output import Output


@click.command("judge", short_help="Have a model or a function judge turns, and compare it.")
@text_option("--with", "JUDGE", "The judge: a file (judge.toml) or module:function.", "place")
@text_option("--where", "FILTER", "Only these turns, as `turnspan turns --filter`.")
@text_option("--against", "FILTER", "Of a pairwise judge: the turns to compare with.")
@text_option("--agreement", "NAME", "Show how far this judge agrees with people.")
@text_option(
    "--people",
    "KIND",
    "People's judgments to compare with: score, outcome or evaluation:NAME.  "
    "[default: the judge's name, else score, else outcome]",
)
@text_option("--base-url", "URL", "The endpoint, instead of the file's.")
@text_option("--model", "NAME", "The model, instead of the file's.")
@valued("--limit", 100, "The newest turns to judge.", kind=click.IntRange(1, 1_000_000))
@valued("--parallel", 4, "Requests at a time.", kind=click.IntRange(1, 64))
@optional("--max-usd", "USD", "Stop when the calls have cost so much.", kind=click.FloatRange(0))
@period_options
@answer_options("text", "json")
def command(
    place: str, where: str, against: str, agreement: str, people: str, base_url: str, model: str,
    limit: int, parallel: int, max_usd: float | None, since: str | None, until: str | None,
    project: str, format_: str,
) -> None:  # fmt: skip
    """Judge recorded turns by a model or a function, and compare it with people's judgments.

    What was judged with the same content is not asked again. The judge's own calls are recorded
    in the project PROJECT-judge.

    \b
      turnspan judge --with judge.toml --where agent:wiki --limit 50 --max-usd 1
      turnspan judge --with pairs.toml --where version:2 --against version:1
      turnspan judge --agreement helpful
    """
    from turnspan_console.panels.judge import print_agreement, print_judged
    from turnspan_records.judging.judge_agreement import judge_agreement

    if not place and not agreement:
        raise Failure("Say --with JUDGE, or --agreement NAME of one that has judged.", USAGE)
    output = Output()
    if not place:
        with open_chosen() as store:
            found = judge_agreement(store, agreement, people=people, project=project)
        output.answer(found, format_, print_agreement)
        if not found.records:
            raise click.exceptions.Exit(FINDING)
        return
    from turnspan_clickhouse.spool.spool import Spool
    from turnspan_console.panels.bars import Bars
    from turnspan_records.access import land_what_waits
    from turnspan_records.access.row_writer import judging_spool
    from turnspan_records.judging.judge_model import FunctionJudge, Judge, ModelJudge
    from turnspan_records.judging.judge_prompt import read_judge
    from turnspan_records.judging.judge_run import judge_turns
    from turnspan_records.turn_filters import TurnListFilter, turn_filter

    window = read_window(since, until)
    with failing(ValueError, code=USAGE):
        wanted = [TurnListFilter(project, window, turn_filter(one)) for one in (where, against)]
        if place.endswith(".toml"):
            prompt = read_judge(Path(place), model=model, base_url=base_url)
            judge: Judge = ModelJudge(prompt, store=store_text(), max_usd=max_usd)
        else:
            judge = FunctionJudge(place)
    scale = judge.prompt.scale if isinstance(judge, ModelJudge) else None
    of: dict[str, Any] = {"people": people, "project": project, "scale": scale}
    with open_chosen() as store:
        judging_spool(store)
        before = judge_agreement(store, judge.name, version=judge.version, **of)
        if format_ == "text":
            print_agreement(before, output)
        with Bars() as bars, failing(ValueError, code=USAGE):
            report = judge_turns(
                store,
                Spool(store.dsn.spool),
                judge,
                wanted[0],
                against=wanted[1] if against else None,
                limit=limit,
                parallel=parallel,
                progress=lambda done, total: bars.show("turns", done, total),
            )
        judge.close()
        land_what_waits(store)
        after = judge_agreement(store, judge.name, version=judge.version, **of)
    if format_ == "json":
        output.json({"report": report, "before": before, "after": after})
    else:
        print_judged(report, output)
        print_agreement(after, output)
    if report.stopped or report.errors or not report.turns:
        raise click.exceptions.Exit(FINDING)
