"""What `turnspan doctor` advises follows ClickHouse's code, on a server that really refuses; and
what it and `turnspan status` say to the users of deploy/."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.clickhouse_server import ClickHouseServer, start_server
from support.cluster import Cluster
from support.deployment import Deployment
from support.kept_stores import migrated
from support.landing import insert
from support.rows import turn
from support.story import Invoke
from turnspan_clickhouse.errors import QueryError
from turnspan_clickhouse.store.migrations import SCHEMA_VERSION, migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.remedies import remedy

SELECT = "<query>GRANT SELECT ON turnspan.*</query>"
ALL = "<query>GRANT ALL ON *.*</query>"
REFUSED = {
    # user: (settings, grants, quota, what of the remedy names the cure)
    "memory": ("<max_memory_usage>1</max_memory_usage>", ALL, "none", "more memory"),
    "rows": ("<max_rows_to_read>1</max_rows_to_read>", ALL, "none", "max_rows_to_read"),
    "bytes": ("<max_bytes_to_read>1</max_bytes_to_read>", ALL, "none", "max_bytes_to_read"),
    "result": ("<max_result_bytes>1</max_result_bytes>", ALL, "none", "max_result_bytes"),
    "room": (
        "<min_free_disk_bytes_to_perform_insert>1000000000000000</min_free_disk_bytes_to_perform_insert>",
        *(ALL, "none", "room on the server's disk"),
    ),
    "quota": ("", ALL, "one", "quota"),
    "crowd": (
        "<max_concurrent_queries_for_user>1</max_concurrent_queries_for_user>",
        *(ALL, "none", "max_concurrent_queries"),
    ),
    "no_ddl": ("<allow_ddl>0</allow_ddl>", ALL, "none", "allow_ddl"),
    "nothing": ("", "<query>GRANT SELECT ON system.one</query>", "none", "turnspan_writer records"),
    "look": ("<readonly>1</readonly>", SELECT, "none", "readonly=2"),
}

COMMANDS = ("room", "no_ddl")
"""The users who are refused what the doctor does not do."""


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseServer]:
    """A server with a user for each kind of refusal."""
    home = tmp_path_factory.mktemp("refusing")
    profiles = "".join(f"<{name}>{one[0]}</{name}>" for name, one in REFUSED.items())
    users = "".join(
        f"<{name}><password/><networks><ip>::/0</ip></networks><profile>{name}</profile>"
        f"<quota>{one[2]}</quota><grants>{one[1]}</grants></{name}>"
        for name, one in REFUSED.items()
    )
    quotas = "<none/><one><interval><duration>3600</duration><queries>6</queries></interval></one>"
    (home / "users.d").mkdir()
    (home / "users.d" / "refused.xml").write_text(
        f"<clickhouse><profiles>{profiles}</profiles><quotas>{quotas}</quotas>"
        f"<users>{users}</users></clickhouse>"
    )
    server = start_server(home)
    with open_store(server.dsn("turnspan")) as store:
        migrate(store)
    yield server
    server.kill()


@pytest.mark.parametrize("user", [user for user in REFUSED if user not in COMMANDS])
def test_the_remedy_is_of_the_refusal(
    invoke: Invoke, refusing: ClickHouseServer, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is refused, the first finding that fails names the cure of that; never a right to
    read for want of something else."""
    monkeypatch.setenv("TURNSPAN_STORE", str(refusing.dsn("turnspan", user=user)))
    held = threading.Thread(target=hold, args=(refusing,))
    if user == "crowd":
        held.start()
        runs = (
            "SELECT count() FROM system.processes WHERE user = 'crowd' AND query LIKE '%sipHash%'"
        )
        while refusing.run(runs) == "0\n":
            assert held.is_alive()
    found = json.loads(invoke("doctor", "--format", "json").stdout)
    failed = [one for one in found if one["area"] == "store" and one["level"] == "fail"]
    assert failed and REFUSED[user][3] in failed[0]["remedy"], failed
    assert "GRANT SELECT" not in str(failed)
    if user == "crowd":
        refusing.run("KILL QUERY WHERE user = 'crowd' SYNC")
        held.join()


@pytest.mark.parametrize("user", COMMANDS)
def test_a_command_that_is_refused_says_the_same(
    invoke: Invoke, refusing: ClickHouseServer, user: str
) -> None:
    """As the doctor would, behind ClickHouse's own words."""
    refusing.run("CREATE DATABASE IF NOT EXISTS other")
    said = invoke("--store", str(refusing.dsn("other", user=user)), "migrate")
    assert said.exit_code == 1
    assert REFUSED[user][3] in said.stderr


def hold(server: ClickHouseServer) -> None:
    """One query of the user that may have one at a time, until it is killed."""
    with open_store(server.dsn("turnspan", user="crowd")) as store, pytest.raises(QueryError):
        store.query("SELECT sum(sipHash64(number)) FROM numbers(1000000000000)")


def test_a_node_that_is_gone(invoke: Invoke, cluster: Cluster) -> None:
    """The other says that it cannot reach it, and what to look at."""
    cluster.migrate("turnspan")
    cluster.nodes[1].stop()
    try:
        found = json.loads(
            invoke("--store", str(cluster.dsn("turnspan")), "doctor", "--format", "json").stdout
        )
    finally:
        cluster.nodes[1].start()
    told = [one["remedy"] for one in found if one["area"] == "store" and one["level"] == "fail"]
    assert "every node of the cluster" in told[0]


def test_every_code_that_has_a_name_in_the_issue_has_a_remedy() -> None:
    """And none but that of a missing right names rights."""
    rights = remedy(QueryError("", 497))
    for code in (60, 81, 159, 164, 201, 202, 210, 241, 243, 279, 392):
        assert remedy(QueryError("", code)) not in (rights, remedy(QueryError("", 1)))


def test_the_doctor_and_status_of_each_job(
    invoke: Invoke, deployment: Deployment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To a writer nothing is missing, least of all prompts; nobody's check or status falls over."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path))
    for job in ("writer", "reader", "reviewer"):
        monkeypatch.setenv("TURNSPAN_STORE_PASSWORD", f"{job}-secret")
        store = ("--store", str(deployment.dsn(job)))
        found = json.loads(invoke(*store, "doctor", "--format", "json").stdout)
        failed = [one["name"] for one in found if one["area"] == "store" and one["level"] != "ok"]
        assert failed == ([] if job == "writer" else ["insert"])
        status = invoke(*store, "status")
        assert (status.exit_code, status.stderr) == (0, "")
        assert f"schema {SCHEMA_VERSION}\n" in status.stdout
        assert ("may not see" in status.stdout) == (job == "writer")


def test_status_of_a_newer_schema(invoke: Invoke, refusing: ClickHouseServer) -> None:
    """It is this Turnspan that is to be upgraded; `turnspan migrate` would refuse."""
    dsn = refusing.dsn("newer")
    with migrated(dsn) as store:
        store.command(
            "INSERT INTO schema_migration (version, name) VALUES ({version:UInt32}, 'later')",
            {"version": SCHEMA_VERSION + 1},
        )
    shown = invoke("--store", str(dsn), "status")
    assert shown.exit_code == 0
    assert f"(this Turnspan has {SCHEMA_VERSION}: upgrade it)" in shown.stdout


def test_a_cluster_without_keeper(
    invoke: Invoke, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever leaves out `replicated=no` is told of it; each node is migrated, and forgets, by the
    command that the one before has named."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    nodes = [cluster.dsn("alone", node) for node in (0, 1)]
    replicated = str(nodes[0]).replace("&replicated=no", "")
    refused = invoke("--store", replicated, "migrate")
    assert refused.exit_code == 1 and "?cluster=NAME&replicated=no" in refused.stderr
    unknown = invoke("--store", replicated.replace("pair", "pear"), "migrate")
    assert unknown.exit_code == 1 and "system.clusters" in unknown.stderr
    for node in nodes:
        assert "run `turnspan migrate` on every other" in invoke(
            "--store", str(node), "migrate"
        ).stderr  # fmt: skip
    with open_store(nodes[0]) as store:
        insert(store, *(turn(f"t{at}", session_id=f"ada-{at}", user_id="ada") for at in range(20)))

    first = invoke("--store", str(nodes[0]), "forget", "--user", "ada", "--yes")
    assert first.exit_code == 1 and "run `turnspan forget --again` on every other" in first.stderr
    last = invoke("--store", str(nodes[1]), "forget", "--again", "--text", "ada-11")
    assert last.exit_code == 0 and "nothing is left" in last.stdout
    with open_store(nodes[0]) as store:
        assert store.query("SELECT count() FROM turn_summary").rows == [(0,)]
