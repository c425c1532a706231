"""Training data out of a cluster: the same sets as out of one server, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cluster import Cluster
from support.improved import improved_records
from support.landing import insert
from support.training import contents, random_records
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.training import Filters, TrainingSet, export, rule
from turnspan_records.training.export_request import KINDS, Kind

pytestmark = pytest.mark.release


@pytest.fixture(scope="module")
def both(cluster: Cluster) -> Iterator[tuple[Store, Store]]:
    """The same records on one server alone, and over the two of the cluster."""
    cluster.migrate("sets")
    records = random_records(3)
    for number in range(8):
        records.with_a_tool(f"w{number}", f"Size {number}?", "One.", tools=records.tools())
        records.judge(f"w{number}", "outcome", outcome="used")
    rows = [*records.rows, *improved_records().rows]
    with (
        open_store(cluster.nodes[0].dsn("sets_alone")) as one,
        open_store(cluster.dsn("sets", node=1)) as two,
    ):
        migrate(one)
        for store in (one, two):
            insert(store, *rows)
        yield one, two


@pytest.mark.parametrize("kind", KINDS)
def test_a_set_is_the_same_over_two_servers(
    both: tuple[Store, Store], tmp_path: Path, kind: Kind
) -> None:
    """Of what was judged, of everything, and by a condition in SQL."""
    for name, wanted in {
        "judged": TrainingSet(kind, "trl"),
        "any": TrainingSet(kind, "openai", unit="call", good=(rule("any"),)),
        "where": TrainingSet(kind, filters=Filters(where="stop_reason = 'completed'")),
    }.items():
        made: list[dict[str, bytes]] = []
        for number, store in enumerate(both):
            folder = tmp_path / f"{name}-{number}"
            assert export(store, folder, wanted).counts.looked_at
            made.append(contents(folder))
        assert made[0] == made[1], name
