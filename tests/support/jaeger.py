"""A real Jaeger on loopback, under the configuration that deploy/ ships.

The binary is named by JAEGER_BINARY, or is the one ``make jaeger`` builds, or is on PATH.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.seen import SeenSpan, SeenTrace, from_hex, spans_of

_ROOT = Path(__file__).resolve().parents[2]
CONFIGS = _ROOT / "deploy" / "jaeger"
_PORTS = ("OTLP_HTTP", "OTLP_GRPC", "QUERY_HTTP", "QUERY_GRPC", "HEALTH")
_STARTING = 20.0


def binary() -> Path | None:
    """Jaeger's binary on this machine, if there is one."""
    named = os.environ.get("JAEGER_BINARY")
    if named:
        return Path(named)
    built = _ROOT / ".tools" / "bin" / "jaeger"
    if built.exists():
        return built
    found = shutil.which("jaeger")
    return Path(found) if found else None


@dataclass(frozen=True)
class Jaeger:
    """A running Jaeger: its OTLP endpoints and the base of its query API."""

    endpoint: str
    grpc_endpoint: str
    query: str

    def trace(self, trace_id: str, spans: int, timeout: float = 10.0) -> SeenTrace:
        """As OtlpReceiver.trace; read through ``/api/v3/traces/{id}``."""
        give_up = time.monotonic() + timeout
        while True:
            found = tuple(self._find(trace_id))
            if len(found) >= spans or time.monotonic() > give_up:
                return SeenTrace(found)
            time.sleep(0.05)

    def ask(self, path: str) -> Any:
        """What the query API answers."""
        with urllib.request.urlopen(f"{self.query}{path}", timeout=10) as reply:
            return json.load(reply)

    def _find(self, trace_id: str) -> list[SeenSpan]:
        try:
            answer = self.ask(f"/api/v3/traces/{trace_id}")
        except urllib.error.HTTPError as error:
            with error:
                if error.code != 404:
                    raise
            return []
        return list(spans_of(answer["result"], from_hex))


def version() -> tuple[int, ...]:
    """The binary's version, (2, 20, 0); empty where there is no binary."""
    program = binary()
    if program is None:
        return ()
    said = subprocess.run([str(program), "version"], check=True, capture_output=True, text=True)
    found = re.search(r'"v(\d+)\.(\d+)\.(\d+)"', said.stdout)
    return tuple(map(int, found.groups())) if found else ()


def start(
    log: Path,
    config: Path = CONFIGS / "config.yaml",
    *options: str,
    **settings: str,
) -> tuple[subprocess.Popen[bytes], Jaeger]:
    """Start Jaeger on free ports and wait until it is ready; ``log`` takes what it says.

    ``settings`` are environment variables for the configuration.

    Raises:
        RuntimeError: it did not become ready; the message ends with its log.
    """
    program = binary()
    assert program is not None
    for _ in range(3):  # a port may be taken between finding it free and Jaeger's start
        ports = dict(zip(_PORTS, _free_ports(len(_PORTS)), strict=True))
        variables = {f"JAEGER_{name}_PORT": str(port) for name, port in ports.items()}
        environment = {**os.environ, "JAEGER_LISTEN_HOST": "127.0.0.1", **settings, **variables}
        with log.open("wb") as output:
            process = subprocess.Popen(
                [str(program), f"--config=file:{config}", *options],
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        if _ready(process, ports["HEALTH"]):
            return process, Jaeger(
                endpoint=f"http://127.0.0.1:{ports['OTLP_HTTP']}",
                grpc_endpoint=f"http://127.0.0.1:{ports['OTLP_GRPC']}",
                query=f"http://127.0.0.1:{ports['QUERY_HTTP']}",
            )
        process.kill()
        process.wait()
    raise RuntimeError(f"{program} did not start: {log.read_text()[-2000:]}")


def _free_ports(count: int) -> list[int]:
    with ExitStack() as open_sockets:
        probes = [open_sockets.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


def _ready(process: subprocess.Popen[bytes], port: int) -> bool:
    give_up = time.monotonic() + _STARTING
    while process.poll() is None and time.monotonic() < give_up:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=1):
                return True
        except OSError:
            time.sleep(0.05)
    return False
