"""A recorder owns its state: one after another, and two side by side."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import context as otel_context
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import turnspan
import turnspan_records
from support.kept_stores import copy_schema
from turnspan import config
from turnspan_clickhouse.errors import NoStoreError


@pytest.fixture
def second(tmp_path: Path) -> Iterator[turnspan.Recorder]:
    """Another recorder than the default one, with a store of its own."""
    copy_schema(tmp_path / "second")
    made = turnspan.Recorder()
    made.configure(service_name="second", store=f"chdb://{tmp_path / 'second'}")
    yield made
    made.shutdown()


@pytest.fixture
def first(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    """The default recorder, recording; the settings are as before afterwards."""
    before = config.active()
    if request.node.get_closest_marker("with_schema"):
        copy_schema(tmp_path / "first")
    turnspan.configure(
        store=f"chdb://{tmp_path / 'first'}",
        tracer_provider=TracerProvider(),
        capture_content=False,
    )
    yield
    turnspan.shutdown()
    config.activate(before)


TURNS = "SELECT agent_name, service, user_message FROM turn_summary ORDER BY start_time"
"""Agent, service and what the user said."""


def landed(folder: Path, *questions: str) -> list[Any]:
    """What a store answers."""
    with turnspan_records.open(f"chdb://{folder}") as store:
        return [store.query(sql).rows for sql in questions]


@pytest.mark.with_schema
def test_two_record_side_by_side(first: None, second: turnspan.Recorder, tmp_path: Path) -> None:
    """Into two stores, each by its own settings; one inside the other, too."""

    @turnspan.agent
    def ours(question: str) -> str:
        return judge(question)

    @second.agent
    def judge(question: str) -> str:
        with turnspan.tool("look") as call:  # of the recorder around it
            call.result = "found"
        return "fine"

    ours("a secret question")
    judge("is it good?")
    with second.active(), turnspan.agent("in a block"):
        pass
    assert second.flush().ok
    assert turnspan.flush().ok

    (((name, _, said),),) = landed(tmp_path / "first", TURNS)
    assert name == "ours"
    assert said == "", "the default recorder records no content"
    found, tools = landed(tmp_path / "second", TURNS, "SELECT count() FROM tool_call")
    assert [(name, said) for name, _, said in found] == [
        ("judge", "a secret question"),
        ("judge", "is it good?"),
        ("in a block", ""),
    ]
    assert {service for _, service, _ in found} == {"second"}
    assert tools == [(2,)]


def test_what_a_second_one_judges_and_calls_by_hand_is_its_own(
    first: None, second: turnspan.Recorder, tmp_path: Path
) -> None:
    """Every verb that it has."""
    with second.session("s1"), second.agent("judge") as turn:
        with second.inference(provider="mine", model="m", messages="Hi") as call:
            call.response(text="Hello", input_tokens=1, output_tokens=2)
        with second.workflow("w"), second.step("s"), second.tool("t"):
            pass
    assert second.annotate(turn, score=7.0)
    second.evaluation("relevance", score=0.5, span=None)
    assert second.flush().ok
    with turnspan_records.open(f"chdb://{tmp_path / 'second'}") as store:
        turns = store.query("SELECT session_id, llm_call_count FROM turn_summary").rows
        assert turns == [("s1", 1)]
        assert store.query("SELECT response_text FROM llm_call").rows == [("Hello",)]
        assert store.query("SELECT count() > 0 FROM annotation").rows == [(1,)]
    assert turnspan.flush().ok
    with pytest.raises(NoStoreError):  # the default one recorded nothing
        landed(tmp_path / "first", TURNS)


def test_a_block_of_a_second_one_ends_with_it(
    first: None, second: turnspan.Recorder, tmp_path: Path
) -> None:
    """Each kind of block, also where nothing is around it: afterwards the default one records."""
    blocks: list[Any] = [
        *(second.active(), second.session("s"), second.inference(model="m")),
        *(second.agent("a"), second.tool("t"), second.workflow("w"), second.step("s")),
        second.context_assembly("q"),
    ]
    before = otel_context.get_current()
    for block in blocks:
        with block:
            assert config.active() is second.state.settings
        assert otel_context.get_current() == before, block


def test_a_closed_one_leaves_nothing_on_a_provider(tmp_path: Path) -> None:
    """Neither a processor nor a thread."""
    provider = TracerProvider()
    kept = InMemorySpanExporter()
    recorder = turnspan.Recorder()
    before = {thread.name for thread in threading.enumerate()}
    recorder.configure(
        tracer_provider=provider, store=f"chdb://{tmp_path / 'store'}", exporters=["turnspan", kept]
    )
    assert processors(provider)
    recorder.shutdown()
    assert processors(provider) == ()
    assert {thread.name for thread in threading.enumerate()} <= before


def processors(provider: TracerProvider) -> tuple[Any, ...]:
    """What a provider tells of its spans."""
    found: tuple[Any, ...] = vars(provider)["_active_span_processor"]._span_processors
    return found


def test_what_ends_after_the_end_is_counted(tmp_path: Path) -> None:
    """By the recorder that was closed, until it is configured anew."""
    recorder = turnspan.Recorder()
    store = f"chdb://{tmp_path / 'store'}"
    recorder.configure(store=store)
    with recorder.agent("late"):
        recorder.shutdown()
    with recorder.tool("later"):
        pass
    assert recorder.flush().dropped == {"after_shutdown": 2}
    recorder.configure(store=store)
    assert recorder.flush().dropped == {}
    recorder.shutdown()


REUSED = """
import sys
import turnspan
from opentelemetry import trace

kept = trace.get_tracer("kept by another package")
for number, name in enumerate(("first", "second", "third")):
    turnspan.configure(service_name=name, store=f"chdb://{sys.argv[1]}/{name}")
    with turnspan.agent(f"agent {number}"):
        with kept.start_as_current_span("theirs"):
            pass
    assert turnspan.flush().ok
    turnspan.shutdown()
"""


def test_configure_after_shutdown_starts_anew(tmp_path: Path) -> None:
    """With another service's name, store and settings; what others keep records on."""
    names = ("first", "second", "third")
    for name in names:
        copy_schema(tmp_path / name)
    subprocess.run([sys.executable, "-c", REUSED, str(tmp_path)], check=True)
    theirs = "SELECT name FROM span WHERE scope_name LIKE 'kept%'"
    for number, name in enumerate(names):
        turns, spans = landed(tmp_path / name, TURNS, theirs)
        assert turns == [(f"agent {number}", name, "")]
        assert spans == [("theirs",)]


def test_the_default_one_uses_the_applications_provider() -> None:
    """It is left as the global one: a second recorder never touches that."""
    before = trace.get_tracer_provider()
    recorder = turnspan.Recorder()
    recorder.configure(exporters=[])
    recorder.shutdown()
    assert trace.get_tracer_provider() is before
