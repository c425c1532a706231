"""``turnspan restore``: bring an archive's records back."""

from __future__ import annotations

from pathlib import Path

import click

from turnspan_console.failures import FINDING, failing
from turnspan_console.options import open_chosen, store_option
from turnspan_console.output import Output
from turnspan_console.values import counted


@click.command("restore", short_help="Bring an archive's records back.")
@click.argument("archive", type=click.Path(path_type=Path))
@store_option
def command(archive: Path) -> None:
    """Bring the records of ARCHIVE, a folder made by `turnspan retain`, back into the store
    unchanged. It verifies the whole archive before it writes. Restoring twice does no harm, and the
    archive stays.

    \b
      turnspan restore ~/.local/share/turnspan/archives/20261122T203000Z-retain-5bce98f7-129fec
    """
    from turnspan_console.panels.bars import Bars
    from turnspan_console.panels.results import print_block
    from turnspan_records.keeping import KeepingError, restore

    with open_chosen(create=True) as store, Bars() as bars, failing(KeepingError, code=FINDING):
        done = restore(store, archive, progress=bars.show)
    output = Output()
    output.title(counted(sum(done.rows.values()), "row"), "are back")
    rows = [
        (table, done.rows.get(table, 0), done.forgotten.get(table, 0))
        for table in done.manifest.tables
    ]
    print_block(("table", "rows", "forgotten"), rows, output)
