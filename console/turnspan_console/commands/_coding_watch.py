"""``turnspan watch coding``: follow the transcripts of coding agents as they grow."""

from __future__ import annotations

import signal
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import UNAVAILABLE, USAGE, Failure
from turnspan_console.options import (
    chosen_dsn,
    flag,
    open_chosen,
    own_command,
    store_option,
    text_option,
)
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_records.importing.sources import ImportReport

_NAME = "turnspan-watch-coding"


@click.command("coding", short_help="Follow coding agents: their sessions land as they grow.")
@click.argument("folders", nargs=-1, type=click.Path(path_type=Path), metavar="[FOLDER]...")
@text_option("--project", "NAME", "The project of the records.  [default: the repository's name]")
@flag("--once", "Import what is new, and stop.")
@click.option(
    "--service",
    type=click.Choice(["systemd", "launchd"]),
    help="Print a service of this command for you as a user, and stop.",
)
@store_option
def coding(folders: tuple[Path, ...], project: str, once: bool, service: str | None) -> None:
    """Follow the transcripts of coding agents, in FOLDERs or where each agent keeps them for you.

    What is new lands within seconds, and a turn under way is shown as running. What an agent
    deletes stays in the store. While the store is away, records wait in the spool. A killed watch
    goes on where it was. One process follows for a store; SIGTERM ends it.

    \b
      turnspan watch coding
      turnspan watch coding --once --project shop
      turnspan watch coding --service systemd
    """
    from turnspan_clickhouse.files.file_lock import FileLock
    from turnspan_clickhouse.receive.settings import FOLLOWING, NEWS
    from turnspan_clickhouse.spool.spool import Spool
    from turnspan_records.coding.folder_changes import FolderChanges
    from turnspan_records.coding.follower import (
        TranscriptFollower,
        lock_following,
        transcript_folders,
    )
    from turnspan_records.coding.transcripts.tools import EVERY, coding_log

    if service is not None:
        Output().line(_service(service, folders, project))
        return
    if missing := [str(folder) for folder in folders if not folder.is_dir()]:
        raise Failure(f"{missing[0]} is not a folder.", USAGE)
    dsn = chosen_dsn()
    spool = Spool(dsn.spool)
    lock = lock_following(spool)
    if not isinstance(lock, FileLock):
        who = "" if lock is None else f": {lock}"
        raise Failure(
            f"Another process follows coding agents for this store{who}. End it first.",
            UNAVAILABLE,
        )
    ended = threading.Event()
    log = partial(coding_log, EVERY, folders, live=not once)
    opener = partial(open_chosen, create=True)
    follower = TranscriptFollower(opener, spool, log, project, ended, _landed, note)
    before = {
        name: signal.signal(name, lambda _number, _frame: ended.set())
        for name in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        if once:
            if not follower.land():
                raise Failure("Not everything has landed: see above.", UNAVAILABLE)
            return
        note(f"following {', '.join(map(str, transcript_folders(folders)))}")
        news = spool.folder / FOLLOWING / NEWS
        follower.follow(FolderChanges(lambda: [*transcript_folders(folders), news], ended, note))
    finally:
        follower.close()
        lock.release()
        for name, handler in before.items():
            signal.signal(name, signal.SIG_DFL if handler is None else handler)
    note("ended: what was read has landed or waits in the spool")


def _landed(report: ImportReport) -> None:
    rows = ", ".join(f"{count:,} {table}" for table, count in sorted(report.rows.items()))
    note(f"{report.source_rows:,} lines read: {rows or 'nothing new'}")
    for problem in report.problems[:5]:
        note(f"{problem.row}: {problem.reason}")


def _service(kind: str, folders: tuple[Path, ...], project: str) -> str:
    """A service of this command, for a user's own systemd or launchd."""
    words = [*own_command("watch", "coding"), *(str(folder.absolute()) for folder in folders)]
    words += ["--project", project] if project else []
    if kind == "launchd":
        import plistlib

        return plistlib.dumps(
            {
                "Label": _NAME,
                "ProgramArguments": words,
                "RunAtLoad": True,
                "KeepAlive": {"SuccessfulExit": False},
                "ProcessType": "Background",
            },
            sort_keys=False,
        ).decode()
    quoted = (word.replace("\\", "\\\\").replace('"', '\\"') for word in words)
    line = " ".join(f'"{word}"' for word in quoted).replace("%", "%%").replace("$", "$$")
    return _UNIT.format(command=line)


_UNIT = """\
# ~/.config/systemd/user/turnspan-watch-coding.service; then
#   systemctl --user enable --now turnspan-watch-coding
[Unit]
Description=Turnspan follows the transcripts of coding agents

[Service]
ExecStart={command}
Restart=on-failure
RestartSec=30
Nice=10

[Install]
WantedBy=default.target
"""
