"""``turnspan import``: logs of other tools, as records."""

from __future__ import annotations

import click

from turnspan_console import imports
from turnspan_console.lazy import Lazy
from turnspan_console.options import store_option


@click.group("import", cls=Lazy, package=imports, short_help="Import logs of other tools.")
@store_option
def command() -> None:
    """Import another tool's log into the store, as ordinary records.

    Rows that were imported before are skipped. A killed import continues. The source is only read.
    """
