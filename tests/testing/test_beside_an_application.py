"""``turnspan.testing.record`` in an application that records: nothing of a test lands there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import turnspan
import turnspan_records
from support.kept_stores import copy_schema
from turnspan import config
from turnspan.testing import record
from turnspan.tracing import state

log_exporter: Any = InMemoryLogRecordExporter


@turnspan.agent
def answer(question: str) -> str:
    """An agent with one call, by hand."""
    with turnspan.inference(provider="mine", model="m-1", messages=question) as call:
        call.response(text="Hello.", input_tokens=3, output_tokens=2)
    return "Hello."


@turnspan.tool
def look(city: str) -> str:
    """The sky of a city."""
    return f"grey in {city}"


@pytest.fixture
def configured(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[InMemorySpanExporter]:
    """An application that records into a store, and exports its spans as well."""
    if request.node.get_closest_marker("with_schema"):
        copy_schema(tmp_path / "store")
    sent = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(sent))
    settings = config.of_process()
    turnspan.configure(
        store=f"chdb://{tmp_path / 'store'}", tracer_provider=provider, capture_content=False
    )
    yield sent
    turnspan.shutdown()
    config.activate(settings)
    provider.shutdown()


@pytest.mark.with_schema
def test_a_configured_application_lands_none_of_it(
    configured: InMemorySpanExporter, tmp_path: Path
) -> None:
    """Neither its store nor its own exporters get what is made inside, but all that is not."""
    provider = state.default.provider
    assert provider is not None
    theirs = provider.get_tracer("theirs")
    before = state.default.content, state.default.settings
    with turnspan.agent("begun before"):
        with record(capture_content=True, project="shop") as recorded:
            answer("A test's")
            with theirs.start_as_current_span("another package's"):
                pass
            turnspan.annotate("t-1", kind="turn", score=1.0)
            assert turnspan.flush().ok and turnspan.flush(local=True).ok
            assert turnspan.shutdown().ok
            assert configured.get_finished_spans() == ()
        assert (state.default.content, state.default.settings) == before
        assert (state.default.stand_in, vars(state)["_standing"]) == (None, 0)
    answer("The application's")
    assert turnspan.flush().ok

    assert recorded.turn().user_message == "A test's"
    assert recorded.turn().row.project == "shop"
    assert recorded.span(scope="theirs").name == "another package's"
    names = [span.name for span in configured.get_finished_spans()]
    assert "invoke_agent begun before" in names and "another package's" not in names
    with turnspan_records.open(f"chdb://{tmp_path / 'store'}") as store:
        found = store.query("SELECT agent_name, user_message FROM turn_summary ORDER BY start_time")
        assert found.rows == [("begun before", ""), ("answer", "")]
        assert store.query("SELECT count() FROM annotation").rows == [(0,)]


def test_a_span_that_began_before_goes_where_it_was_to_go(
    configured: InMemorySpanExporter,
) -> None:
    """Even if it ends inside."""
    with turnspan.agent("outer") as outer:
        block = record()
        recorded = block.__enter__()
    block.__exit__(None, None, None)
    assert recorded.spans() == []
    assert [span.name for span in configured.get_finished_spans()] == ["invoke_agent outer"]
    assert outer.id


def test_another_recorder_can_be_stood_in_for(tmp_path: Path) -> None:
    """Only that one: what the default one records is none of it."""
    copy_schema(tmp_path / "second")
    second = turnspan.Recorder()
    second.configure(service_name="second", store=f"chdb://{tmp_path / 'second'}")

    @second.agent
    def judge() -> None: ...

    with record() as ours, record(second) as theirs:
        judge()
        look("Rome")
    judge()
    assert second.flush().ok
    second.shutdown()
    assert [turn.agent_name for turn in theirs.turns()] == ["judge"]
    assert theirs.turn().row.service == "second"
    assert (ours.turns(), [tool.name for tool in ours.tools()]) == ([], ["look"])
    with turnspan_records.open(f"chdb://{tmp_path / 'second'}") as store:
        assert store.query("SELECT count() FROM turn_summary").rows == [(1,)]


def test_a_thread_of_a_configured_application_is_recorded_too(
    configured: InMemorySpanExporter,
) -> None:
    """One that carries no context, and was there before."""
    begin, done = threading.Event(), threading.Event()

    def work() -> None:
        begin.wait(60)
        answer("In a thread")
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    with record(capture_content=True) as recorded:
        begin.set()
        assert done.wait(60)
    thread.join()
    assert recorded.turn().user_message == "In a thread"
    assert configured.get_finished_spans() == ()


def test_metrics_and_events_of_the_application_get_nothing() -> None:
    """What a test's calls cost is not what the application's cost."""
    reader, events = InMemoryMetricReader(), log_exporter()
    logs = LoggerProvider(shutdown_on_exit=False)
    logs.add_log_record_processor(SimpleLogRecordProcessor(events))
    meters = MeterProvider([reader], shutdown_on_exit=False)
    settings = config.of_process()
    turnspan.configure(
        exporters=[],
        tracer_provider=TracerProvider(),
        meter_provider=meters,
        logger_provider=logs,
        emit_events=True,
    )
    try:
        with record() as recorded:
            answer("A test's")
        assert told(reader) == 0
        assert events.get_finished_logs() == ()
        answer("The application's")
        assert told(reader) == 1
        assert len(events.get_finished_logs()) == 1
    finally:
        turnspan.shutdown()
        config.activate(settings)
        state.default.metrics.use(None)
        state.default.logger_provider = None
        meters.shutdown()
        logs.shutdown()
    assert recorded.call().input_tokens == 3


def told(reader: InMemoryMetricReader) -> int:
    """How many calls the metrics tell of."""
    data: Any = reader.get_metrics_data()
    found = [
        point.count
        for resource in (data.resource_metrics if data is not None else ())
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
        if metric.name == "gen_ai.client.inference.duration"
        and point.attributes.get("gen_ai.operation.name") == "chat"
    ]
    return sum(found)
