"""One package at its work, in a process of its own: what ``competitors.py`` starts and asks.

Questions and answers are JSON, a line each: ``version``, ``prepare`` (a case), ``round``.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable
from importlib import import_module, metadata
from tempfile import NamedTemporaryFile
from types import FunctionType
from typing import Any

from calling_thread import ANSWER, chunks
from calling_thread import CASES as CALLS

CASES = ("small", "realistic", "large", "stream of 50")
CALLS_A_ROUND = {"small": 100, "realistic": 50, "large": 20, "stream of 50": 40}
FLOOR = "bare span"
OURS = "turnspan"
NAMES = (
    FLOOR,
    OURS,
    "official",
    "openinference",
    "openllmetry",
    "openlit",
    "langfuse",
)

Sink = deque[Any]
"""The spans that have ended."""


def marked(messages: list[Any]) -> list[Any]:
    """The messages with a mark of their own where each text begins and where it ends."""
    return [
        {**message, "content": f"[{number}<]{message['content']}[>{number}]"}
        for number, message in enumerate(messages)
    ]


def arguments(case: str) -> dict[str, Any]:
    """What ``create`` is given."""
    stream = case.startswith("stream")
    call = CALLS["small" if stream else case]
    streamed = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    return {"model": "gpt-4o-mini", **call, **streamed, "messages": marked(call["messages"])}


def texts(case: str) -> list[str]:
    """What has to be found in what was recorded of a call: marks, tools, and the reply."""
    wanted: list[str] = []
    call = arguments(case)
    for number, message in enumerate(call["messages"]):
        wanted += [f"[{number}<]{message['content'][:20].partition(']')[2]}", f"[>{number}]"]
    wanted += [tool["function"]["name"] for tool in call.get("tools", [])]
    reply: Any = ANSWER["choices"]
    said: str = "word " * 50 if case.startswith("stream") else reply[0]["message"]["content"]
    return [*wanted, said.strip()]


# -- the packages ------------------


def use_turnspan(provider: Any) -> None:
    """Ours."""
    import turnspan
    from turnspan.tracing.state import default

    default.content.attach()
    turnspan.instrument(tracer_provider=provider, only=["turnspan_openai"])


def use_official(provider: Any) -> None:
    """OpenTelemetry's own."""
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    instrumentor("opentelemetry.instrumentation.genai.openai", provider)


def use_openinference(provider: Any) -> None:
    """OpenInference: content is on as it comes."""
    instrumentor("openinference.instrumentation.openai", provider)


def use_openllmetry(provider: Any) -> None:
    """OpenLLMetry: content is on as it comes; said all the same."""
    os.environ["TRACELOOP_TRACE_CONTENT"] = "true"
    instrumentor("opentelemetry.instrumentation.openai", provider)


def use_openlit(provider: Any) -> None:
    """OpenLIT, on the provider of the process; prices from a file, since it would fetch them."""
    import_module("opentelemetry.trace").set_tracer_provider(provider)
    openlit = import_module("openlit")
    others = set(import_module("openlit._instrumentors").MODULE_NAME_MAP) - {"openai"}
    with NamedTemporaryFile("w", suffix=".json") as prices:
        prices.write('{"chat": {"gpt-4o-mini": {"promptPrice": 0.1, "completionPrice": 0.4}}}')
        prices.flush()
        openlit.init(
            disable_metrics=True,
            disable_events=True,
            pricing_json=prices.name,
            disabled_instrumentors=sorted(others),
        )


def use_langfuse(provider: Any) -> None:
    """Langfuse's drop-in, its client on our provider and its exporter one that takes all."""
    export: Any = import_module("opentelemetry.sdk.trace.export")

    class Nowhere(export.SpanExporter):  # type: ignore[misc]  # a class made at run time
        def export(self, spans: Any) -> Any:
            return export.SpanExportResult.SUCCESS

    import_module("langfuse").Langfuse(
        public_key="pk",
        secret_key="sk",
        base_url="http://127.0.0.1:9",
        tracer_provider=provider,
        span_exporter=Nowhere(),
    )
    import_module("langfuse.openai")


def instrumentor(module: str, provider: Any) -> None:
    """Switch an OpenTelemetry instrumentor on."""
    import_module(module).OpenAIInstrumentor().instrument(
        tracer_provider=provider, skip_dep_check=True
    )


PACKAGES: dict[str, tuple[str, Callable[[Any], None]]] = {
    FLOOR: ("opentelemetry-sdk", use_turnspan),  # whose attributes it carries; never switched on
    OURS: ("turnspan", use_turnspan),
    "official": ("opentelemetry-instrumentation-genai-openai", use_official),
    "openinference": ("openinference-instrumentation-openai", use_openinference),
    "openllmetry": ("opentelemetry-instrumentation-openai", use_openllmetry),
    "openlit": ("openlit", use_openlit),
    "langfuse": ("langfuse", use_langfuse),
}


# -- the SDK ------------------


def http_client() -> Any:
    """An HTTP client that answers every request at once."""
    httpx2 = import_module("httpx2")
    body = json.dumps(ANSWER).encode()
    events = [b"data: " + c.model_dump_json(exclude_unset=True).encode() for c in chunks(50)]
    streamed = b"\n\n".join([*events, b"data: [DONE]", b""])

    def handle(request: Any) -> Any:
        if b'"stream":true' in request.content[-200:].replace(b" ", b""):
            return httpx2.Response(
                200, content=streamed, headers={"content-type": "text/event-stream"}
            )
        return httpx2.Response(200, content=body, headers={"content-type": "application/json"})

    return httpx2.Client(transport=httpx2.MockTransport(handle))


def stub_sdk(request: Callable[..., Any], client: str = "SyncAPIClient") -> Any:
    """Replace what comes below ``create`` by a function that answers; returns the client's class.

    So too what ``create`` makes of the request's types, which is milliseconds of the SDK's own.
    """
    given: Any = import_module("openai._utils").is_given

    def transform(data: dict[str, Any], _: Any) -> dict[str, Any]:
        return {key: value for key, value in data.items() if given(value)}

    async def async_transform(data: dict[str, Any], _: Any) -> dict[str, Any]:
        return transform(data, _)

    chat: Any = import_module("openai.resources.chat.completions.completions")
    chat.maybe_transform, chat.async_maybe_transform = transform, async_transform
    kind: Any = getattr(import_module("openai._base_client"), client)
    kind.request = request
    return kind


def made_stream(parts: list[Any], response: Any) -> Any:
    """A stream of the SDK's that has these chunks to give."""
    kind: Any = import_module("openai").Stream
    stream: Any = object.__new__(kind)
    stream.response, stream._iterator = response, iter(parts)
    return stream


def stub_requests() -> None:
    """Answer every request with a result made beforehand."""
    import httpx2
    from openai.types.chat import ChatCompletion

    parts = chunks(50)
    answer = ChatCompletion.model_validate(ANSWER)
    response = httpx2.Response(200, content=json.dumps(ANSWER).encode())

    def request(client: Any, cast_to: Any, options: Any, **kwargs: Any) -> Any:
        return client._process_response(response=response, stream=kwargs.get("stream"))

    def process(client: Any, response: Any, stream: bool) -> Any:
        return made_stream(parts, response) if stream else answer

    stub_sdk(request)._process_response = process


# -- with and without ------------------

_ABSENT = object()


class Patches:
    """What a package changed in the classes of the SDK, to take it away and to put it back."""

    def __init__(self, install: Callable[[], None]) -> None:
        before = {kind: dict(vars(kind)) for kind in _classes()}
        install()
        self._changes: list[tuple[type, str, Any, Any]] = []
        for kind, old in before.items():
            new = dict(vars(kind))
            for name in old.keys() | new.keys():
                was, now = old.get(name, _ABSENT), new.get(name, _ABSENT)
                if was is not now and (isinstance(was, FunctionType) or was is _ABSENT):
                    self._changes.append((kind, name, was, now))

    def switch(self, on: bool) -> None:
        """Put them in force, or not."""
        for kind, name, was, now in self._changes:
            value = now if on else was
            if value is not _ABSENT:
                setattr(kind, name, value)
            elif name in vars(kind):
                delattr(kind, name)


def _classes() -> set[type]:
    return {
        kind
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == "openai"
        for kind in list(vars(module).values())
        if isinstance(kind, type) and kind.__module__.partition(".")[0] == "openai"
    }


class Recorder:
    """One package, its sink, and the calls it records."""

    def __init__(self, name: str, whole_sdk: bool) -> None:
        import openai
        from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

        sink: Sink = deque(maxlen=10_000)

        class Keep(SpanProcessor):
            def on_end(self, span: Any) -> None:
                sink.append(span)

        self.name = name
        self.sink = sink
        provider = TracerProvider()
        provider.add_span_processor(Keep())
        self._tracer = provider.get_tracer("bare")
        self._attributes: dict[str, Any] = {}
        if not whole_sdk:
            stub_requests()
        client = openai.OpenAI(
            api_key="k",
            base_url="https://api.openai.com/v1",
            http_client=http_client() if whole_sdk else None,
        )
        self._create: Any = client.chat.completions
        self._arguments = arguments("small")
        self.plain()  # everything is imported
        self._patches = Patches(lambda: PACKAGES[name][1](provider))
        self._patches.switch(False)
        self._case = "small"
        self._record = self.bare if name == FLOOR else self.plain

    @property
    def version(self) -> str:
        """The package's version."""
        return metadata.version(PACKAGES[self.name][0])

    # -- a call

    def plain(self) -> None:
        """A call, as the application makes it."""
        answer = self._create.create(**self._arguments)
        if "stream" in self._arguments:
            for _ in answer:
                pass

    def bare(self) -> None:
        """A call and a span of its own, its attributes given at the start."""
        from opentelemetry.trace import SpanKind

        span = self._tracer.start_span(
            "chat gpt-4o-mini", kind=SpanKind.CLIENT, attributes=self._attributes
        )
        self.plain()
        span.end()

    # -- what competitors.py asks

    def prepare(self, case: str) -> dict[str, Any]:
        """Turn to a case; says which share of its content one call leaves recorded."""
        self._case = case
        self._arguments = arguments(case)
        self._patches.switch(True)
        self.plain()
        self._patches.switch(False)
        if len(self.sink) != 1:
            raise RuntimeError(f"{self.name}: {len(self.sink)} spans of one call")
        self._attributes = dict(self.sink[0].attributes or {})
        found = self._recorded()
        wanted = texts(case)
        missing = [text for text in wanted if text not in found]
        if self.name == OURS and missing:
            raise RuntimeError(f"not recorded: {missing}")
        self.round()
        return {"kept": 1 - len(missing) / len(wanted)}

    def round(self) -> dict[str, float]:
        """CPU microseconds of a call without and with the package."""
        before = self._measure(self.plain, False)
        recorded = self._measure(self._record, self.name != FLOOR)
        after = self._measure(self.plain, False)
        return {"plain": (before + after) / 2, "recorded": recorded}

    def _measure(self, call: Callable[[], None], on: bool) -> float:
        self._patches.switch(on)
        count = CALLS_A_ROUND[self._case]
        call()
        gc.collect()
        gc.disable()
        try:
            began = time.thread_time_ns()
            for _ in range(count):
                call()
            return (time.thread_time_ns() - began) / count / 1_000
        finally:
            gc.enable()
            self._recorded()

    def _recorded(self) -> str:
        """Take all that was recorded, as an exporter would, as one text."""
        from turnspan.tracing.content_store import InferenceContent
        from turnspan.tracing.state import default

        found: list[str] = []
        while self.sink:
            span = self.sink.popleft()
            content = default.content.take(span.context.trace_id, span.context.span_id)
            if isinstance(content, InferenceContent):
                found += [repr(content.request), repr(content.response)]
            told: list[Any] = [span.attributes, *(event.attributes for event in span.events)]
            found += [str(value) for each in told for value in dict(each or {}).values()]
        return "\n".join(found)


def main() -> None:
    """Answer until there is nothing more to answer."""
    if len(sys.argv) < 2:
        print("Nothing to measure by itself: competitors.py starts this.")
        return
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the packages print is no answer
    recorder = Recorder(sys.argv[1], "--whole-sdk" in sys.argv)
    for line in sys.stdin:
        question = json.loads(line)
        what = question["do"]
        if what == "version":
            answer: dict[str, Any] = {"version": recorder.version}
        elif what == "prepare":
            answer = recorder.prepare(question["case"])
        else:
            answer = recorder.round()
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
