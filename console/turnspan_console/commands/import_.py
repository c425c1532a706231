"""``turnspan import``: logs of other tools, as records."""

from __future__ import annotations

import click

from turnspan_console import imports
from turnspan_console.lazy import Lazy
from turnspan_console.options import store_option


@click.group("import", cls=Lazy, package=imports, short_help="Bring in logs of other tools.")
@store_option
def command() -> None:
    """Bring the logs of another tool into the store, as records like those made here.

    What was imported before is not imported again; an import that was killed goes on where it was.
    Nothing in the source is changed.
    """
