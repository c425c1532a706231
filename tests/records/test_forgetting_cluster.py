"""Forgetting over a cluster without Keeper: node by node, as it is migrated."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.cluster import Cluster, Replicating
from support.forgetting import OF_ONE, canary, contents, everything, naming, session_of
from support.landing import insert
from support.rows import PROJECT
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.keeping import ForgetSubject, forget, forget_again

pytestmark = pytest.mark.release


def test_each_node_forgets_its_own_rows(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first says what is left on the other; there nobody has to say again whom to forget."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    cluster.migrate("whose")
    with open_store(cluster.dsn("whose", 0)) as one, open_store(cluster.dsn("whose", 1)) as two:
        insert(one, *everything("bob"), *everything("eve"))
        before = contents(one)
        insert(one, *everything("ada"))

        first = forget(one, ForgetSubject("session", session_of("ada"), PROJECT), settle=0.0)
        second = forget_again(two, texts=[canary("ada")])

        assert first.proof.left
        assert second.proof.left == []
        assert sum(first.rows.values()) + sum(second.rows.values()) == OF_ONE
        assert contents(one) == contents(two) == before
        assert naming(contents(one), canary("ada")) == {}


def test_with_keeper_every_replica_is_told(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One forgetting does for all nodes, by statements that reach each of them. Before they act on
    what was decided, they have it."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    cluster.migrate("kept_by_keeper")
    with Replicating(cluster, "kept_by_keeper") as store:
        insert(store, *everything("bob"), *everything("eve"))
        before = contents(store)
        insert(store, *everything("ada"))

        done = forget(store, ForgetSubject("session", session_of("ada"), PROJECT), settle=0.0)

        assert done.proof.left == []
        assert contents(store) == before
        assert naming(contents(store), canary("ada")) == {}
    told = store.told
    deletes = [at for at, sql in enumerate(told) if re.match("ALTER TABLE .* DELETE|DELETE", sql)]
    assert deletes
    for at, sql in enumerate(told):
        words = sql.partition(" WHERE ")[0]
        if words.startswith("ALTER TABLE kept_by_keeper.keeping_row"):
            continue  # one table of all replicas: they tell each other
        if not words.startswith("INSERT"):
            assert " ON CLUSTER pair" in words
            assert "_local" in words or "keeping_row" in words
        else:
            assert "_local" not in words.partition("SELECT")[0]
        if at in deletes and "keeping_row" in sql:
            marked = max(
                n for n in range(at) if told[n].startswith("INSERT INTO kept_by_keeper.ke")
            )
            assert any("SYNC REPLICA ON CLUSTER pair" in one for one in told[marked:at])
