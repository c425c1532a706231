"""What recording adds to the CPU time of a process that makes one model call and ends.

    python benchmarks/start_up.py [--runs 21] [--case bare --case embedded] [--tree checkout]

Each run is a fresh interpreter with compiled bytecode: it imports the OpenAI SDK (or, in the second
table, nothing), runs one agent with one call, and leaves without a flush. The model is a server in
this process, whose time is not counted. ``server`` is a ClickHouse that does not answer: what can
be counted is what is written to the spool and the driver. Runs are interleaved; user and system
time of the process, all threads, medians. ``--tree`` adds the same cases with the sources of
another checkout, so that two states are compared within the same minutes.
"""

from __future__ import annotations

import argparse
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from turnspan.testing import ModelServer

CASES = ("bare", "otel", "embedded", "server")
PROGRAM = """
import sys
case, sdk, url = sys.argv[1:]
if case == "otel":
    import os
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(ConsoleSpanExporter(out=open(os.devnull, "w"))))
    trace.set_tracer_provider(provider)
    around = trace.get_tracer("start_up").start_as_current_span
elif case == "bare":
    import contextlib
    around = contextlib.nullcontext
else:
    import turnspan
    turnspan.configure(service_name="start_up")
    turnspan.instrument()
    around = turnspan.agent

def ask(question):
    if sdk == "none":
        return question
    import openai
    client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
    messages = [{"role": "user", "content": question}]
    asked = client.chat.completions.create(model="gpt-4o", messages=messages)
    return asked.choices[0].message.content

with around("answer"):
    if case == "otel":
        with around("chat gpt-4o"):
            ask("How are you?")
    else:
        ask("How are you?")
"""


def closed_port() -> int:
    """A port of loopback at which nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def milliseconds(case: str, sdk: str, url: str, tree: Path | None) -> float:
    """The CPU time of one run."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"chdb://{folder}/store"
        if case == "server":
            store = f"http://localhost:{closed_port()}/none"
        # Where no bytecode is written every import compiles, and that is what one would time.
        dropped = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
        environment = {k: v for k, v in os.environ.items() if k not in dropped}
        environment |= {"TURNSPAN_STORE": store, "TURNSPAN_SPOOL": f"{folder}/spool"}
        if tree is not None:
            roots = ("instrument", "exporter")
            environment["PYTHONPATH"] = os.pathsep.join(str(tree / root) for root in roots)
        command = [sys.executable, "-c", PROGRAM, case, sdk, url]
        with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
            said = process.stderr.read() if process.stderr is not None else b""
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(said.decode())
        return (used.ru_utime + used.ru_stime) * 1000


def measure(sdk: str, cases: list[str], trees: list[Path | None], runs: int, url: str) -> None:
    """One table: a line for each case, here and in every other tree."""
    lines = [
        (case, tree)
        for case in cases
        for tree in (trees if case in ("embedded", "server") else trees[:1])
    ]
    for case, tree in lines:
        milliseconds(case, sdk, url, tree)  # compiles
    rounds = [[milliseconds(case, sdk, url, tree) for case, tree in lines] for _ in range(runs)]
    print(f"with the OpenAI SDK, {runs} runs" if sdk == "openai" else f"no SDK, {runs} runs")
    for place, (case, tree) in enumerate(lines):
        times = [each[place] for each in rounds]
        beside = statistics.median(each[place] - each[0] for each in rounds)
        where = f" ({tree})" if tree is not None else ""
        print(
            f"  {case:<9} median {statistics.median(times):6.1f} ms   best {min(times):6.1f} ms"
            f"   more than {lines[0][0]} {beside:6.1f} ms{where}"
        )


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--sdk", action="append", choices=("openai", "none"))
    parser.add_argument("--tree", type=Path, action="append", default=[])
    given = parser.parse_args()
    trees = [None, *(tree.resolve() for tree in given.tree)]
    with ModelServer(default="Fine.") as model:
        for sdk in given.sdk or ("openai", "none"):
            measure(sdk, given.case or [*CASES], trees, given.runs, model.url)


if __name__ == "__main__":
    main()
