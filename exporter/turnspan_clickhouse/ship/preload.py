"""What our threads would import, imported by the thread that starts them.

A thread of ours imports nothing once it runs: an application that imports the same module at that
moment would find it half loaded, a child forked at that moment would find the import system's locks
held for ever, and at the interpreter's end an import fails. Whatever a thread needs is named here,
also what the standard library loads by itself when a function is first called.
"""

from __future__ import annotations

import contextlib
import importlib

from turnspan_clickhouse.pricing import prices
from turnspan_clickhouse.store import zstd

_ALWAYS = (
    "_strptime",  # datetime.strptime
    "encodings.idna",  # a host's name
    "linecache",  # a traceback
    "opentelemetry.propagate",  # turnspan.inject; of the application's thread, as the next one
    "tokenize",  # a traceback's lines, since Python 3.13
    "turnspan.redaction.brief",  # an error's text, perhaps that no file can be opened any more
)
_DRIVER = (
    "clickhouse_connect",
    "clickhouse_connect.driver.exceptions",
    "pwd",  # getpass.getuser
    "zoneinfo",
)


def prepare_writing() -> None:
    """Before threads that turn spans into segments."""
    for name in _ALWAYS:
        importlib.import_module(name)
    prices.prepare()


def prepare_shipping() -> None:
    """Before a thread that ships to a server; about 0.1 s.

    A driver that cannot be loaded is no reason to fail here: shipping says so, records wait.
    """
    zstd.prepare()
    for name in _DRIVER:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
