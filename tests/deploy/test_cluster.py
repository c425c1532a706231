"""Cluster mode over two real servers: a shard for a session, each row once, the same answers.

The servers have no Keeper, so the tables are not replicated here (``replicated=no``); what Keeper
is needed for is held by the generated SQL, in the last tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, cast

import pytest

from support.camp_rows import camp_rows
from support.cluster import Cluster
from support.consortium_rows import consortium_rows
from support.demo_records import land
from support.landing import insert
from support.rows import T0, call, message, said, tool, turn
from turnspan_clickhouse.errors import StoreError
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import (
    Annotation,
    ContextAssemblyRow,
    ContextItemRow,
    LlmCall,
    Record,
    Withdrawal,
)
from turnspan_clickhouse.ship.interrupted_work import interrupt_turns
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn, parse
from turnspan_clickhouse.store.migrations import Migration, migrate, migrations, statements
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.coding.week import week_questions
from turnspan_records.contexts import contexts
from turnspan_records.diagnostics import diagnostics
from turnspan_records.judging.history import judgments
from turnspan_records.judging.queues import BUILT_IN, progress, waiting
from turnspan_records.lookup import find
from turnspan_records.loop.lineages import experiment
from turnspan_records.replay import replay
from turnspan_records.sessions import sessions, turns

STORED: Mapping[str, int] = {"final": 0}
NO_ZOOKEEPER = 225
VIEWS = [migration.name for migration in migrations() if migration.view]


@pytest.fixture(scope="module")
def both(cluster: Cluster, demo_blocks: Mapping[str, bytes]) -> Iterator[tuple[Store, Store]]:
    """The demonstration's records and an experiment's, on one server alone and over the two."""
    alone = cluster.nodes[0].dsn("alone")
    cluster.migrate("demo")
    with open_store(alone) as one, open_store(cluster.dsn("demo", node=1)) as two:
        migrate(one)
        for store in (one, two):
            land(store, demo_blocks)
            insert(store, *camp_rows(), *consortium_rows())
        judge(one, two)
        yield one, two


def judge(*stores: Store) -> None:
    """Two reviewers judge the turns, and take a third of that back; every answer is preferred over
    the next one."""
    rows = stores[0].query("SELECT DISTINCT project, turn_id FROM turn_summary ORDER BY 1, 2").rows
    made: list[Record] = []
    for at, (project, id_) in enumerate(rows):
        of: dict[str, Any] = {
            "project": project, "subject_kind": "turn", "subject_id": id_, "created_at": T0 + at,
        }  # fmt: skip
        outcomes = {"ada": "used", "bob": ["used", "rejected"][at % 2]}
        for author, outcome in outcomes.items():
            key: dict[str, Any] = {"kind": "outcome", "annotation_id": author}
            made.append(Annotation(**of, **key, outcome=outcome, author=author))
        pair: dict[str, Any] = {
            "chosen_id": id_,
            "rejected_id": rows[at - 1][1],
            "annotation_id": "p",
        }
        made.append(Annotation(**of, kind="preference", author="ada", **pair))
        if at % 3 == 0:
            last: dict[str, Any] = {**of, "created_at": T0 + 10_000 + at, "kind": "outcome"}
            taken_back = "bob" * (at % 2)
            made.append(Withdrawal(**last, withdrawal_id="w", annotation_id=taken_back))
    for store in stores:
        insert(store, *made)


@pytest.fixture(scope="module")
def shards(cluster: Cluster) -> Cluster:
    """The cluster with empty tables in the database ``turnspan``."""
    cluster.migrate("turnspan")
    return cluster


def test_a_session_lies_on_one_shard_and_sessions_on_both(both: tuple[Store, Store]) -> None:
    """Its turns, calls, tools and messages are read together from where they lie together."""
    shards_of: dict[str, set[int]] = {}
    for table, scope in (
        ("turn_summary", "session_id"),
        ("llm_call", "session_id"),
        ("tool_call", "session_id"),
        ("message", "scope"),
    ):
        rows = both[1].query(f"SELECT DISTINCT {scope}, shardNum() FROM {table}").rows
        for name, shard in rows:
            shards_of.setdefault(str(name), set()).add(int(shard))

    assert len(shards_of) > 10
    assert all(len(found) == 1 for found in shards_of.values()), shards_of
    assert set[int]().union(*shards_of.values()) == {1, 2}


def comparable(rows: Iterable[Iterable[Any]]) -> list[str]:
    """Rows as text, NaN and all. Sums of floats differ in the last digits with their order, and
    gathered arrays have none (what has one is JSON text or sorted by time)."""
    return [repr([_same(value) for value in row]) for row in rows]


def _same(value: Any) -> object:
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, list):
        return sorted(map(repr, cast("list[object]", value)))
    return value


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_says_the_same_over_two_servers(both: tuple[Store, Store], view: str) -> None:
    """Joins over Distributed tables find what lies on the other shard, and find it once."""
    one, two = (sorted(comparable(store.query(f"SELECT * FROM {view}").rows)) for store in both)

    assert one == two
    assert one


def test_an_experiment_is_the_same_over_two_servers(both: tuple[Store, Store]) -> None:
    """Its lineages, rollouts and judgments may lie on either."""
    one, two = (experiment(store, "camp") for store in both)

    assert one == two
    assert one.lineages[0].evolutions[0].score_delta == 3.0


ASKED = {one.name: one for one in (*diagnostics().values(), *week_questions())}


@pytest.mark.parametrize("name", ASKED)
def test_each_diagnostic_answers_the_same_over_two_servers(
    both: tuple[Store, Store], name: str
) -> None:
    """In the same order, too."""
    one, two = (ASKED[name].run(store, limit=1000) for store in both)

    assert one.names == two.names
    assert comparable(one.rows) == comparable(two.rows)


def all_sessions(store: Store) -> list[Any]:
    return list(sessions(store, limit=1000).rows)


def all_turns(store: Store) -> list[Any]:
    return list(turns(store, limit=1000).rows)


def conversations(store: Store) -> list[Any]:
    return [replay(store, "demo", str(row[1])) for row in all_sessions(store)]


def judgments_of_all(store: Store) -> list[Any]:
    found = store.query("SELECT DISTINCT project, turn_id FROM turn_summary ORDER BY 1, 2").rows
    return [judgments(store, str(project), "turn", str(id_)) for project, id_ in found]


def to_review(store: Store) -> list[Any]:
    found = [waiting(store, queue, "bob") for queue in BUILT_IN.values()]
    return [*found, *(progress(store, queue, "bob") for queue in BUILT_IN.values())]


def five_found(store: Store) -> list[Any]:
    return [find(store, str(row[3])[:12]) for row in all_turns(store)[:5]]


@pytest.mark.parametrize(
    "ask",
    [all_sessions, all_turns, conversations, five_found, judgments_of_all, to_review],
)
def test_readers_see_the_same_over_two_servers(
    both: tuple[Store, Store], ask: Callable[[Store], list[Any]]
) -> None:
    """What the command and the console show."""
    one, two = (list(map(repr, ask(store))) for store in both)

    assert one == two
    assert one


@pytest.fixture(scope="module")
def assembled(cluster: Cluster) -> Iterator[tuple[Store, Store]]:
    """Turns with contexts, of which every third lost a page and ended badly, on both."""
    cluster.migrate("contexts")
    alone = cluster.nodes[0].dsn("alone_contexts")
    with open_store(alone) as one, open_store(cluster.dsn("contexts", node=1)) as two:
        migrate(one)
        for store in (one, two):
            insert(store, *[row for number in range(120) for row in with_context(number)])
        yield one, two


def with_context(number: int) -> Iterator[Record]:
    turn_id, lost = f"{number:016x}", number % 3 == 0
    of: dict[str, Any] = {
        "project": "shop",
        "session_id": f"s-{number % 20}",
        "turn_id": turn_id,
        "start_time": T0 + number,
        "assembly_id": f"c{number:015x}",
    }
    reason = "error" if lost else "completed"
    yield turn(turn_id, number, session_id=of["session_id"], stop_reason=reason)
    yield ContextAssemblyRow(**of, status="final", task_type="query", bypassed=number % 5 == 0)
    yield ContextItemRow(**of, item_id="Rules", section="instructions", tokens=5, kept=True)
    yield ContextItemRow(**of, item_id="Tides", position=1, section="encyclopedia", tokens=number,
                      kept=not lost, reason="budget" if lost else "")  # fmt: skip


@pytest.mark.parametrize("name", [name for name in diagnostics() if name.startswith("context_")])
def test_contexts_are_the_same_over_two_servers(assembled: tuple[Store, Store], name: str) -> None:
    """What is asked of all of them, and each as it is read back."""
    if name != "context_growth":  # there are no calls
        one, two = (diagnostics()[name].run(store, limit=1000) for store in assembled)
        assert comparable(one.rows) == comparable(two.rows)
        assert one.rows
    for session in ("s-0", "s-7"):
        found = [contexts(store, find(store, session)[0]) for store in assembled]
        assert found[0] == found[1]
        assert [len(each.items) for each in found[0]] == [2] * 6


def calls(count: int, session: str) -> list[LlmCall]:
    return [call(f"{n:016x}", n, session_id=f"{session}-{n % 8}") for n in range(count)]


def test_a_retry_after_half_an_insert_lands_each_row_once(shards: Cluster) -> None:
    """One shard took its part, the other could not: the same token adds what is missing only,
    whichever node is asked, and once more adds nothing."""
    rows = calls(64, "retry")
    block = encode_block(LlmCall, rows[:32]) + encode_block(LlmCall, rows[32:])  # two segments
    own = "SELECT count() FROM turnspan.llm_call_local WHERE startsWith(session_id, 'retry-')"

    shards.nodes[1].run(
        "ALTER TABLE turnspan.llm_call_local ADD CONSTRAINT closed"
        " CHECK NOT (startsWith(session_id, 'retry-') AND sleep(0.3) = 0)"
    )
    with open_store(shards.dsn("turnspan")) as store, pytest.raises(StoreError):
        store.insert_native("llm_call", block, token="half")
    first_part = shards.held(0, own)
    shards.nodes[1].run("ALTER TABLE turnspan.llm_call_local DROP CONSTRAINT closed")
    held: list[tuple[int, int]] = []
    for node in (0, 0, 1):
        with open_store(shards.dsn("turnspan", node)) as store:
            store.insert_native("llm_call", block, token="half")
        held.append((shards.held(0, own), shards.held(1, own)))

    assert 0 < first_part < 64
    assert held == [(first_part, 64 - first_part)] * 3


def test_an_acknowledged_insert_is_on_the_shards_and_not_in_a_queue(shards: Cluster) -> None:
    """Nothing waits on the node that was asked: its death would lose it."""
    with open_store(shards.dsn("turnspan")) as store:
        insert(store, *calls(32, "foreground"))
        waiting = store.query("SELECT sum(data_files) FROM system.distribution_queue").rows
        landed = store.query(
            "SELECT count() FROM llm_call WHERE startsWith(session_id, 'foreground-')"
        )

    assert int(waiting[0][0]) == 0
    assert landed.rows == [(32,)]


def test_the_newest_state_of_a_record_counts_over_shards(shards: Cluster) -> None:
    """A running turn's row and its final one meet on one shard, so FINAL finds both."""
    for node in shards.nodes:
        node.run("SYSTEM STOP MERGES turnspan.turn_summary_local")
    for status, written_at in (("running", T0), ("final", T0 + 5)):
        with open_store(shards.dsn("turnspan")) as store:
            for number in range(8):
                insert(
                    store,
                    turn(f"n{number}", session_id=f"new-{number}", status=status,
                         written_at=written_at),
                )  # fmt: skip
    newest = "SELECT count(), any(status) FROM turn_summary WHERE startsWith(session_id, 'new-')"
    with open_store(shards.dsn("turnspan", node=1)) as store:
        assert store.query(newest, settings=STORED).rows[0][0] == 16
        assert store.query(newest).rows == [(8, "final")]


def test_turns_of_a_dead_process_are_closed_over_shards(shards: Cluster) -> None:
    """The subqueries over Distributed tables that this takes are answered, not refused."""
    with open_store(shards.dsn("turnspan")) as store:
        for number in range(6):
            names: dict[str, Any] = {"session_id": f"dead-{number}", "turn_id": f"dead{number}"}
            insert(
                store,
                turn(f"dead{number}", 0, session_id=f"dead-{number}", status="running",
                     writer="gone-1-1"),
                call(f"deadcall{number}", 1, duration=2.0, input_tokens=40, **names),
                tool(f"deadtool{number}", 2, duration=1.0, **names),
                message("user", said("hello"), scope=f"dead-{number}"),
            )  # fmt: skip
        closed = interrupt_turns(store, ["gone-1-1"])
        found = store.query(
            "SELECT status, llm_call_count, tool_call_count, input_tokens, duration, count()"
            " FROM turn_summary WHERE startsWith(session_id, 'dead-') GROUP BY ALL"
        )

    assert closed == 6
    assert found.rows == [("interrupted", 1, 1, 40, 3.0, 6)]


# -- what needs Keeper: held by the generated SQL ------------------

SAMPLE = Migration(
    1,
    "sample",
    """CREATE TABLE IF NOT EXISTS {table:sample} {on_cluster}
(
    project String,
    written_at DateTime64(9, 'UTC')
)
{shard_by:cityHash64(project)}
ENGINE = {replacing:written_at}
ORDER BY project
SETTINGS non_replicated_deduplication_window = 10000""",
)
KEEPER = parse("https://h/agents?cluster=main")
SINGLE_NODES = parse("https://h/agents?cluster=main&replicated=no")


def test_the_address_says_whether_there_is_keeper() -> None:
    """A cluster is replicated unless it says otherwise; the address reads back as itself."""
    assert KEEPER.replicated and not SINGLE_NODES.replicated
    assert parse(str(SINGLE_NODES)) == SINGLE_NODES
    for text in ("https://h/d?cluster=main&replicated=maybe", "https://h/d?replicated=no"):
        with pytest.raises(StoreError, match="replicated is yes or no, and only beside cluster"):
            parse(text)


def test_the_sql_of_a_replicated_cluster() -> None:
    """The local table is replicated under a path that a later replica finds again, remembers
    tokens for a week, and has a Distributed table before it; all of it on every node."""
    assert statements(SAMPLE, KEEPER) == [
        """CREATE TABLE IF NOT EXISTS agents.sample_local ON CLUSTER main
(
    project String,
    written_at DateTime64(9, 'UTC')
)
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{database}/{table}/{shard}', \
'{replica}', written_at)
ORDER BY project
SETTINGS replicated_deduplication_window = 10000, \
replicated_deduplication_window_seconds = 604800""",
        "CREATE TABLE IF NOT EXISTS agents.sample ON CLUSTER main AS agents.sample_local"
        " ENGINE = Distributed(main, agents, sample_local, cityHash64(project))",
    ]


def test_the_sql_of_a_cluster_of_single_nodes() -> None:
    """The same without Keeper: plain local tables, and no ON CLUSTER."""
    local, distributed = statements(SAMPLE, SINGLE_NODES)

    assert "ENGINE = ReplacingMergeTree(written_at)" in local
    assert "SETTINGS non_replicated_deduplication_window = 10000" in local
    assert "ON CLUSTER" not in local + distributed
    assert distributed.endswith("Distributed(main, agents, sample_local, cityHash64(project))")


def test_new_columns_reach_the_distributed_table_and_indexes_do_not() -> None:
    """A Distributed table has columns of its own, but no indexes."""
    column = Migration(2, "c", "ALTER TABLE {table:t} {on_cluster} ADD COLUMN IF NOT EXISTS n Int8")
    index = Migration(3, "i", "ALTER TABLE {table:t} {on_cluster} ADD INDEX i n TYPE minmax")

    assert statements(column, KEEPER) == [
        "ALTER TABLE agents.t_local ON CLUSTER main ADD COLUMN IF NOT EXISTS n Int8",
        "ALTER TABLE agents.t ON CLUSTER main ADD COLUMN IF NOT EXISTS n Int8",
    ]
    made = Migration(4, "m", f"{column.template},\n    MATERIALIZE COLUMN n")
    assert [("MATERIALIZE" in one) for one in statements(made, KEEPER)] == [True, False]
    assert len(statements(index, KEEPER)) == 1
    assert len(statements(column, parse("https://h/agents"))) == 1


@pytest.mark.parametrize(
    "migration",
    [one for one in migrations() if "CREATE TABLE" in one.template],
    ids=lambda one: one.name,
)
def test_the_engine_takes_each_replicated_table_up_to_keeper(
    shards: Cluster, migration: Migration
) -> None:
    """Columns, engine and settings are accepted: what is missing is Keeper and nothing else."""
    sql = statements(migration, Dsn("http", database="turnspan", cluster="main"))[0]
    alone = sql.replace(" ON CLUSTER main", "").replace("_local", "_replicated")
    for ledger in ("schema_migration", "keeping_row"):  # the same name on every shard
        alone = alone.replace(ledger, f"{ledger}_replicated")
    answer = shards.nodes[0].code(alone.replace("{shard}", "1").replace("{replica}", "1"))

    assert answer == NO_ZOOKEEPER
