"""A judgment that is withdrawn holds no longer, wherever it is read; nothing is deleted."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from support.kept_stores import copy_schema
from support.landing import insert
from support.rows import PROJECT, T0, call, turn
from turnspan.pipeline.processor import RecordProcessor
from turnspan.runtime.guard import errors
from turnspan.tracing.state import default
from turnspan_clickhouse import ClickHouseSpanExporter
from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import Annotation, Withdrawal
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.diagnostics import find as diagnostic

pytestmark = pytest.mark.both_kinds(False)
LOG = "SELECT outcome, training_flag, notes FROM ephemera_agent_log ORDER BY turn_id"


def judged(id_: str, at: int, **values: Any) -> Annotation:
    """A judgment of turn t1, ``at`` nanoseconds after T0."""
    known: dict[str, Any] = {
        "project": PROJECT,
        "subject_kind": "turn",
        "subject_id": "t1",
        "kind": "outcome",
        "annotation_id": id_,
        "created_at": T0 + at,
        "written_at": T0 + at,
    }
    return Annotation(**{**known, **values})


def withdrawn(at: int, id_: str = "", **values: Any) -> Withdrawal:
    """A withdrawal of a judgment of turn t1."""
    known: dict[str, Any] = {
        "project": PROJECT,
        "subject_kind": "turn",
        "subject_id": "t1",
        "kind": "outcome",
        "withdrawal_id": f"w{at}",
        "annotation_id": id_,
        "created_at": T0 + at,
        "written_at": T0 + at,
    }
    return Withdrawal(**{**known, **values})


def current(store: Store) -> list[tuple[Any, ...]]:
    """What holds, without a setting of the reader's."""
    sql = "SELECT annotation_id, outcome FROM annotation_current ORDER BY kind, annotation_id"
    return [tuple(row) for row in store.query(sql, settings={"final": 0}).rows]


def log(store: Store) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in store.query(LOG, settings={"final": 0}).rows]


def test_the_judgment_before_it_holds_again(store: Store) -> None:
    """Undone one after the other, and judged the same again; both views agree at each step."""
    insert(store, turn("t1"), judged("a", 1, outcome="used"))
    insert(store, judged("b", 2, outcome="rejected"), judged("n", 2, kind="comment", comment="no"))
    assert (current(store)[-1], log(store)) == (("b", "rejected"), [("rejected", 0, "no")])

    insert(store, withdrawn(3))
    assert (current(store)[-1], log(store)) == (("a", "used"), [("used", 0, "no")])
    insert(store, withdrawn(4), withdrawn(4, kind="comment"))
    assert (current(store), log(store)) == ([], [("pending", 0, "")])

    insert(store, judged("b", 5, outcome="rejected"))
    assert (current(store), log(store)) == ([("b", "rejected")], [("rejected", 0, "")])
    assert store.query("SELECT count() FROM withdrawal").rows == [(3,)]
    assert store.query("SELECT count() FROM annotation").rows == [(3,)]


def test_one_is_withdrawn_by_its_id_whatever_came_after_it(store: Store) -> None:
    """The newer ones stay; what was withdrawn does not come back with an undo of those."""
    insert(store, turn("t1"))
    insert(store, *(judged(id_, at, outcome="used") for at, id_ in enumerate("abc")))
    insert(store, withdrawn(5, "b", author="ada", comment="a slip"))
    assert current(store) == [("c", "used")]
    insert(store, withdrawn(6))
    assert current(store) == [("a", "used")]
    found = store.query(
        "SELECT annotation_id, withdrawn_by, reason FROM annotation_withdrawn ORDER BY 1"
    )
    assert [tuple(row) for row in found.rows] == [("b", "ada", "a slip"), ("c", "", "")]


def test_who_withdraws_without_an_id_takes_back_their_own(store: Store) -> None:
    """Another's newer judgment stays."""
    insert(store, turn("t1"), judged("a", 1, outcome="used", author="ada"))
    insert(store, judged("b", 2, outcome="rejected", author="bob"), withdrawn(3, author="ada"))
    assert current(store) == [("b", "rejected")]
    insert(store, withdrawn(4, author="bob"))
    assert current(store) == []


def test_the_order_of_landing_makes_no_difference(store: Store) -> None:
    """A withdrawal lands before the judgment that it is of, and one twice."""
    insert(store, turn("t1"), withdrawn(3))
    insert(store, withdrawn(3))
    insert(store, judged("a", 1, outcome="used"), judged("b", 2, outcome="rejected"))
    assert (current(store), log(store)) == ([("a", "used")], [("used", 0, "")])


def test_of_calls_outside_turns_too(store: Store) -> None:
    """Outcome, flag and note of a call that belongs to no turn."""
    insert(store, call("c1"))
    of_call: dict[str, Any] = {"subject_kind": "call", "subject_id": "c1"}
    insert(
        store,
        judged("o", 1, **of_call, outcome="used"),
        judged("f", 1, **of_call, kind="training_flag", training_flag=1),
        judged("n", 1, **of_call, kind="comment", comment="fine"),
    )
    assert log(store) == [("used", 1, "fine")]
    insert(store, *(withdrawn(2, **of_call, kind=k) for k in ("outcome", "training_flag")))
    assert log(store) == [("pending", 0, "fine")]
    insert(store, withdrawn(3, "n", **of_call, kind="comment"))
    assert log(store) == [("pending", 0, "")]


def test_a_person_is_believed_whatever_a_machine_says_later(store: Store) -> None:
    """A passive author, or a source that says machine; of machines alone the newest holds."""
    machines: list[dict[str, Any]] = [
        {"author": "passive:mediawiki"},
        {"source": "machine:nightly"},
    ]
    insert(store, turn("t1"))
    insert(store, judged("m1", 1, outcome="used", **machines[0]))
    insert(store, judged("m2", 2, outcome="modified", **machines[1]))
    assert (current(store), log(store)) == ([("m2", "modified")], [("modified", 0, "")])
    insert(store, judged("p", 0, outcome="rejected", author="ada"))
    assert (current(store), log(store)) == ([("p", "rejected")], [("rejected", 0, "")])
    insert(store, withdrawn(3, author="ada"))
    assert (current(store), log(store)) == ([("m2", "modified")], [("modified", 0, "")])
    notes = [
        judged("x", 9, kind="comment", comment="by a machine", **machines[0]),
        judged("y", 1, kind="comment", comment="by a person"),
    ]
    insert(store, *notes)
    assert log(store) == [("modified", 0, "by a person")]


def test_a_withdrawn_judgment_of_nothing_is_no_orphan(store: Store) -> None:
    """The diagnostic tells of what somebody still has to look at."""
    insert(store, judged("a", 1), judged("b", 1, subject_id="t9"), withdrawn(2, "a"))
    found = diagnostic("orphaned_annotations").run(store).dicts()
    assert [row["subject_id"] for row in found] == ["t9"]


def test_what_was_spooled_before_there_was_a_confidence_lands(store: Store) -> None:
    """A segment of an older version lacks the columns."""

    block = encode_block(Annotation, [judged("a", 1, outcome="used")])
    older = without(block, ("confidence", "ranking_id"))
    assert len(older) < len(block)
    store.insert_native("annotation", older, token="older")
    rows = store.query("SELECT outcome, confidence, ranking_id FROM annotation").rows
    assert [tuple(row) for row in rows] == [("used", None, "")]


def without(block: bytes, last: tuple[str, ...]) -> bytes:
    """A Native block of one row without its last columns."""
    at = block.index(bytes([len(last[0])]) + last[0].encode())
    assert block[0] < 128
    return bytes([block[0] - len(last)]) + block[1:at]


@pytest.fixture
def dsn(tmp_path: Path) -> Dsn:
    copy_schema(tmp_path / "store")
    return Dsn(scheme="chdb", path=tmp_path / "store")


@pytest.fixture
def provider(dsn: Dsn) -> Iterator[TracerProvider]:
    made = TracerProvider()
    made.add_span_processor(RecordProcessor(ClickHouseSpanExporter(str(dsn), project=PROJECT)))
    default.provider = made
    yield made
    default.provider = None
    made.shutdown()


@pytest.mark.usefixtures("kept_engine")
def test_the_application_withdraws(dsn: Dsn, provider: TracerProvider) -> None:
    """The newest or one by its id, from any process; it may not even read."""
    assert turnspan.annotate("t1", outcome="used", author="ada")
    assert turnspan.annotate("t1", outcome="rejected", score=2, author="ada", confidence=0.5)
    assert turnspan.annotate("t2", comment="wrong one", id="mine", source="form")
    assert turnspan.withdraw("t1", "outcome", author="ada", reason="a slip")
    assert turnspan.withdraw("t2", "comment", id="mine")
    assert provider.force_flush()
    ship(dsn, spool=Spool(dsn.spool))
    with open_store(dsn) as store:
        rows = store.query(
            "SELECT kind, outcome, score, confidence, source FROM annotation_current ORDER BY kind"
        ).rows
        assert [tuple(row) for row in rows] == [
            ("outcome", "used", None, None, "annotate"),
            ("score", "", 2.0, 0.5, "annotate"),
        ]
        reasons = store.query("SELECT reason FROM annotation_withdrawn ORDER BY 1").rows
        assert [tuple(row) for row in reasons] == [("",), ("a slip",)]


def test_a_withdrawal_is_on_disk_before_it_lands(dsn: Dsn) -> None:
    """After a local flush `kill -9` takes nothing away."""
    child = os.fork()
    if not child:
        turnspan.configure(store=str(dsn), exporters=["turnspan"])
        turnspan.annotate("t1", outcome="used")
        turnspan.withdraw("t1", "outcome")
        turnspan.prefer("t1", "t2")
        os._exit(0 if turnspan.flush(local=True).ok else 1)  # as killed: nothing at exit runs
    assert os.waitpid(child, 0)[1] == 0
    ship(dsn, spool=Spool(dsn.spool))
    with open_store(dsn) as store:
        assert store.query("SELECT kind FROM annotation_current").rows == [("preference",)]


@pytest.mark.tests_internal_errors
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"judgment": "opinion"}, "judgment is one of outcome, training_flag"),
        ({"judgment": "score", "kind": "answer"}, "kind is one of turn, call"),
    ],
)
def test_what_can_not_be_withdrawn_is_told_and_not_raised(
    provider: TracerProvider, caplog: pytest.LogCaptureFixture, given: dict[str, Any], said: str
) -> None:
    """The log says what it must be."""
    assert not turnspan.withdraw("t1", **given)
    assert errors.counts() == {"withdraw": 1}
    assert said in caplog.text
    errors.reset()


@pytest.mark.usefixtures("kept_engine")
def test_the_application_compares(dsn: Dsn, provider: TracerProvider) -> None:
    """Pairs of turns and rankings, by id or by the span; told twice they are stored once."""
    tracer = provider.get_tracer("t")
    with tracer.start_as_current_span("chat m", attributes={"gen_ai.operation.name": "chat"}) as a:
        pass
    with tracer.start_as_current_span("chat m", attributes={"gen_ai.operation.name": "chat"}) as b:
        pass
    for _ in range(2):
        assert turnspan.prefer(a, b, reason="shorter", author="ada", confidence=1)
        assert turnspan.rank(["w", "x", "y", "z"], ties=[["z", "y"]], author="ada")
    assert turnspan.rank(["w", "x"], id="mine")
    assert not turnspan.rank(["w", "x"], ties=[["w", "x"]])
    assert provider.force_flush()
    ship(dsn, spool=Spool(dsn.spool))
    first, second = (f"{one.get_span_context().span_id:016x}" for one in (a, b))
    with open_store(dsn) as store:
        rows = store.query(
            "SELECT subject_kind, chosen_id, rejected_id, comment, confidence FROM annotation"
            " WHERE subject_kind = 'call' OR author = 'ada' ORDER BY subject_kind, 2, 3"
        ).rows
        assert [tuple(row) for row in rows] == [
            ("call", first, second, "shorter", 1.0),
            *(("turn", x, y, "", None) for x, y in ("wx", "wy", "wz", "xy", "xz")),
        ]
        ids = store.query("SELECT ranking_id, count() FROM annotation GROUP BY 1 ORDER BY 2").rows
        assert [(len(str(one)), count) for one, count in ids] == [(0, 1), (4, 1), (32, 5)]


@pytest.mark.tests_internal_errors
@pytest.mark.parametrize(
    ("ids", "ties", "said"),
    [
        (["a", "b", "a"], [], "each id once"),
        (["a", "b", "c"], [["a", "c"]], "beside each other"),
        (["a", "b"], [["a", "z"]], "ids of the ranking"),
        (map(str, itertools.count()), [], "at most 200"),
    ],
)
def test_what_is_no_ranking_is_told_and_not_raised(
    provider: TracerProvider, caplog: pytest.LogCaptureFixture, ids: Any, ties: Any, said: str
) -> None:
    """Also ids without an end."""
    assert not turnspan.rank(ids, ties=ties)
    assert errors.counts() == {"rank": 1}
    assert said in caplog.text
    errors.reset()


def test_nothing_is_taken_where_nothing_is_recorded() -> None:
    """Without a recorder, as annotate."""
    assert not turnspan.withdraw("t1", "outcome")
    assert not turnspan.prefer("t1", "t2")
    assert not turnspan.rank(["t1", "t2"])
