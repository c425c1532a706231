"""Two real ClickHouse servers that know each other as one cluster of two shards, without Keeper."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.clickhouse_server import ClickHouseServer, free_ports, start_server
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
    yield Cluster((nodes[0], nodes[1]))
    for node in nodes:
        node.kill()
