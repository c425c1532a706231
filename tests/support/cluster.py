"""Two real ClickHouse servers that know each other as one cluster of two shards, without Keeper;
and what that looks like with Keeper."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.clickhouse_server import ClickHouseServer, free_ports, start_server
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store

NAME = "pair"
_SHARD = """<shard><internal_replication>true</internal_replication>
  <replica><host>127.0.0.1</host><port>{port}</port></replica></shard>"""


@dataclass(frozen=True)
class Cluster:
    """The two servers; each of them answers for both."""

    nodes: tuple[ClickHouseServer, ClickHouseServer]
    native: tuple[int, int]
    """The ports by which they ask each other."""

    def dsn(self, database: str, node: int = 0) -> Dsn:
        """The cluster's address as seen through one of its nodes."""
        alone = self.nodes[node].dsn(database)
        return dataclasses.replace(alone, cluster=NAME, replicated=False)

    def migrate(self, database: str) -> None:
        """Migrate node by node, as a cluster without Keeper is."""
        for node in range(len(self.nodes)):
            with open_store(self.dsn(database, node)) as store:
                migrate(store)

    def held(self, node: int, sql: str) -> int:
        """A number that one node answers, asked about its own tables."""
        return int(self.nodes[node].run(sql))


class Replicating(Store):
    """A cluster as one with Keeper looks from a client: a statement ``ON CLUSTER`` runs on every
    node, and every node has all rows of ``keeping_row``. (Of these servers none can keep.)

    ``told`` are the statements that change something, as they were sent.
    """

    def __init__(self, cluster: Cluster, database: str) -> None:
        first, self._other = (open_store(cluster.dsn(database, node)) for node in (0, 1))
        super().__init__(dataclasses.replace(first.dsn, replicated=True), first.client)
        self._first = first
        self._source = f"remote('127.0.0.1:{cluster.native[0]}', {database}.keeping_row)"
        self.told: list[str] = []

    def command(
        self,
        sql: str,
        parameters: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        """As a ``Store``'s, on every node where it says so."""
        self.told.append(sql)
        on_cluster = f" ON CLUSTER {NAME}"
        if sql.startswith("SYSTEM SYNC REPLICA"):
            assert on_cluster in sql
            return
        super().command(sql.replace(on_cluster, ""), parameters, settings)
        if on_cluster in sql:
            self._other.command(sql.replace(on_cluster, ""), parameters, settings)
        elif "keeping_row" in sql.partition("SELECT")[0]:
            self._other.command("TRUNCATE TABLE keeping_row")
            self._other.command(f"INSERT INTO keeping_row SELECT * FROM {self._source}")
        if "old_parts_lifetime = 0" in sql:  # what replicas do by themselves, after a while
            table = sql.split()[2]
            for node in (self._first, self._other):
                node.command(f"ALTER TABLE {table} DROP PARTITION ID '19700106'")

    def __enter__(self) -> Replicating:
        return self

    def close(self) -> None:
        """Close the connections to both nodes."""
        self._first.close()
        self._other.close()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two servers with ``remote_servers``; a test that stops one starts it again."""
    native = free_ports(2)
    shards = "".join(_SHARD.format(port=port) for port in native)
    config = f"<remote_servers><{NAME}><secret>x</secret>{shards}</{NAME}></remote_servers>"
    homes = [Path(tmp_path_factory.mktemp(f"shard{number}")) for number in (1, 2)]
    nodes = [
        start_server(home, extra_config=config, tcp_port=port)
        for home, port in zip(homes, native, strict=True)
    ]
    yield Cluster((nodes[0], nodes[1]), (native[0], native[1]))
    for node in nodes:
        node.kill()
