"""What a program says to its author when it has recorded into a store that nobody has read yet."""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import sys
from pathlib import Path

from turnspan_clickhouse.errors import StoreError
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.dsn import Dsn, parse

_TO_READ = ("chdb", "click", "rich")


def what_next(dsn: Dsn) -> str:
    """Where the records are and what to type next; empty once somebody has looked at them, and
    where no person is looking (standard error is no terminal)."""
    if dsn.path is None or (dsn.path / "engine").exists():
        return ""
    try:
        person = sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is none, or it is closed
        return ""
    if not person or not Spool(dsn.spool).names():
        return ""
    install = ""
    if not all(importlib.util.find_spec(name) for name in _TO_READ):
        install = "pip install 'turnspan[embedded,console]', then "
    return f"turnspan: recorded in {dsn}\nturnspan: to see it: {install}{_command(dsn)} replay"


def typed() -> str:
    """The command as it can be typed here: by its name only where that is on the path."""
    if shutil.which("turnspan"):
        return "turnspan"
    script = Path(sys.executable).with_name("turnspan")
    near = os.path.relpath(script)
    script = script if near.startswith(os.pardir) else Path(near)
    if script.is_file():
        return shlex.quote(str(script))
    return f"{shlex.quote(sys.executable)} -m turnspan_console"


def _command(dsn: Dsn) -> str:
    command = typed()
    try:
        usual = parse() == dsn
    except StoreError:
        usual = False
    return command if usual else f"{command} --store {shlex.quote(str(dsn))}"
