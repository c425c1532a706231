"""Judgments land once, whenever they come, and are joined by id (T-40)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider

import turnspan
from support.kept_stores import copy_schema
from turnspan.pipeline.processor import RecordProcessor
from turnspan.runtime.guard import errors
from turnspan.tracing.state import default
from turnspan_clickhouse import ClickHouseSpanExporter
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.diagnostics import find as diagnostic
from turnspan_records.judging.annotation import annotate as annotate_from_outside
from turnspan_records.lookup import find


@pytest.fixture
def dsn(tmp_path: Path) -> Dsn:
    copy_schema(tmp_path / "store")
    return Dsn(scheme="chdb", path=tmp_path / "store")


@pytest.fixture
def provider(dsn: Dsn) -> Iterator[TracerProvider]:
    made = TracerProvider()
    exporter = ClickHouseSpanExporter(str(dsn), project="desk")
    made.add_span_processor(RecordProcessor(exporter))
    default.provider = made
    yield made
    default.provider = None
    made.shutdown()


@turnspan.agent
def answer(question: str) -> tuple[str, bool]:
    """A turn that is judged while it runs."""
    turn = turnspan.current_turn()
    return turn.id, turnspan.annotate(outcome="pending", author="ada")


def landed(dsn: Dsn) -> Store:
    ship(dsn, spool=Spool(dsn.spool))
    return open_store(dsn)


def rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in store.query(sql).rows]


@pytest.mark.usefixtures("kept_engine")
def test_before_during_and_after_the_turn_and_for_one_that_never_comes(
    dsn: Dsn, provider: TracerProvider
) -> None:
    """Each is stored once; what is about nothing is told apart by a diagnostic."""
    assert turnspan.annotate("f" * 16, outcome="used")  # nothing of that turn is known yet, or ever
    turn_id, taken = answer("hello")
    assert taken
    assert provider.force_flush()
    ship(dsn, spool=Spool(dsn.spool))
    for _ in range(2):  # told twice, as by a client that got no answer
        assert turnspan.annotate(turn_id, outcome="used", score=8, comment="good", author="ada")
    provider.shutdown()  # what was only told is landed by the end of the process
    assert not turnspan.annotate(turn_id, outcome="rejected")

    with landed(dsn) as store:
        assert rows(
            store,
            "SELECT kind, outcome, score, comment FROM annotation"
            f" WHERE subject_id = '{turn_id}' ORDER BY created_at, kind",
        ) == [
            ("outcome", "pending", None, ""),
            ("comment", "", None, "good"),
            ("outcome", "used", None, ""),
            ("score", "", 8.0, ""),
        ]
        assert rows(store, "SELECT outcome, notes, training_flag FROM ephemera_agent_log") == [
            ("used", "good", 0)
        ]
        orphans = diagnostic("orphaned_annotations").run(store).dicts()
        assert [(one["subject_kind"], one["subject_id"]) for one in orphans] == [("turn", "f" * 16)]

        judged = find(store, turn_id)[0]
        assert annotate_from_outside(Spool(dsn.spool), judged, training_flag=1, author="bob")
        ship(store, spool=Spool(dsn.spool))
        assert rows(store, "SELECT outcome, training_flag FROM ephemera_agent_log") == [("used", 1)]


@pytest.mark.usefixtures("kept_engine")
def test_a_call_a_tool_a_span_and_an_evaluation(dsn: Dsn, provider: TracerProvider) -> None:
    """What is judged says its kind by its operation; an evaluation is a judgment too."""
    tracer = provider.get_tracer("t")
    with tracer.start_as_current_span("chat m", attributes={"gen_ai.operation.name": "chat"}) as c:
        turnspan.evaluation("relevance", score=0.5, label="pass", explanation="on topic")
    turnspan.annotate(c, preferred_over="a" * 16)
    turnspan.annotate(c.get_span_context(), kind="call", directive="be brief", id="mine")
    turnspan.annotate(c.get_span_context(), kind="call", directive="be briefer", id="mine")
    with tracer.start_as_current_span("plain") as plain:
        turnspan.annotate(comment="odd")
    assert not turnspan.annotate(comment="of nothing")
    assert provider.force_flush()

    call, span = (f"{one.get_span_context().span_id:016x}" for one in (c, plain))
    with landed(dsn) as store:
        assert rows(
            store,
            "SELECT subject_kind, subject_id, kind, outcome, score, comment, rejected_id, directive"
            " FROM annotation ORDER BY created_at",
        ) == [
            ("call", call, "evaluation:relevance", "pass", 0.5, "on topic", "", ""),
            ("call", call, "preference", "", None, "", "a" * 16, ""),
            ("call", call, "directive", "", None, "", "", "be briefer"),
            ("span", span, "comment", "", None, "odd", "", ""),
        ]


@pytest.mark.tests_internal_errors
@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"outcome": "great"}, "outcome is one of pending, used, modified, rejected: not 'great'"),
        ({"training_flag": 2}, "training_flag is 1"),
        ({"score": float("nan")}, "score is a finite number"),
        ({"score": 1, "kind": "answer"}, "kind is one of turn, call"),
    ],
)
def test_what_is_no_judgment_is_told_and_not_raised(
    provider: TracerProvider,
    caplog: pytest.LogCaptureFixture,
    given: dict[str, Any],
    said: str,
) -> None:
    """The log says what it must be; nothing of it is recorded."""
    assert not turnspan.annotate("b" * 16, comment="fine in itself", **given)
    assert errors.counts() == {"annotate": 1}
    assert said in caplog.text
    errors.reset()


def test_a_forked_child_does_not_land_its_parents(dsn: Dsn, provider: TracerProvider) -> None:
    """Told just before a fork, it is the parent's to land: once."""
    with trace.use_span(trace.NonRecordingSpan(trace.INVALID_SPAN_CONTEXT)):
        turnspan.annotate("c" * 16, outcome="used", id="1")
    child = os.fork()
    if not child:
        provider.force_flush()
        os._exit(0)
    os.waitpid(child, 0)
    assert provider.force_flush()
    segments = [one for one in Spool(dsn.spool).segments() if one.table == "annotation"]
    assert len(segments) == 1
