"""Many processes and one store, for seconds; ``benchmarks/many_processes.py`` does it for long."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.kept_stores import migrated
from support.many_processes import NURSERY, ONE, READER, compare, python
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

pytestmark = pytest.mark.with_schema

SECONDS = 8


@pytest.mark.slow
@pytest.mark.release  # `test_crowds` and `test_sharing` have many
def test_four_writers_and_a_reader_of_the_embedded_store(embedded_dsn: Dsn, tmp_path: Path) -> None:
    """No lock error, nothing said to be waiting, nothing missing."""
    told = tmp_path / "told"
    reader = python(READER, SECONDS, store=embedded_dsn, heard=True)
    writers = [python(ONE, told, SECONDS, 0.01, store=embedded_dsn) for _ in range(4)]
    said = reader.communicate()[0]
    assert [writer.wait() for writer in writers] == [0] * 4
    assert said.endswith("ERRORS 0\n")
    assert "NOTE" not in said
    with open_store(embedded_dsn) as store:
        assert ship(store).ok
        assert compare(store, told).fine


@pytest.mark.release
@pytest.mark.slow
def test_short_lived_processes_share_their_inserts(server_dsn: Dsn, tmp_path: Path) -> None:
    """Twenty at once, each of one turn: a few parts, not one each."""
    with migrated(server_dsn) as store:
        told = tmp_path / "told"
        assert python(NURSERY, told, SECONDS, 20, store=server_dsn).wait() == 0
        ship(server_dsn)
        compared = compare(store, told)
        assert compared.fine
        parts = store.query(
            "SELECT sum(inserts) FROM (SELECT max(max_block_number) - min(min_block_number) + 1"
            " AS inserts FROM system.parts WHERE active AND database = {database:String}"
            " GROUP BY table, partition_id)",  # blocks count on where the last test of it ended
            {"database": server_dsn.database},
        ).rows[0][0]
        assert parts < 5 * compared.landed
