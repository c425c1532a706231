"""The process under test of ``benchmarks/throughput.py``: it offers spans to one pipeline.

Prints one JSON line: what was offered and dropped, seconds, its CPU and its peak memory.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parents[2] / "examples")]

from opentelemetry.sdk.resources import Resource  # noqa: E402
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider  # noqa: E402
from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: E402
from opentelemetry.trace import SpanKind, Tracer  # noqa: E402
from opentelemetry.util.types import AttributeValue  # noqa: E402

QUEUE = 65_536
_TICK = 0.005
_SPAN: dict[str, AttributeValue] = {
    "http.request.method": "POST",
    "url.full": "https://api.openai.com/v1/chat/completions",
    "server.address": "api.openai.com",
    "server.port": 443,
    "http.response.status_code": 200,
    "network.protocol.version": "1.1",
    "user_agent.original": "OpenAI/Python 3.1.0",
    "http.response.body.size": 2_113,
    "app.region": "eu-central-1",
}


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A provider under test: how full its queue is, and how to empty it."""

    provider: TracerProvider
    processor: SpanProcessor
    queued: Callable[[], int]
    finish: Callable[[], dict[str, int]]
    """Land everything and end; returns what was dropped, by reason."""
    sent: Callable[[], int] = int
    """Bytes sent so far, where they do not go to the server itself."""


def _turnspan(options: argparse.Namespace) -> Pipeline:
    import turnspan
    from turnspan.lifecycle import default_recorder

    provider = _provider()
    turnspan.configure(store=options.target, tracer_provider=provider, queue_size=QUEUE)
    records = default_recorder.processor
    assert records is not None

    def finish() -> dict[str, int]:
        return dict(turnspan.shutdown(timeout=120).dropped)

    return Pipeline(provider, records, records.queued, finish)


def _otlp(options: argparse.Namespace) -> Pipeline:
    import requests
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    sent = [0]

    def count(request: requests.PreparedRequest) -> requests.PreparedRequest:
        assert isinstance(request.body, bytes)
        sent[0] += len(request.body)
        return request

    session = requests.Session()
    session.auth = count
    provider = _provider()
    batch = BatchSpanProcessor(
        OTLPSpanExporter(f"{options.target}/v1/traces", session=session),
        max_queue_size=QUEUE,
        max_export_batch_size=options.batch,
    )
    provider.add_span_processor(batch)
    inner: Any = batch._batch_processor  # pyright: ignore[reportPrivateUsage]

    def finish() -> dict[str, int]:
        batch.force_flush(120_000)
        provider.shutdown()
        return {}  # BatchSpanProcessor does not say; the parent counts what is missing

    return Pipeline(provider, batch, lambda: len(inner._queue), finish, lambda: sent[0])


def _bare(_: argparse.Namespace) -> Pipeline:
    provider, nothing = _provider(), SpanProcessor()
    provider.add_span_processor(nothing)
    return Pipeline(provider, nothing, lambda: 0, dict)


def _provider() -> TracerProvider:
    return TracerProvider(resource=Resource.create({"service.name": "bench"}))


PIPELINES: dict[str, Callable[[argparse.Namespace], Pipeline]] = {
    "turnspan": _turnspan,
    "otlp": _otlp,
    "bare": _bare,
}


def _end_one(tracer: Tracer, number: int) -> None:
    attributes: dict[str, AttributeValue] = {**_SPAN, "app.request": f"r-{number}"}
    tracer.start_span("POST", kind=SpanKind.CLIENT, attributes=attributes).end()


def _tracer(pipeline: Pipeline) -> Tracer:
    return pipeline.provider.get_tracer("opentelemetry.instrumentation.httpx", "0.60b0")


def _give_room(pipeline: Pipeline) -> None:
    while pipeline.queued() > QUEUE // 2:
        time.sleep(_TICK)


def sustained(pipeline: Pipeline, spans: int) -> dict[str, Any]:
    """Start and end this many spans, waiting where the queue is half full."""
    tracer = _tracer(pipeline)
    for number in range(spans):
        _end_one(tracer, number)
        if not number % 256:
            _give_room(pipeline)
    return {"offered": spans}


def offered(pipeline: Pipeline, rate: int, seconds: float) -> dict[str, Any]:
    """End ``rate`` spans a second for some seconds, whatever becomes of them."""
    tracer = _tracer(pipeline)
    number, start = 0, time.perf_counter()
    cpu = time.thread_time()
    while True:
        passed = time.perf_counter() - start
        due = int(min(passed, seconds) * rate)
        while number < due:
            _end_one(tracer, number)
            number += 1
        if passed >= seconds:
            break
        time.sleep(_TICK)
    took = time.perf_counter() - start
    return {
        "offered": number,
        "offering_seconds": took,
        "thread_us": (time.thread_time() - cpu) / number * 1e6,
    }


def recorded_load(options: argparse.Namespace) -> Callable[[Pipeline], dict[str, Any]]:
    """Finished spans of recorded agents, each replay with ids of its own; ready to be offered.

    What the application does before a span ends is done here already: for Turnspan the content is
    frozen beside the span, for the others it is attributes.
    """
    from support.recorded import Recorded, hand_over, with_content
    from turnspan.tracing.state import default

    recorded = Recorded.read(Path(options.recorded))
    replays = [each for _ in range(options.replays) for each in recorded.replay()]
    if options.child != "turnspan":
        for each in replays:
            each.span, each.content = with_content(each.span, each.content), None
            each.started.clear()

    def offer(pipeline: Pipeline) -> dict[str, Any]:
        on_end = pipeline.processor.on_end
        for number, each in enumerate(replays):
            hand_over((each,), (each.content,), default.content)
            each.content = None
            on_end(each.span)
            if not number % 256:
                _give_room(pipeline)
        return {"offered": len(replays)}

    return offer


def _load(options: argparse.Namespace) -> Callable[[Pipeline], dict[str, Any]]:
    if options.recorded:
        return recorded_load(options)
    if options.rate:
        return lambda pipeline: offered(pipeline, options.rate, options.seconds)
    return lambda pipeline: sustained(pipeline, options.spans)


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Offer what the arguments say."""
    parser = argparse.ArgumentParser()
    parser.add_argument("child", choices=PIPELINES)
    parser.add_argument("target")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--rate", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--spans", type=int, default=0)
    parser.add_argument("--recorded", default="")
    parser.add_argument("--replays", type=int, default=1)
    options = parser.parse_args()
    load = _load(options)
    gc.collect()
    gc.freeze()  # the load is not the pipeline's to scan
    pipeline = PIPELINES[options.child](options)
    _tracer(pipeline).start_span("warm").end()
    before, start = _cpu(), time.perf_counter()
    found = load(pipeline)
    found["dropped"] = pipeline.finish()
    found["sent"] = pipeline.sent()
    found["seconds"] = time.perf_counter() - start
    found["cpu"] = _cpu() - before
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
