"""Spans on their way to other backends, beside the records."""

from __future__ import annotations

import contextlib
import importlib
from typing import Final

_LATE_IMPORTS: Final = ("encodings.idna", "linecache", "netrc", "tokenize")
"""What an OTLP exporter, or the standard library for it, imports when it sends for the first time,
on a thread of its own (see ``turnspan_clickhouse.preload``)."""


def prepare() -> None:
    """Import what exporters need, on the thread that configures."""
    for name in _LATE_IMPORTS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
