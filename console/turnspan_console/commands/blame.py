"""``turnspan blame``: which prompt wrote a line."""

from __future__ import annotations

import re
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import FINDING, UNAVAILABLE, USAGE, Failure, failing
from turnspan_console.options import answer_options, open_chosen
from turnspan_console.output import Output
from turnspan_console.values import counted, dollars, one_line, short_id

if TYPE_CHECKING:
    from turnspan_records.coding.authorship.blame import FileShare, RepositoryBlame
    from turnspan_records.coding.authorship.line_authors import LineAuthor

_OF_TURN = ("project", "session_id", "turn_id", "agent", "prompt", "outcome")
_OF_EDIT = ("model", "tool", "call_id")
_LINES = re.compile(r"(.+?):(\d+)(?:-(\d+))?")


@click.command("blame", short_help="Name the prompt that wrote each line of a file.")
@click.argument("file", default="", metavar="[FILE[:LINE|:FROM-TO]]")
@answer_options("text", "json")
def command(file: str, project: str, format_: str) -> None:
    """Name who wrote each line of FILE in its git repository: the prompt of a coding agent, with
    its turn, model, cost and day, or a person. Without FILE, or with a folder: the agents' share
    of each file.

    It follows lines through renames, moves, formatters, merges, rebases and squashes.

    \b
      turnspan blame src/app.py
      turnspan blame src/app.py:40-60 --format json
      turnspan blame
    """
    from turnspan_records.coding.authorship.blame import RepositoryBlame
    from turnspan_records.quality.sources import SourceError

    path, first, last = _wanted(file)
    folder = path if path.is_dir() else path.parent
    with open_chosen() as store:
        with failing(SourceError, code=UNAVAILABLE):
            blame = RepositoryBlame(store, folder, project)
        with failing(ValueError, code=USAGE):
            name = blame.path_of(path)
        output = Output()
        if path.is_dir():
            _print_shares(blame, name, format_, output)
            return
        try:
            lines = blame.lines(name)[first - 1 : last]
        except KeyError:
            raise Failure(f"{path} is neither in HEAD nor in the folder.", FINDING) from None
        if not lines and (first, last) != (1, None):
            raise Failure(f"{path} has no line {first}.", FINDING)
        decisions = blame.decisions(store, name, lines)
    if format_ == "json":
        found = [_as_json(blame, one, decisions) for one in lines]
        output.json({"file": name, "head": blame.origins.head, "lines": found})
    else:
        _print_lines(blame, lines, output)


def _wanted(file: str) -> tuple[Path, int, int | None]:
    """A file, and which of its lines."""
    found = _LINES.fullmatch(file)
    if found is None or Path(file).exists():
        return Path(file), 1, None
    first, last = int(found[2]), int(found[3] or found[2])
    if not 1 <= first <= last:
        raise Failure("Lines are counted from 1: FILE:LINE or FILE:FROM-TO.", USAGE)
    return Path(found[1]), first, last


def _day(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, timezone.utc)


def _as_json(blame: RepositoryBlame, line: LineAuthor, decisions: dict[str, str]) -> dict[str, Any]:
    edit, before = line.edit, line.before
    turn = edit.turn if edit else None
    return {
        "line": line.number,
        "text": line.text,
        "author": "agent" if edit else "person",
        "person": line.commit.person,
        "commit": line.commit.id,
        "time": _day(line.time),
        "evidence": line.evidence,
        "changed_from_turn_id": before.turn.turn_id if before else "",
        **{name: getattr(turn, name, None) for name in _OF_TURN},
        **{name: getattr(edit, name, None) for name in _OF_EDIT},
        "cost_usd": blame.cost_of_line(edit) if edit else None,
        "artifact_decision": decisions.get(turn.turn_id, "") if turn else None,
    }


def _print_lines(blame: RepositoryBlame, lines: list[LineAuthor], output: Output) -> None:
    from rich.text import Text

    from turnspan_console import styles

    rows: list[tuple[str, ...]] = []
    for one in lines:
        edit, said = one.edit, ""
        if edit is not None:
            model = f"{edit.turn.agent}/{edit.model}" if edit.model else edit.turn.agent
            cost = blame.cost_of_line(edit)
            said = f"(by a command) {edit.turn.prompt}" if one.evidence == "command" else ""
            said = one_line(said or edit.turn.prompt)[:32]
            rows.append((short_id(edit.turn.turn_id), model, dollars(cost) if cost else "-"))
        else:
            said = f"from {short_id(one.before.turn.turn_id)}, changed" if one.before else ""
            rows.append(("-", one_line(one.commit.person), ""))
        rows[-1] += (f"{_day(one.time):%Y-%m-%d}", said, str(one.number))
    widths = [max((len(row[at]) for row in rows), default=0) for at in range(6)]
    looks = (styles.ID, "", styles.FAINT, styles.FAINT, styles.FAINT, styles.FAINT)
    for row, one in zip(rows, lines, strict=True):
        line = Text()
        for at, (cell, width, look) in enumerate(zip(row, widths, looks, strict=True)):
            padded = cell.rjust(width) if at in (2, 5) else cell.ljust(width)
            line.append(f"{padded} " if width else "", look)
        output.line(line.append(f"| {one.text}"))


def _print_shares(blame: RepositoryBlame, folder: str, format_: str, output: Output) -> None:
    from turnspan_console.panels.results import print_rows

    shares: list[FileShare] = list(blame.shares(folder))
    total, agents = sum(one.lines for one in shares), sum(one.agents for one in shares)
    if format_ == "json":
        head = blame.origins.head
        output.json({"head": head, "lines": total, "agents": agents, "files": shares})
        return
    share = f"{agents / total:.1%} of them by agents" if total else ""
    output.title(f"{counted(total, 'line')} in {counted(len(shares), 'file')}", share)
    rows = [
        (one.path, one.lines, one.agents, one.changed, _share_of(one), one.cost_usd)
        for one in sorted(shares, key=lambda one: (-one.agents, one.path))
        if one.agents or one.changed
    ]
    if rows:
        output.line()
        print_rows(("file", "lines", "agents", "changed", "by", "cost_usd"), rows, output)


def _share_of(one: FileShare) -> str:
    agents = sorted(one.by_agent.items(), key=lambda found: -found[1])
    return ", ".join(f"{name} {count / one.lines:.0%}" for name, count in agents)
