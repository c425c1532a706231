"""The ways to the first record of an empty store: who takes OTLP for it, and the demonstration."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from turnspan_clickhouse.errors import MayNotInsertError
from turnspan_clickhouse.receive.receiver_stats import read_receiver_stats
from turnspan_clickhouse.rows.tables import LlmCall
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.read_only import Cancellation
from turnspan_console.web.endpoints import BadRequestError, NoQuery, endpoint
from turnspan_records.access.row_writer import judging_spool
from turnspan_records.screens.inventory import projects

_DEMO_SECONDS: Final = 120
_ASK_SECONDS: Final = 2.0
_DIRECT: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_INSTALL: Final = "pip install 'turnspan[demo]'"


@dataclass(frozen=True, slots=True)
class OtlpAddress:
    """Who takes OTLP for this store on this machine, and what an empty request was answered."""

    endpoint: str
    """For ``OTEL_EXPORTER_OTLP_ENDPOINT``."""
    problem: str
    """Why spans that are sent there do not arrive; empty where they do."""


@dataclass(frozen=True, slots=True)
class FirstRecords:
    """What the page says of an empty store."""

    store: str
    """Its DSN, without a password."""
    otlp: list[OtlpAddress]
    demo_problem: str
    """Why the demonstration cannot be played, with what to do; empty where it can."""


@dataclass(frozen=True, slots=True)
class DemoPlayed:
    """The project that the demonstration's records are in."""

    project: str


@endpoint("GET", "/api/first-records", "The ways to the first record.", storeless=True)
def _ways(dsn: Dsn, _query: NoQuery) -> FirstRecords:
    receivers = [one for one in read_receiver_stats(dsn.spool) if one.alive]
    return FirstRecords(
        str(dsn), [_tried(one.address.partition(",")[0]) for one in receivers], _demo_problem()
    )


@endpoint(
    "POST",
    "/api/first-records/demo",
    "Play the demonstration into an empty store.",
    apart=True,
    creates=True,
)
def _demo(store: Store, _query: NoQuery, _cancellation: Cancellation) -> DemoPlayed:
    if projects(store) or Spool(store.dsn.spool).segments():
        raise BadRequestError(
            f"{store.dsn} has records already, so the demo is not played into it. `turnspan demo` "
            "plays it into a store of its own."
        )
    problem = _demo_problem()
    if problem:
        raise BadRequestError(problem)
    try:
        judging_spool(store, LlmCall)
    except MayNotInsertError:
        raise MayNotInsertError(
            f"User {store.dsn.user!r} may read the records of {store.dsn} and not write them: "
            "start `turnspan console` as a user who may. `turnspan demo` plays the demo into a "
            "store of its own."
        ) from None
    _play(store.dsn)
    return DemoPlayed("demo")


def _demo_problem() -> str:
    if all(find_spec(name) for name in ("openai", "anthropic", "turnspan_demo")):
        return ""
    return f"The demo needs the SDKs that its agents use. Install them: {_INSTALL}"


def _play(dsn: Dsn) -> None:
    """Record the demonstration in a process of its own: instrumented SDKs are none of the server's.

    Raises:
        BadRequestError: it did not end well; the text is its own.
    """
    environ = {**os.environ, "TURNSPAN_STORE": str(dsn), "TURNSPAN_STORE_PASSWORD": dsn.password}
    command = [sys.executable, "-m", "turnspan_console", "demo", "--quiet"]
    try:
        ended = subprocess.run(
            command,
            env=environ,
            cwd=Path(sys.prefix),  # no module of the current folder is run in its place
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=_DEMO_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BadRequestError(
            f"The demo took longer than {_DEMO_SECONDS} s and was ended. What it recorded stays; "
            "`turnspan demo` plays it whole, into a store of its own."
        ) from None
    if ended.returncode:
        said = ended.stderr.strip().removeprefix("turnspan: ") or f"exit code {ended.returncode}"
        raise BadRequestError(f"The demo failed: {said[-500:]}")


def _tried(address: str) -> OtlpAddress:
    """Send a request without spans: it is taken as any other, and leaves no record."""
    host, _, port = address.rpartition(":")
    loopback = {"0.0.0.0": "127.0.0.1", "::": "[::1]", "[::]": "[::1]"}.get(host, host)
    url = f"http://{loopback}:{port}"
    request = urllib.request.Request(f"{url}/v1/traces", b"", method="POST")
    request.add_header("content-type", "application/x-protobuf")
    problem = ""
    try:
        _DIRECT.open(request, timeout=_ASK_SECONDS).close()
    except urllib.error.HTTPError as error:
        problem = f"it answers {error.code} {error.reason}"
        if error.code == 401:
            problem = "it asks for its token: set OTEL_EXPORTER_OTLP_HEADERS"
    except OSError as error:
        problem = f"it does not answer ({getattr(error, 'reason', error)})"
    return OtlpAddress(url, problem)
