"""What the commands that judge have in common: which records are meant, and that it lands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import USAGE, Failure
from turnspan_console.options import F, chosen_dsn, open_chosen, optional, text_option, together
from turnspan_console.output import note

if TYPE_CHECKING:
    from turnspan_clickhouse.rows.record import Record
    from turnspan_clickhouse.spool.spool import Spool
    from turnspan_clickhouse.store.client import Store
    from turnspan_records.lookup import RecordRef

JUDGED = ("turn", "call", "tool", "session", "attempt", "artifact", "consortium")
"""What an id means where several kinds of records have it."""

subject_options = together(
    click.option(
        "--kind",
        type=click.Choice([*JUDGED, "span"]),
        help="The kind of record of ID. Needs the whole id and reads nothing: for a user who may "
        "only insert.",
    ),
    text_option("--project", "NAME", "With --kind: the record's project."),
)
"""``--kind`` and ``--project``, for ids that are not looked up."""


def author_option(meaning: str) -> Callable[[F], F]:
    """``--author``: whoever is named, else the user of the machine."""
    return click.option("--author", metavar="NAME", callback=_author, help=meaning)


def _author(_context: click.Context, _parameter: click.Parameter, given: str | None) -> str:
    import getpass  # it brings the terminal's modules, and `turnspan --help` starts at once

    return getpass.getuser() if given is None else given


author_options = together(
    author_option("The judge's name.  [default: you]"),
    optional("--confidence", "0..1", "How sure the judge is.", kind=float),
    click.option(
        "--source",
        default="command",
        metavar="NAME",
        help="Where the judgment was made: a form, a job.",
    ),
)
"""``--author``, ``--confidence`` and ``--source``: what ``said`` takes of who judges."""


class Judging:
    """Records by the ids of a command line, and the spool that judgments of them go to.

    What was written lands when the block ends; where it cannot, it waits in the spool.
    """

    def __init__(self, kind: str | None, project: str, *records: type[Record]) -> None:
        from turnspan_clickhouse.spool.spool import Spool

        self._kind = kind
        self._project = project
        self._records = records
        self._dsn = chosen_dsn()
        self.store: Store | None = None
        """The open store; none where nothing is read."""
        self.spool: Spool = Spool(self._dsn.spool)

    def __enter__(self) -> Judging:
        from turnspan_clickhouse.errors import StoreUnavailableError
        from turnspan_clickhouse.store.opening import open_store
        from turnspan_records.access.row_writer import judging_spool

        if self._kind is None:
            self.store = open_chosen()
            judging_spool(self.store, *self._records)
        elif not self._dsn.embedded:
            # Said when the block ends: it waits.
            with suppress(StoreUnavailableError), open_store(self._dsn) as store:
                judging_spool(store, *self._records)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        from turnspan_clickhouse.errors import StoreError
        from turnspan_clickhouse.ship.shipper import ship

        try:
            if kind is None:
                for told in ship(self.store or self._dsn, spool=self.spool).errors:
                    note(told)
        except StoreError as failed:
            note(f"It waits in the spool: {failed}")
        finally:
            if self.store is not None:
                self.store.close()
        if isinstance(error, ValueError):
            raise Failure(f"{error}.", USAGE) from None

    def record(self, id_: str, *, prefer: Sequence[str] = JUDGED) -> RecordRef:
        """The record that an id means."""
        from turnspan_console.ids import record_of
        from turnspan_records.lookup import RecordRef

        if self.store is None:
            return RecordRef(self._kind or "", id_, self._project)
        return record_of(self.store, id_, prefer=prefer)

    def all(self, ids: Sequence[str]) -> list[RecordRef]:
        """The records that ids mean, of the first one's kind where one of them may mean several."""
        found: list[RecordRef] = []
        for id_ in ids:
            found.append(self.record(id_, prefer=(found[0].kind,) if found else JUDGED))
        return found
