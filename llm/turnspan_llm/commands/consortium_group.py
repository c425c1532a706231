"""``turnspan consortium group``: find the consortium runs in a log of llm's."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, UNAVAILABLE, USAGE, Failure, failing
from turnspan_console.options import flag, format_option, optional, valued
from turnspan_console.output import Output

if TYPE_CHECKING:
    from turnspan_llm.grouping.log_writer import WrittenRows
    from turnspan_llm.grouping.model import Grouping

_FILE = click.Path(path_type=Path, dir_okay=False)
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def _window(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> float | None:
    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,9}(?:\.\d+)?)([smhd]?)", value.strip())
    if found is None or float(found[1]) == 0:
        raise click.BadParameter(f"{value!r} is not a length of time: write 90s, 30m, 2h or 1d.")
    return float(found[1]) * _UNITS[found[2]]


@click.command("group", short_help="Find the consortium runs in llm's log.")
@click.argument("logs_db", metavar="LOGS_DB", type=_FILE)
@optional(
    "--consortium-db",
    "FILE",
    "llm-consortium's own file.  [default: consortium_logs.db beside LOGS_DB, if it is there]",
    kind=_FILE,
)
@valued(
    "--strategy",
    "keys",
    "How to find runs: by keys; or literal, an older way, for comparison.",
    kind=click.Choice(["keys", "literal"]),
)
@optional(
    "--models", "FILE", "Names of consortiums that the log no longer has, one a line.", kind=_FILE
)
@click.option(
    "--window",
    metavar="LENGTH",
    callback=_window,
    help="The longest run if the log has no duration: 90s, 30m, 2h.  [default: 1h]",
)
@optional("--explain", "ROW", "Only show by which keys this row was attached.")
@optional("--decide", "FILE", "A reviewer's decisions about ambiguous rows, as JSON.", kind=_FILE)
@flag("--write", "Write ids and roles into LOGS_DB, after copying it.")
@optional(
    "--backup-dir",
    "FOLDER",
    "The folder for that copy.  [default: beside LOGS_DB]",
    kind=click.Path(path_type=Path, file_okay=False),
)
@flag("--also-consortium-db", "With --write: also write into llm-consortium's file.")
@format_option("table", "json")
def command(
    logs_db: Path,
    consortium_db: Path | None,
    strategy: str,
    models: Path | None,
    window: float | None,
    explain: str | None,
    decide: Path | None,
    write: bool,
    backup_dir: Path | None,
    also_consortium_db: bool,
    format_: str,
) -> None:
    """Find the consortium runs in LOGS_DB, simonw/llm's log; `llm logs path` prints where it is.

    Each run gets the same KSUID every time. Ambiguous rows are listed with the reason and the
    possible runs; --decide takes a reviewer's decisions:

    \b
      {"decisions": [{"row": "01k...", "output": "01k..."}, {"row": "01k...", "output": null}]}

    LOGS_DB is only read, and llm may write to it meanwhile. With --write, empty values of the
    columns consortium_id and is_arbiter_response (0 member or output, 1 final arbiter, 2 other
    arbiter) are filled, in one transaction, after a checked copy.

    \b
      turnspan consortium group "$(llm logs path)" --write
    """
    from turnspan_llm.commands.grouping_panel import as_json, print_grouping
    from turnspan_llm.grouping.decisions import DecisionError, read_decisions
    from turnspan_llm.grouping.runs import beside, group
    from turnspan_llm.logs.connection import LogsError

    if write and strategy == "literal":
        raise Failure(
            "The literal rules attach wrong rows, so nothing of theirs is written: leave out "
            "--write, or --strategy literal.",
            USAGE,
        )
    found_db = consortium_db or beside(logs_db)
    if also_consortium_db and found_db is None:
        raise Failure(
            "There is no consortium_logs.db to write: name it with --consortium-db.", USAGE
        )
    names = () if models is None else _names(models)
    written: dict[str, WrittenRows] = {}
    with failing(LogsError, code=UNAVAILABLE), failing(DecisionError, code=USAGE):
        decisions = None if decide is None else read_decisions(decide)
        grouping = group(
            logs_db,
            consortium_db=found_db,
            strategy="literal" if strategy == "literal" else "keys",
            models=names,
            window=window,
            decisions=decisions,
        )
        if explain is not None:
            _explain(grouping, explain, Output(), format_)
            return
        if write:
            targets = [logs_db, found_db if also_consortium_db else None]
            written = _write(grouping, targets, backup_dir)
    if format_ == "json":
        Output().json(as_json(grouping, written))
    else:
        print_grouping(grouping, written, Output())


def _names(path: Path) -> tuple[str, ...]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{path} cannot be read: {error}.", USAGE) from None
    return tuple(line.strip() for line in lines if line.strip())


def _write(
    grouping: Grouping, paths: list[Path | None], backup_dir: Path | None
) -> dict[str, WrittenRows]:
    from turnspan_llm.grouping.log_writer import write

    return {
        str(path): write(path, grouping, database=number, backup_dir=backup_dir)
        for number, path in enumerate(paths)
        if path is not None
    }


def _explain(grouping: Grouping, row: str, output: Output, format_: str) -> None:
    from turnspan_llm.commands.grouping_panel import explained, print_explained

    told = explained(grouping, row)
    if told is None:
        raise Failure(
            f"Row {row!r} is in no run and in no list: it is no consortium's output, no arbiter "
            "and no member, or it is not in this log.",
            FINDING,
        )
    output.answer(told, format_, print_explained)
