"""One long session in the page of `turnspan console` and in that of Phoenix.

    python benchmarks/beside_phoenix.py --phoenix DIR [--runs 3]

``DIR`` is an environment with ``arize-phoenix`` (``python -m venv DIR; DIR/bin/pip install
arize-phoenix``), which is started as its users do. Both get the same spans over OTLP: a session of
500 model calls in 25 turns by OpenInference's conventions, each call with the history that its
window keeps, a tool after each, one of which fails. Then a Chromium that has nothing cached opens
the session. Medians of ``--runs``, wall clock: on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, StatusCode, set_span_in_context
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from console_page import noted, noting

from support.clickhouse_server import free_ports
from support.pages import served

SESSION = "long-watch"
TURNS, CALLS, WINDOW = 25, 20, 60
FAILING = 13
"""The turn whose tool fails."""
ERROR = "Unknown expression identifier 'amount'. Maybe you meant: 'total'"
_WORDS = (Path(__file__).resolve().parent.parent / "README.md").read_text("utf-8").split()
_WAIT = 120_000
_SHOWN = "(text) => document.body.textContent.includes(text)"
_TO_THE_PROBLEM = """
(error) => new Promise((done) => {
  const key = new KeyboardEvent("keydown", { key: "n", bubbles: true });
  document.activeElement.dispatchEvent(key);
  const look = () => {
    const chosen = document.querySelector("[aria-current=true]");
    chosen?.textContent.includes(error) ? done() : requestAnimationFrame(look);
  };
  look();
})
"""


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--phoenix", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = {
            "Turnspan": of_turnspan(Path(folder), given.runs),
            "Phoenix": of_phoenix(given.phoenix, Path(folder), given.runs),
        }
    names = list(found["Turnspan"])
    print(f"{'':<52}" + "".join(f"{product:>14}" for product in found))
    for name in names:
        print(f"{name:<52}" + "".join(f"{one[name]:>14,.2f}" for one in found.values()))


def spans(endpoint: str) -> None:
    """Send the session to an address that takes OTLP over HTTP."""
    provider = TracerProvider(
        resource=Resource.create({"service.name": "watch", "openinference.project.name": "watch"}),
        span_limits=SpanLimits(max_span_attributes=SpanLimits.UNSET),
    )
    exporter = OTLPSpanExporter(endpoint=endpoint, timeout=60)
    provider.add_span_processor(
        BatchSpanProcessor(exporter, max_queue_size=5_000, max_export_batch_size=16)
    )
    tracer = provider.get_tracer("openinference.instrumentation.watch")
    chosen = random.Random(1)
    talk: list[dict[str, str]] = []
    for turn in range(1, TURNS + 1):
        question = f"Question {turn}: " + _text(chosen, 20)
        talk.append({"message.role": "user", "message.content": question})
        agent = tracer.start_span("agent", attributes={
            "openinference.span.kind": "AGENT", "session.id": SESSION, "input.value": question,
        })  # fmt: skip
        inside = set_span_in_context(agent)
        for step in range(CALLS):
            asked, given = talk[-WINDOW:], f"c{turn}-{step}"
            last = step == CALLS - 1
            reply = {"message.role": "assistant", "message.content": _text(chosen, 25)}
            if not last:
                call, sql = "message.tool_calls.0.tool_call", json.dumps({"sql": f"SELECT {step}"})
                reply |= {f"{call}.id": given, f"{call}.function.name": "run_query",
                          f"{call}.function.arguments": sql}  # fmt: skip
            with tracer.start_as_current_span("chat", inside, attributes={
                "openinference.span.kind": "LLM", "session.id": SESSION,
                "llm.model_name": "gpt-4o", "llm.provider": "openai",
                "llm.token_count.prompt": 1_000, "llm.token_count.completion": 30,
                **_numbered("llm.input_messages", asked),
                **_numbered("llm.output_messages", [reply]),
            }):  # fmt: skip
                pass
            talk.append(reply)
            if not last:
                failed = turn == FAILING and step == CALLS // 2
                result = ERROR if failed else _text(chosen, 1_500)
                with tracer.start_as_current_span("run_query", inside, attributes={
                    "openinference.span.kind": "TOOL", "session.id": SESSION,
                    "tool.name": "run_query", "input.value": json.dumps({"sql": f"SELECT {step}"}),
                    "output.value": result, "tool_call.id": given,
                }) as tool:  # fmt: skip
                    if failed:
                        _fail(tool)
                talk.append({"message.role": "tool", "message.content": result,
                             "message.tool_call_id": given})  # fmt: skip
        agent.set_attribute("output.value", talk[-1]["message.content"])
        agent.end()
    provider.force_flush()  # all of it: the end of a provider waits for 30 s only
    provider.shutdown()


def _fail(tool: Span) -> None:
    tool.record_exception(ValueError(ERROR))
    tool.set_status(StatusCode.ERROR, ERROR)


def _numbered(name: str, messages: list[dict[str, str]]) -> dict[str, str]:
    return {
        f"{name}.{at}.{key}": value
        for at, message in enumerate(messages)
        for key, value in message.items()
    }


def _text(chosen: random.Random, words: int) -> str:
    return " ".join(chosen.choices(_WORDS, k=words))


def of_turnspan(home: Path, runs: int) -> dict[str, float]:
    """What `turnspan console` takes."""
    (port,) = free_ports(1)
    begun = time.perf_counter()
    with served(f"chdb://{home / 'store'}", home, "--receive-port", str(port)) as page:
        page.ask("/api/store")
        found = {"start until it answers, s": time.perf_counter() - begun}
        address = f"{page.address}s/watch/{SESSION}#t={page.token}"
        question = f"/api/outline?project=watch&session={SESSION}"

        def landed() -> bool:
            told = page.ask(question).json().get("outline", {})
            ends = [one["status"] for one in told.get("turns", ())]
            return len(told.get("calls", ())) == TURNS * CALLS and len(ends) == TURNS

        found["spans sent until all are shown, s"] = _sent(
            f"http://127.0.0.1:{port}/v1/traces", landed
        )

        def failing(shown: Any) -> None:
            shown.evaluate(_TO_THE_PROBLEM, ERROR)

        found |= _looked(runs, address, failing)
        return found | {"memory of the server, MB": _resident(page.process.pid)}


def of_phoenix(environment: Path, home: Path, runs: int) -> dict[str, float]:
    """What Phoenix takes."""
    begun = time.perf_counter()
    with _phoenix(environment, home) as (address, process):
        _until(lambda: _answers(address))
        found = {"start until it answers, s": time.perf_counter() - begun}

        def landed() -> bool:
            url = f"{address}/v1/projects/watch/spans?limit=1000"
            with contextlib.suppress(OSError), urllib.request.urlopen(url, timeout=60) as reply:
                first = json.load(reply)
                return len(first["data"]) >= 2 * TURNS * CALLS - 25
            return False

        found["spans sent until all are shown, s"] = _sent(f"{address}/v1/traces", landed)
        session = _session_page(address)

        def failing(shown: Any) -> None:
            # Its session page shows what turns were given and gave; tools are among the spans.
            shown.goto(f"{session.partition('/sessions')[0]}/spans", wait_until="commit")
            shown.locator(".cm-content").first.click(timeout=_WAIT)
            shown.keyboard.press("Control+a")
            shown.keyboard.type("status_code == 'ERROR'")
            shown.keyboard.press("Escape")
            shown.keyboard.press("Enter")
            shown.get_by_role("link", name="run_query").first.click(timeout=_WAIT)
            shown.wait_for_function(_SHOWN, arg=ERROR, polling="raf", timeout=_WAIT)

        found |= _looked(runs, session, failing)
        return found | {"memory of the server, MB": _resident(process)}


@contextlib.contextmanager
def _phoenix(environment: Path, home: Path) -> Generator[tuple[str, int]]:
    port, grpc = free_ports(2)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    process = subprocess.Popen(
        [str(environment / "bin" / "phoenix"), "serve"],
        env={**kept, "PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(grpc),
             "PHOENIX_WORKING_DIR": str(home / "phoenix"), "PHOENIX_HOST": "127.0.0.1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _session_page(address: str) -> str:
    """The address of the session's page: what a click on it in the list opens."""
    with urllib.request.urlopen(f"{address}/v1/sessions/{SESSION}", timeout=60) as reply:
        told = json.load(reply)["data"]
    return f"{address}/projects/{told['project_id']}/sessions/{told['id']}"


def _answers(address: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
        return True
    return False


def _sent(endpoint: str, landed: Callable[[], bool]) -> float:
    begun = time.perf_counter()
    spans(endpoint)
    _until(landed)
    return time.perf_counter() - begun


def _until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 600
    while not happened():
        if time.monotonic() > end:
            raise SystemExit("It did not happen within ten minutes.")
        time.sleep(0.1)


def _looked(runs: int, address: str, failing: Callable[[Any], None]) -> dict[str, float]:
    """A fresh browser each time: until a text is there, then until the failing tool's error is."""
    found: dict[str, list[float]] = {}
    for shown, scripts in _fresh_pages(runs):
        shown.add_init_script(noting("Question 1:"))
        shown.goto(address, wait_until="commit")
        found.setdefault("fresh browser until the first message's text, s", []).append(
            noted(shown) / 1e3
        )
        kilobytes = sum(scripts) / 1e3
        found.setdefault("JavaScript until then, kB as sent", []).append(kilobytes)
        shown.wait_for_load_state("networkidle")
        begun = time.perf_counter()
        failing(shown)
        found.setdefault("from there to the failing tool's error, s", []).append(
            time.perf_counter() - begun
        )
        told = shown.context.new_cdp_session(shown).send("Runtime.getHeapUsage")
        found.setdefault("heap of the page, MB", []).append(told["usedSize"] / 1e6)
    return {name: median(values) for name, values in found.items()}


class _Scripts:
    """The bytes of each script that a page asked for, as they travelled."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self._asked: set[str] = set()

    def begun(self, event: dict[str, Any]) -> None:
        if event["type"] == "Script":
            self._asked.add(event["requestId"])

    def ended(self, event: dict[str, Any]) -> None:
        if event["requestId"] in self._asked:
            self.sizes.append(int(event["encodedDataLength"]))


def _fresh_pages(runs: int) -> Iterator[tuple[Any, list[int]]]:
    """A page of a browser that has nothing cached, and the sizes of the scripts that it got."""
    chromium = os.environ.get("TURNSPAN_TEST_CHROMIUM") or shutil.which("chromium")
    if not chromium:
        raise SystemExit("No Chromium here: name one in TURNSPAN_TEST_CHROMIUM.")
    with sync_playwright() as playwright:
        for _ in range(runs):
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            shown: Any = browser.new_page(viewport={"width": 1280, "height": 800})
            scripts = _Scripts()
            session = shown.context.new_cdp_session(shown)
            session.send("Network.enable")
            session.on("Network.responseReceived", scripts.begun)
            session.on("Network.loadingFinished", scripts.ended)
            yield shown, scripts.sizes
            browser.close()


def _resident(process: int) -> float:
    """Memory of a process in MB."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
