"""What ``turnspan receive`` takes: spans a second and CPU a span, in batches of 512.

    python benchmarks/receiving.py [batches]

The load is traces of an agent with four model calls (a history that grows, 1 KB a message), three
tools and eight plain spans. Four clients send it; the receiver is a process of its own over an
embedded store's spool, and its CPU time is what the kernel says. Beside it, in this process, what
decoding alone costs.
"""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from turnspan_clickhouse.receive.decoded import Decoded, InternCache
from turnspan_clickhouse.receive.otlp_json import decode_json
from turnspan_clickhouse.receive.otlp_protobuf import decode_protobuf

BATCH = 512
CLIENTS = 4
_TEXT = "The flight from Oslo to Bergen on Friday was changed, and the seat was kept. " * 13


def _id(text: str, size: int) -> str:
    return hashlib.blake2b(text.encode(), digest_size=size).hexdigest()


def _attributes(said: dict[str, Any]) -> list[dict[str, Any]]:
    kinds = {str: "stringValue", int: "intValue"}
    return [{"key": key, "value": {kinds[type(value)]: value}} for key, value in said.items()]


def _trace(number: int) -> list[dict[str, Any]]:
    """Sixteen spans as JSON has them, in the order of their end."""
    trace, start = _id(f"t{number}", 16), time.time_ns() - 3_600 * 10**9 + number * 1_000_000
    spans: list[dict[str, Any]] = []

    def add(name: str, parent: str, at: int, said: dict[str, Any]) -> None:
        spans.append(
            {
                "traceId": trace,
                "spanId": _id(f"{number}{name}", 8),
                "parentSpanId": parent and _id(f"{number}{parent}", 8),
                "name": name,
                "kind": 1,
                "startTimeUnixNano": str(start + at * 1_000),
                "endTimeUnixNano": str(start + at * 1_000 + 900),
                "attributes": _attributes(said),
                "status": {},
            }
        )

    history = [{"role": "user", "parts": [{"type": "text", "content": f"{number} {_TEXT}"}]}]
    for n in range(4):
        reply = {"role": "assistant", "parts": [{"type": "text", "content": f"{n} {_TEXT}"}]}
        said = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.usage.input_tokens": 1_000 + n,
            "gen_ai.usage.output_tokens": 100,
            "gen_ai.conversation.id": f"session-{number // 4}",
            "gen_ai.input.messages": json.dumps(history),
            "gen_ai.output.messages": json.dumps([reply]),
        }
        add(f"chat {n}", "agent", 10 * n, said)
        history.append(reply)
        for plain in range(2):
            said = {"http.request.method": "POST", "url.full": f"https://api/{number}/{plain}"}
            add(f"POST {n}.{plain}", "agent", 10 * n + 1 + plain, said)
        if n < 3:
            tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search"}
            add(f"tool {n}", "agent", 10 * n + 5, {**tool, "gen_ai.tool.call.arguments": "{}"})
    add("agent", "", 99, {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "planner"})
    return spans


def batches(count: int) -> list[dict[str, Any]]:
    """Requests of ``BATCH`` spans."""
    resource = {"attributes": _attributes({"service.name": "bench"})}
    made: list[dict[str, Any]] = []
    for number in range(count):
        first = number * (BATCH // 16)
        spans = [span for n in range(first, first + BATCH // 16) for span in _trace(n)]
        scope = {"scope": {"name": "bench"}, "spans": spans}
        made.append({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]})
    return made


def as_protobuf(request: dict[str, Any]) -> bytes:
    """The same request in protobuf."""
    message = ExportTraceServiceRequest()
    for of_resource in request["resourceSpans"]:
        to_resource = message.resource_spans.add()
        _put(to_resource.resource.attributes, of_resource["resource"]["attributes"])
        for of_scope in of_resource["scopeSpans"]:
            to_scope = to_resource.scope_spans.add()
            to_scope.scope.name = of_scope["scope"]["name"]
            for said in of_scope["spans"]:
                span = to_scope.spans.add()
                span.trace_id = bytes.fromhex(said["traceId"])
                span.span_id = bytes.fromhex(said["spanId"])
                span.parent_span_id = bytes.fromhex(said["parentSpanId"])
                span.name, span.kind = said["name"], said["kind"]
                span.start_time_unix_nano = int(said["startTimeUnixNano"])
                span.end_time_unix_nano = int(said["endTimeUnixNano"])
                _put(span.attributes, said["attributes"])
    return message.SerializeToString()


def _put(target: Any, said: list[dict[str, Any]]) -> None:
    for one in said:
        value = target.add(key=one["key"]).value
        if "intValue" in one["value"]:
            value.int_value = one["value"]["intValue"]
        else:
            value.string_value = one["value"]["stringValue"]


def by_protobuf(body: bytes, shared: InternCache) -> Decoded:
    """JSON read by protobuf's own parser, whose ids are in base64, where OTLP has them in hex."""
    said = json.loads(body)
    for of_resource in said["resourceSpans"]:
        for of_scope in of_resource["scopeSpans"]:
            for span in of_scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
    message = ExportTraceServiceRequest()
    json_format.ParseDict(said, message, ignore_unknown_fields=True)
    return decode_protobuf(message.SerializeToString(), shared)


def decoding(
    name: str, decode: Callable[[bytes, InternCache], Decoded], bodies: list[bytes]
) -> None:
    """Print what decoding costs."""
    shared = InternCache()
    before = time.process_time()
    count = sum(len(decode(body, shared).spans) for body in bodies)
    spent = time.process_time() - before
    print(f"{name:26} decoding alone {spent / count * 1e6:8.1f} us CPU a span")


def receiving(name: str, kind: str, bodies: list[bytes]) -> None:
    """Send all bodies to a fresh receiver and print what it took."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "turnspan_console", "--store", f"chdb://{folder}/store"]
        command += ["receive", "--port", "0"]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        found = re.search(r":(\d+),", process.stderr.readline())
        assert found is not None
        waiting = list(reversed(bodies))
        start, cpu = time.perf_counter(), _cpu(process.pid)
        threads = [
            threading.Thread(target=_send, args=(int(found[1]), kind, waiting))
            for _ in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took, spent = time.perf_counter() - start, _cpu(process.pid) - cpu
        peak = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
        assert peak is not None
        size = sum(path.stat().st_size for path in Path(folder).rglob("*.native"))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    spans = len(bodies) * BATCH
    print(
        f"{name:9} {spans / took:9,.0f} spans/s     {spent / spans * 1e6:8.1f} us CPU a span"
        f"     {sum(map(len, bodies)) / 1e6:6.1f} MB in, {size / 1e6:.1f} MB of segments,"
        f" {int(peak[1]) / 1024:.0f} MiB resident at most"
    )


def _send(port: int, kind: str, waiting: list[bytes]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    while True:
        try:
            body = waiting.pop()
        except IndexError:
            break
        connection.request("POST", "/v1/traces", body, {"content-type": kind})
        answer = connection.getresponse()
        assert answer.status == 200, answer.status
        answer.read()
    connection.close()


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(count: int = 60) -> None:
    """Print the table."""
    made = batches(count)
    texts = [json.dumps(one).encode() for one in made]
    binaries = [as_protobuf(one) for one in made]
    decoding("protobuf", decode_protobuf, binaries)
    decoding("JSON", decode_json, texts)
    decoding("JSON, by protobuf's parser", by_protobuf, texts)
    for _ in range(3):
        receiving("protobuf", "application/x-protobuf", binaries)
        receiving("JSON", "application/json", texts)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
