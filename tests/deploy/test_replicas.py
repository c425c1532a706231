"""deploy/cluster: what can be held of a replicated cluster without Docker.

The engine of the tests has no port for replicas to fetch from each other. So its tables are made
against a real coordination service, as two replicas of one shard; that rows go from one to the
other is what deploy/cluster/prove shows, with Docker.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click import Context

from support.clickhouse_server import ClickHouseServer, free_ports, start_server
from support.deployment import ACCESS_CONTROL, DEPLOY, JOBS, Deployment
from turnspan_clickhouse.store.migrations import migrations, statements
from turnspan_console.cli import turnspan

FOLDER = DEPLOY / "cluster"
PROVE = (FOLDER / "prove").read_text(encoding="utf-8")
CONFIG = re.sub(r"</?clickhouse>|<!--.*?-->", "", (FOLDER / "cluster.xml").read_text(), flags=re.S)
USERS_SQL = (DEPLOY / "clickhouse" / "users.sql").read_text(encoding="utf-8")
MAVEN = "org.apache.zookeeper:zookeeper:3.9.5 io.dropwizard.metrics:metrics-core:4.2.40"
SNAPPY = "org.xerial.snappy:snappy-java:1.1.10.7"


@pytest.mark.release
def test_it_follows_the_compose_specification() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    checked = subprocess.run(
        [*command, str(FOLDER / "compose.yaml")], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_proof_is_a_script_of_commands_that_are_there() -> None:
    """Bash reads it, and each command of ours that it runs exists."""
    subprocess.run(["bash", "-n", str(FOLDER / "prove")], check=True)
    code = re.sub(r"^ *#.*", "", PROVE, flags=re.MULTILINE)
    asked = set(re.findall(r'(?:^|=\$one |\(|")turnspan (?:--store "\$\w+" )?([a-z]+)', code, re.M))
    assert {"migrate", "demo", "sql"} <= asked <= set(turnspan.list_commands(Context(turnspan)))


def test_the_administrator_has_what_a_cluster_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What he has without a cluster, and what users.sql says that a cluster takes more."""
    for job in JOBS:
        monkeypatch.setenv(f"TURNSPAN_{job.upper()}_PASSWORD", f"{job}-secret")
    shutil.copytree(DEPLOY / "clickhouse" / "users.d", tmp_path / "users.d")
    shutil.copy(FOLDER / "users.xml", tmp_path / "users.d" / "zz-cluster.xml")
    server = start_server(tmp_path, extra_config=ACCESS_CONTROL)
    alone = re.findall(r"^(GRANT .+) TO turnspan_admin;", USERS_SQL, re.MULTILINE)
    more = re.findall(r"^-- (GRANT .+) TO turnspan_admin;$", USERS_SQL, re.MULTILINE)
    listed = (FOLDER / "users.xml").read_text(encoding="utf-8")
    assert len(alone) == 7 and len(more) == 6
    assert [grant for grant in alone if f"<query>{grant}</query>" not in listed] == []
    try:
        for grant in more:
            answer = Deployment(server).ask("turnspan_admin", f"CHECK {grant}")
            assert (answer.code, answer.text.strip()) == (0, "1"), (grant, answer)
    finally:
        server.kill()


@pytest.fixture(scope="module")
def coordination(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a real ZooKeeper, whose protocol Keeper speaks too."""
    if not (shutil.which("java") and shutil.which("mvn")):
        pytest.skip("no Java and Maven here, to run ZooKeeper")
    home = tmp_path_factory.mktemp("coordination")
    wanted = "".join(
        "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
        "</dependency>".format(*each.split(":"))
        for each in [*MAVEN.split(), SNAPPY]
    )
    (home / "pom.xml").write_text(
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>t</groupId><artifactId>t</artifactId><version>1</version>"
        f"<dependencies>{wanted}</dependencies></project>"
    )
    command = ["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"]
    subprocess.run(command, cwd=home, check=True, capture_output=True, timeout=200)
    (port,) = free_ports(1)
    server = "org.apache.zookeeper.server.ZooKeeperServerMain"
    quiet = "-Dzookeeper.admin.enableServer=false"
    java = ["java", "-Xmx256m", quiet, "-cp", f"{home}/lib/*", server, str(port), str(home / "d")]
    with (home / "log").open("wb") as log, subprocess.Popen(java, stdout=log, stderr=log) as zoo:
        yield port
        zoo.kill()


@pytest.fixture(scope="module")
def replicas(
    coordination: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[ClickHouseServer]]:
    """Two servers with the shipped cluster.xml, each under its own name."""
    started: list[ClickHouseServer] = []
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("CLUSTER_SECRET", "secret")
        for name in ("one", "two"):
            environment.setenv("REPLICA", name)
            here = f"<host>127.0.0.1</host><port>{coordination}</port>"
            config = CONFIG.replace("<host>keeper</host><port>9181</port>", here)
            home = Path(tmp_path_factory.mktemp(name))
            started.append(start_server(home, extra_config=config))
    yield started
    for server in started:
        server.kill()


@pytest.mark.release
def test_the_replicated_tables_are_made_twice_over_a_real_keeper(
    replicas: list[ClickHouseServer],
) -> None:
    """Each table of the schema, by its own path; the second replica finds the first one's."""
    made: list[list[str]] = []
    for server in replicas:
        dsn = dataclasses.replace(server.dsn("turnspan"), cluster="main", replicated=True)
        server.run("CREATE DATABASE turnspan")
        for migration in migrations():
            for statement in statements(migration, dsn):
                if "Replicated" in statement:
                    server.run(re.sub(r"ON CLUSTER \S+", "", statement))
        paths = server.run(
            "SELECT zookeeper_path, replica_name FROM system.replicas ORDER BY ALL FORMAT TSV"
        )
        made.append(paths.splitlines())
    first, second = ([line.split("\t") for line in lines] for lines in made)
    assert len(first) > 20
    assert [path for path, _ in first] == [path for path, _ in second]
    for lines, name in ((first, "one"), (second, "two")):
        assert {replica for _, replica in lines} <= {name, f"1_{name}"}  # of a shard, of all
    assert len({path for path, _ in first}) == len(first)
