"""Metrics: what the conventions name, once a call, whether or not its span is sampled."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from openai import OpenAI
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    HistogramDataPoint,
    InMemoryMetricReader,
    NumberDataPoint,
)
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ALWAYS_ON, Sampler

import turnspan
from emit.conftest import Spans
from support.semconv_registry import registry
from turnspan import config, semconv
from turnspan.metrics import instruments
from turnspan.testing import ModelServer
from turnspan.tracing.state import default
from turnspan_clickhouse.pricing.prices import cost_of_call

Point = HistogramDataPoint | NumberDataPoint

_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS = (
    1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864,
)  # fmt: skip
_CALLS = (1, 2, 4, 8, 16, 32, 64, 128)
BUCKETS = {
    "gen_ai.client.inference.duration": _SECONDS,
    "gen_ai.client.inference.time_to_first_chunk": _SECONDS,
    "gen_ai.client.inference.time_per_output_chunk": _SECONDS,
    "gen_ai.client.inference.operation.input_tokens": _TOKENS,
    "gen_ai.client.inference.operation.output_tokens": _TOKENS,
    "gen_ai.client.operation.duration": _SECONDS,
    "gen_ai.invoke_agent.duration": (
        0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6,
    ),
    "gen_ai.invoke_agent.inference_calls": _CALLS,
    "gen_ai.invoke_agent.tool_calls": _CALLS,
    "gen_ai.execute_tool.duration": _SECONDS,
    "mcp.client.operation.duration": (
        0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
    ),
}  # fmt: skip
"""The boundaries that the conventions advise."""


class Meters:
    """A meter provider of the test's own and what was read from it."""

    def __init__(self) -> None:
        self._reader = InMemoryMetricReader()
        self.provider = MeterProvider([self._reader])

    def read(self) -> dict[str, list[Point]]:
        """Collect: the data points by metric."""
        data = self._reader.get_metrics_data()
        found: dict[str, list[Point]] = {}
        for resource in data.resource_metrics if data is not None else ():
            for scope in resource.scope_metrics:
                assert scope.scope.name == "turnspan"
                for metric in scope.metrics:
                    points = found[metric.name] = []
                    for point in metric.data.data_points:
                        assert isinstance(point, (HistogramDataPoint, NumberDataPoint))
                        points.append(point)
        return found


@pytest.fixture
def meters() -> Iterator[Meters]:
    """Metrics go to a provider of the test's own."""
    given = Meters()
    default.metrics.use(given.provider)
    yield given
    default.metrics.use(None)
    default.metrics.pricer = None
    given.provider.shutdown()


@pytest.fixture
def sampled() -> Iterator[Callable[[Sampler], None]]:
    """Lets the test choose the sampler of our spans."""
    providers: list[TracerProvider] = []

    def use(sampler: Sampler) -> None:
        provider = TracerProvider(sampler=sampler)
        providers.append(provider)
        default.provider = provider

    yield use
    default.provider = None
    for provider in providers:
        provider.shutdown()


def one(found: dict[str, list[Point]], name: str) -> Any:
    """The only data point of a metric."""
    assert len(found[name]) == 1, found[name]
    return found[name][0]


def call(model: str = "m-1", **usage: int) -> None:
    """One model call recorded by hand."""
    with turnspan.inference(
        provider="openai", model=model, server_address="api.example", messages="hi"
    ) as inference:
        inference.response(text="hello", model=f"{model}-2026", **usage)  # type: ignore[arg-type]


def test_a_call_counts_its_time_and_tokens(
    meters: Meters, sampled: Callable[[Sampler], None]
) -> None:
    """Names, units, attributes and values of a call's metrics; subsets are counted beside."""
    sampled(ALWAYS_ON)
    call(
        input_tokens=100,
        output_tokens=20,
        cache_read_tokens=60,
        cache_write_tokens=10,
        reasoning_tokens=5,
    )

    found = meters.read()

    common = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "m-1",
        "gen_ai.response.model": "m-1-2026",
        "server.address": "api.example",
        "server.port": 443,
    }
    for name, value in {
        "usage.input_tokens": 100,
        "usage.output_tokens": 20,
        "usage.cache_read.input_tokens": 60,
        "usage.cache_write.input_tokens": 10,
        "usage.reasoning.output_tokens": 5,
    }.items():
        point = one(found, f"gen_ai.client.inference.{name}")
        assert point.value == value
        assert point.attributes == {**common, "gen_ai.token.modality": "text"}
    for name, value in {"operation.input_tokens": 100, "operation.output_tokens": 20}.items():
        point = one(found, f"gen_ai.client.inference.{name}")
        assert (point.count, point.sum, point.attributes) == (1, value, common)
    duration = one(found, "gen_ai.client.inference.duration")
    assert duration.count == 1
    assert 0 < duration.sum < 1
    assert duration.attributes == common
    assert "gen_ai.client.inference.time_to_first_chunk" not in found


def test_a_failed_call_says_how(meters: Meters, sampled: Callable[[Sampler], None]) -> None:
    """The duration carries error.type; there are no tokens to count."""
    sampled(ALWAYS_ON)
    with pytest.raises(TimeoutError), turnspan.inference(provider="p", model="m"):
        raise TimeoutError

    found = meters.read()

    assert one(found, "gen_ai.client.inference.duration").attributes["error.type"] == "TimeoutError"
    assert not [name for name in found if "tokens" in name]


def test_a_stream_times_its_chunks(meters: Meters, sampled: Callable[[Sampler], None]) -> None:
    """Time to the first chunk, and one value for each chunk after it."""
    sampled(ALWAYS_ON)
    with turnspan.inference(provider="p", model="m") as inference:
        for text in ("a", "b", "c"):
            time.sleep(0.005)
            inference.chunk(text)

    found = meters.read()

    first = one(found, "gen_ai.client.inference.time_to_first_chunk")
    further = one(found, "gen_ai.client.inference.time_per_output_chunk")
    whole = one(found, "gen_ai.client.inference.duration")
    assert (first.count, further.count, whole.count) == (1, 2, 1)
    assert first.sum >= 0.005
    assert further.sum >= 0.01
    assert whole.sum >= first.sum + further.sum


def test_embeddings_are_no_inference(meters: Meters, sampled: Callable[[Sampler], None]) -> None:
    """Another operation's duration goes by the general name, its tokens by none."""
    sampled(ALWAYS_ON)
    with turnspan.inference(provider="p", model="e", operation="embeddings") as inference:
        inference.response(input_tokens=5)

    found = meters.read()

    assert one(found, "gen_ai.client.operation.duration").count == 1
    assert not [name for name in found if name.startswith("gen_ai.client.inference")]


def run_agents() -> None:
    """A workflow of an agent with a nested one, tools and a failing tool."""

    @turnspan.tool
    def look(path: str) -> str:
        return path

    @turnspan.tool("write", type="extension")
    def write() -> None:
        raise OSError("disk full")

    @turnspan.agent("inner")
    def inner(question: str) -> str:
        call(input_tokens=7, output_tokens=1)
        return "ok"

    @turnspan.agent("outer")
    def outer(question: str) -> str:
        call(input_tokens=10, output_tokens=2)
        look("/a")
        call(input_tokens=10, output_tokens=2)
        with pytest.raises(OSError):
            write()
        return inner(question)

    with turnspan.workflow("both"):
        outer("hello")


def test_agents_tools_and_workflows(meters: Meters, sampled: Callable[[Sampler], None]) -> None:
    """Each is timed; an agent's calls are those of its own loop, not of nested agents."""
    sampled(ALWAYS_ON)
    run_agents()

    found = meters.read()

    def by_agent(name: str) -> dict[Any, Any]:
        return {p.attributes["gen_ai.agent.name"]: p for p in found[name] if p.attributes}

    calls = by_agent("gen_ai.invoke_agent.inference_calls")
    tools = by_agent("gen_ai.invoke_agent.tool_calls")
    durations = by_agent("gen_ai.invoke_agent.duration")
    assert {name: p.sum for name, p in calls.items()} == {"outer": 2, "inner": 1}
    assert {name: p.sum for name, p in tools.items()} == {"outer": 2, "inner": 0}
    assert {p.count for p in durations.values()} == {1}
    assert {n: p.attributes["gen_ai.operation.name"] for n, p in durations.items()} == {
        "outer": "invoke_agent",
        "inner": "invoke_agent",
        "both": "invoke_workflow",
    }
    assert not EARLIER & set(found)
    assert sorted(
        (dict(p.attributes or {}) for p in found["gen_ai.execute_tool.duration"]),
        key=lambda a: str(a["gen_ai.tool.name"]),
    ) == [
        {
            "gen_ai.tool.name": "look",
            "gen_ai.tool.type": "function",
            "gen_ai.agent.name": "outer",
        },
        {
            "gen_ai.tool.name": "write",
            "gen_ai.tool.type": "extension",
            "gen_ai.agent.name": "outer",
            "error.type": "OSError",
        },
    ]


@pytest.fixture
def earlier_names() -> Iterator[None]:
    """The variable asks for the names of the conventions 1.41 as well."""
    before = config.active()
    config.activate(config.resolve({}, {config.STABILITY: "gen_ai/dup"}))
    yield
    config.activate(before)


CACHE_CREATION = "gen_ai.usage.cache_creation.input_tokens"
EARLIER = {*semconv.EARLIER.values()} - {"gen_ai.workflow.name", CACHE_CREATION}


def test_earlier_names_are_written_beside(
    meters: Meters, sampled: Callable[[Sampler], None], earlier_names: None
) -> None:
    """A dashboard made for the conventions 1.41 finds its metrics; the new ones stay."""
    sampled(ALWAYS_ON)
    run_agents()
    with turnspan.inference(provider="p", model="m") as streamed:
        streamed.chunk("a")
        streamed.chunk("b")

    found = meters.read()

    assert set(found) >= EARLIER
    tokens = {
        (p.attributes or {})["gen_ai.token.type"]: p
        for p in found["gen_ai.client.token.usage"]
        if isinstance(p, HistogramDataPoint)
    }
    assert {kind: p.sum for kind, p in tokens.items()} == {"input": 27, "output": 5}
    (new,) = found["gen_ai.client.inference.operation.input_tokens"]
    assert "gen_ai.token.type" not in (new.attributes or {})
    assert tokens["input"].explicit_bounds == new.explicit_bounds  # type: ignore[union-attr]
    workflow = one(found, "gen_ai.invoke_workflow.duration")
    assert (workflow.count, len(found["gen_ai.invoke_agent.duration"])) == (1, 3)


@pytest.mark.parametrize(
    ("value", "both"),
    [("gen_ai/dup", True), ("http/dup, gen_ai/dup", True), ("gen_ai_latest_experimental", False)],
)
def test_earlier_names_of_spans(spans: Spans, value: str, both: bool) -> None:
    """A workflow inside an agent's turn has its own name, by both names where that is asked for."""
    before = config.active()
    config.activate(config.resolve({}, {config.STABILITY: value}))
    try:
        with turnspan.agent("around"), turnspan.workflow("flow"), turnspan.workflow():
            call(input_tokens=9, cache_write_tokens=4)
    finally:
        config.activate(before)
    named = dict(spans.one("invoke_workflow flow").attributes or {})
    unnamed = dict(spans.one("invoke_workflow").attributes or {})
    used = dict(spans.one("chat m-1").attributes or {})

    assert named["gen_ai.agent.name"] == "flow"
    assert "gen_ai.agent.name" not in unnamed
    assert ("gen_ai.workflow.name" in named) == both
    assert used["gen_ai.usage.cache_write.input_tokens"] == 4
    assert used.get(CACHE_CREATION) == (4 if both else None)


def test_tokens_are_counted_by_modality(meters: Meters, sampled: Callable[[Sampler], None]) -> None:
    """Those of no other modality are text; the sums are the call's, and the price knows them."""
    default.metrics.pricer = cost_of_call
    sampled(ALWAYS_ON)
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "total_tokens": 150,
        "prompt_tokens_details": {"audio_tokens": 70, "image_tokens": 20},
        "completion_tokens_details": {"audio_tokens": 50},
    }
    message = {"role": "assistant", "content": "Yes."}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-audio"}
    turnspan.instrument(only=("openai",))
    try:
        with ModelServer() as server, OpenAI(base_url=server.url, api_key="k") as client:
            server.answer({**head, "choices": [choice], "usage": usage})
            client.chat.completions.create(
                model="gpt-audio", messages=[{"role": "user", "content": "hi"}]
            )
    finally:
        turnspan.uninstrument()

    found = meters.read()

    def counted(name: str) -> dict[Any, Any]:
        points: list[Any] = found[f"gen_ai.client.inference.usage.{name}"]
        return {dict(p.attributes)["gen_ai.token.modality"]: p.value for p in points}

    assert counted("input_tokens") == {"audio": 70, "image": 20, "text": 10}
    assert counted("output_tokens") == {"audio": 50}
    assert one(found, "gen_ai.client.inference.operation.input_tokens").sum == 100
    assert one(found, "turnspan.client.cost").value == pytest.approx(0.005515)


@pytest.mark.parametrize("sampler", [ALWAYS_OFF, ALWAYS_ON], ids=["dropped", "sampled"])
def test_what_is_not_sampled_is_counted_all_the_same(
    meters: Meters, sampled: Callable[[Sampler], None], sampler: Sampler
) -> None:
    """T-04: the counters with a sampler that drops everything equal those with AlwaysOn."""
    default.metrics.pricer = lambda attributes, usage, when: Decimal(usage.input_tokens or 0) / 100
    sampled(sampler)
    run_agents()

    found = meters.read()

    counted = {
        name: sum(p.value for p in points if isinstance(p, NumberDataPoint))
        for name, points in found.items()
        if name.startswith("gen_ai") and isinstance(points[0], NumberDataPoint)
    }
    timed = {
        name: sum(p.count for p in points if isinstance(p, HistogramDataPoint))
        for name, points in found.items()
        if isinstance(points[0], HistogramDataPoint)
    }
    assert counted == {
        "gen_ai.client.inference.usage.input_tokens": 27,
        "gen_ai.client.inference.usage.output_tokens": 5,
    }
    assert timed == {
        "gen_ai.client.inference.duration": 3,
        "gen_ai.client.inference.operation.input_tokens": 3,
        "gen_ai.client.inference.operation.output_tokens": 3,
        "gen_ai.invoke_agent.duration": 3,
        "gen_ai.invoke_agent.inference_calls": 2,
        "gen_ai.invoke_agent.tool_calls": 2,
        "gen_ai.execute_tool.duration": 2,
    }
    assert one(found, "turnspan.client.cost").value == pytest.approx(0.27)


def test_a_sampled_span_is_the_exemplar(meters: Meters, sampled: Callable[[Sampler], None]) -> None:
    """A measurement leads to its span's trace, though another thread recorded it."""
    sampled(ALWAYS_ON)
    with turnspan.step("around") as _:
        call(input_tokens=1)

    point = one(meters.read(), "gen_ai.client.inference.duration")

    assert len(point.exemplars) == 1
    assert point.exemplars[0].trace_id


def test_definitions_follow_the_conventions() -> None:
    """Every metric not of ours is in the registry with its instrument, unit and boundaries."""
    known = registry().metrics
    checked: dict[str, Any] = {}
    for metric in instruments.METRICS:
        if not metric.name.startswith("turnspan."):
            kind = "histogram" if metric.buckets else "counter"
            assert (kind, metric.unit) == (known[metric.name].kind, known[metric.name].unit)
            if metric.buckets:
                checked[metric.name] = tuple(metric.buckets)

    assert checked == BUCKETS


def test_nobody_listening_costs_next_to_nothing() -> None:
    """Without a meter provider nothing is queued, nor with the API's own that records nothing."""
    assert default.metrics.enabled() is False
    assert default.metrics.chunk_clock() is None
    default.metrics.use(NoOpMeterProvider())
    assert default.metrics.enabled() is False
    default.metrics.use(None)

    def fastest() -> float:
        begun = time.thread_time()
        for _ in range(1000):
            default.metrics.enabled()
        return (time.thread_time() - begun) / 1000

    assert min(fastest() for _ in range(20)) < 2e-6


def test_many_measurements_do_not_wait_for_a_reader(meters: Meters) -> None:
    """A thread empties the queue when many have gathered; none is lost or counted twice."""

    def work() -> None:
        for _ in range(500):
            call(input_tokens=1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found = meters.read()

    assert one(found, "gen_ai.client.inference.usage.input_tokens").value == 2000
    assert one(found, "gen_ai.client.inference.duration").count == 2000


_GLOBAL = """
import os, sys
import turnspan
from turnspan import metrics
assert not any(name.startswith("opentelemetry.metrics") for name in sys.modules)
with turnspan.inference(provider="p", model="before") as call:
    call.response(input_tokens=1)
from opentelemetry.metrics import set_meter_provider
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
reader = InMemoryMetricReader()
set_meter_provider(MeterProvider([reader]))
def count():
    return sum(
        point.value
        for resource in reader.get_metrics_data().resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        if metric.name == "gen_ai.client.inference.usage.input_tokens"
        for point in metric.data.data_points
    )
def spend(tokens):
    with turnspan.inference(provider="p", model="after") as call:
        call.response(input_tokens=tokens)
spend(10)
child = os.fork()
if child == 0:
    spend(100)
    os._exit(0 if count() == 100 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert count() == 10, count()
print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_global_provider_counts_from_when_it_is_set() -> None:
    """The metrics API is not imported before; a forked child counts only its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _GLOBAL], capture_output=True, text=True, timeout=60
    )

    assert (done.returncode, done.stdout.strip()) == (0, "fine"), done.stderr
