"""Retention on a cluster: node by node without Keeper, and what is told to one that has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.cluster import Cluster, Replicating
from support.keeping import broken_references, now_of, world
from support.landing import insert
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.keeping import Archive, Policy, restore, retain
from turnspan_records.keeping.keys import Tables
from turnspan_records.keeping.ttl import TtlChange, statements

pytestmark = pytest.mark.release

KEEPER = parse("https://h/agents?cluster=main")


def test_each_node_is_looked_after_by_itself(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After one node's pass nothing of the other's is missing; after both it is as on one server.
    What was archived comes back over both."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    cluster.migrate("kept")
    policy = Policy(content_days=0, archive=tmp_path / "archives", ttl={"span": 100})
    archived: set[str] = set()
    with open_store(cluster.dsn("kept")) as store:
        made = world(6, now_of(store), sessions=16)
        insert(store, *made.rows)
    for node in (0, 1):
        with open_store(cluster.dsn("kept", node)) as store:
            done = retain(store, policy, apply=True)
            assert done.node_by_node
            assert done.archive is not None
            archived |= {
                row.span_id
                for some in Archive(done.archive).records("llm_call")
                for row in some
                if isinstance(row, LlmCall)
            }
            broken = broken_references(store)
            assert broken["missing definition"] == broken["missing message"] == 0
            assert retain(store, policy).rows == 0
            found = {str(row[0]) for row in store.query("SELECT span_id FROM llm_call").rows}
    fates = made.fates
    assert found == {one for one, fate in fates.items() if not fate}
    assert archived == {one for one, fate in fates.items() if fate == "archived"}
    with open_store(cluster.dsn("kept")) as store:
        retain(store, policy, apply=True)  # what the other node's rows had named
        assert set(broken_references(store).values()) == {0}
        for path in (tmp_path / "archives").iterdir():
            restore(store, path)
        found = {str(row[0]) for row in store.query("SELECT span_id FROM llm_call").rows}
        assert found == {one for one, fate in fates.items() if fate in ("", "archived")}


def test_what_a_cluster_with_keeper_is_told() -> None:
    """Every replica of every shard, from the table that each of them has."""
    tables = Tables(KEEPER)
    assert (tables.node_by_node, tables.replicated) == (False, True)
    assert tables.held(LlmCall) == "agents.llm_call"
    assert tables.work == "agents.keeping_row"
    assert tables.deletion(LlmCall, "1") == (
        "ALTER TABLE agents.llm_call_local ON CLUSTER main DELETE WHERE 1"
    )
    assert statements(KEEPER, TtlChange("span", 95, "", ())) == [
        "ALTER TABLE agents.span_local ON CLUSTER main MODIFY TTL"
        " toDateTime(start_time) + toIntervalDay(95)"
    ]


def test_with_keeper_one_pass_does_for_all(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a pass has decided on is on every replica before one of them acts on it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    cluster.migrate("kept_by_keeper")
    with Replicating(cluster, "kept_by_keeper") as store:
        made = world(6, now_of(store), sessions=16)
        insert(store, *made.rows)
        done = retain(store, Policy(content_days=0, archive=tmp_path / "archives"), apply=True)

        assert not done.node_by_node
        assert set(broken_references(store).values()) == {0}
        found = {str(row[0]) for row in store.query("SELECT span_id FROM llm_call").rows}
        assert found == {one for one, fate in made.fates.items() if not fate}
    decided = max(n for n, sql in enumerate(store.told) if sql.startswith("INSERT INTO kept_by"))
    acted = min(n for n, sql in enumerate(store.told) if " DELETE WHERE " in sql)
    assert decided < acted
    synced = [n for n, sql in enumerate(store.told) if sql.startswith("SYSTEM SYNC REPLICA ON")]
    assert any(decided < n < acted for n in synced)
    assert all("_local ON CLUSTER pair" in sql for sql in store.told if " DELETE WHERE " in sql)
