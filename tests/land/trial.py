"""A trial: records are written, something goes wrong, and at the end every row is accounted for.

``Trial.accounted`` compares the figures with ``faults.md``: the page lists the cases in
which every row landed once, and has a table of the others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from land.spooling import calls
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.ship.shipper import Shipper, ShipResult
from turnspan_clickhouse.spool.spool import Spool, SpoolWriter
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION
from turnspan_clickhouse.store.opening import open_store

PAGE = Path(__file__).with_name("faults.md")
ROWS = 2
"""Model calls in each segment that a trial writes."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Rows, in the order of the columns of the page's table."""

    emitted: int
    landed: int
    duplicated: int
    dropped: int
    refused: int = 0


class Trial:
    """A store, its spool, and a count of what was written into it.

    ``way`` is how the shipper reaches the store, ``store`` how the test asks it.
    """

    def __init__(self, store: Dsn, way: Dsn | None = None, *, limit_bytes: int = 2**30) -> None:
        self.store = store
        self.way = way or store
        self.spool = Spool(store.spool, limit_bytes=limit_bytes)
        self.writer = SpoolWriter(self.spool)
        self.emitted = 0

    def emit(self, segments: int, *, text: str = "") -> None:
        """Write so many segments of ``ROWS`` model calls, with this for a reply."""
        for _ in range(segments):
            rows = calls(self.emitted, ROWS, response_text=text)
            block = encode_block(LlmCall, rows)
            self.writer.write("llm_call", SCHEMA_VERSION, block)
            self.emitted += ROWS

    def ship(self, deadline: float | None = None) -> ShipResult:
        """One pass, as the shipper of an application makes it."""
        return Shipper(lambda: open_store(self.way), self.spool).run(deadline)

    def figures(self) -> Figures:
        """What became of the rows by now."""
        sql = "SELECT count(), uniqExact(span_id) FROM llm_call"
        with open_store(self.store) as store:
            ((count, distinct),) = store.query(sql, settings={"final": 0}).rows
        usage = self.spool.usage()
        return Figures(
            self.emitted,
            int(distinct),
            int(count) - int(distinct),
            sum(usage.dropped.values()),
            usage.rejected_rows,
        )

    def accounted(self, case: str) -> None:
        """Nothing waits, every row is accounted for, and the page says the same."""
        found = self.figures()
        assert self.spool.names() == set()
        assert found.duplicated == 0
        assert found.landed + found.dropped + found.refused == found.emitted
        on_page(case, found)


def on_page(case: str, found: Figures) -> None:
    """Compare a case's figures with the page: its list, or a row of its table."""
    page = PAGE.read_text("utf-8")
    if found == Figures(found.emitted, found.emitted, 0, 0):
        listed = page.partition("landed exactly once;")[2].partition("One case loses rows:")[0]
        cases = ";".join(re.split(r"^- [\w ]+:", listed, flags=re.MULTILINE)).split(";")
        assert case in {" ".join(one.split()) for one in cases}, f"not on the page: {case}"
        return
    cells = (case, found.emitted, found.landed, found.duplicated, found.dropped, found.refused)
    row = "| " + " | ".join(f"{cell:,}" if isinstance(cell, int) else cell for cell in cells) + " |"
    print(row)
    start = re.escape(row)
    assert re.search(f"^{start}", page, re.MULTILINE), f"not on the page: {row}"
