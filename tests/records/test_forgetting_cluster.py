"""Forgetting over a cluster without Keeper: node by node, as it is migrated."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.cluster import Cluster
from support.forgetting import canary, contents, everything, naming, session_of
from support.landing import insert
from support.rows import PROJECT
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.keeping import Subject, forget, forget_again


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

        first = forget(one, Subject("session", session_of("ada"), PROJECT), settle=0.0)
        second = forget_again(two, texts=[canary("ada")])

        assert first.proof.left
        assert second.proof.left == []
        assert sum(first.rows.values()) + sum(second.rows.values()) == 16
        assert contents(one) == contents(two) == before
        assert naming(contents(one), canary("ada")) == {}
