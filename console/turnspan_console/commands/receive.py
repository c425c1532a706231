"""``turnspan receive``: land the spans that agents in any language send over OTLP."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import UNAVAILABLE, USAGE, Failure
from turnspan_console.options import chosen_dsn, flag, several, store_option, text_option, valued
from turnspan_console.output import log_to_people, note

if TYPE_CHECKING:
    from turnspan_clickhouse.receive import ReceiveApp
    from turnspan_clickhouse.store.dsn import Dsn

HTTP_PORT, GRPC_PORT = 4318, 4317
_LOOPBACK = "127.0.0.1"
TOKEN_VARIABLE = "TURNSPAN_RECEIVE_TOKEN"
"""The bearer token that ``turnspan receive`` requires, unless ``--token-file`` names a file."""
_MEBI = 2**20


@click.command("receive", short_help="Receive spans over OTLP from agents in any language.")
@valued("--host", "127.0.0.1", "The address to listen on.")
@valued(
    "--port",
    HTTP_PORT,
    "The port for OTLP over HTTP; 0 takes a free port and prints it.",
    kind=click.IntRange(0, 65_535),
)
@click.option(
    "--grpc-port",
    type=click.IntRange(0, 65_535),
    show_default="4317; a free port with --port 0",
    help="The port for OTLP over gRPC; 0 takes a free port and prints it.",
)
@flag("--no-grpc", "Receive over HTTP only.")
@text_option("--project", "NAME", "The project of all records.")
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help=f"Require a bearer token from this file, one a line (or in {TOKEN_VARIABLE}).",
)
@valued(
    "--max-request-bytes",
    64 * _MEBI,
    "The largest request, compressed or decompressed.",
    kind=click.IntRange(min=1),
)
@several(
    "--allow-host",
    "NAME",
    "Also answer to this host name. Without it, a loopback address answers only to localhost. "
    "Repeatable.",
    "hosts",
)
@valued(
    "--max-connections",
    512,
    "The most connections at once; further ones get 503.",
    kind=click.IntRange(min=1),
)
@valued(
    "--head-timeout",
    10.0,
    "The longest time for the head of a request.",
    kind=click.FloatRange(min=0.1),
    metavar="SECONDS",
)
@valued(
    "--body-timeout",
    30.0,
    "The longest time for the body of a request.",
    "read_timeout",
    kind=click.FloatRange(min=0.1),
    metavar="SECONDS",
)
@valued(
    "--hold",
    600.0,
    "How long to keep a quiet trace for late spans.",
    "give_up_after",
    kind=click.FloatRange(min=1),
    metavar="SECONDS",
)
@click.option(
    "--transcripts/--no-transcripts",
    default=None,
    help="Whether telemetry of coding agents completes the records of their transcripts, instead "
    "of making its own.  [default: if this machine has followed transcripts for the store]",
)
@flag("--fsync", "Acknowledge only records that survive a power cut.")
@store_option
def command(
    host: str,
    port: int,
    grpc_port: int | None,
    no_grpc: bool,
    project: str,
    token_file: Path | None,
    hosts: tuple[str, ...],
    max_request_bytes: int,
    **limits: Any,
) -> None:
    """Receive spans over OTLP, by HTTP (protobuf or JSON) and gRPC, and land them as records.

    A request is acknowledged when its records are in the spool. On SIGTERM it answers the requests
    under way and ships the spool for some seconds.

    \b
      turnspan receive
      turnspan receive --host 0.0.0.0 --token-file tokens
    """
    from turnspan_clickhouse.receive import ReceiveApp, Receiver, ReceiveSettings

    dsn = chosen_dsn()
    tokens = _tokens(token_file)
    settings = ReceiveSettings(
        max_request_bytes=max_request_bytes,
        max_waiting_bytes=4 * max_request_bytes,
        **limits,
    )
    log_to_people()
    checked = [*hosts] if hosts or is_loopback(host) else None
    listener = listening(host, port)
    grpc_address = "" if no_grpc else grpc_address_of(host, grpc_port, port)
    app = ReceiveApp(
        Receiver(dsn, project=project, settings=settings),
        tokens=tokens,
        hosts=checked,
        grpc_address=grpc_address,
    )
    _serve(app, dsn, host, listener, open_to_all=not tokens)


def _tokens(file: Path | None) -> list[str]:
    if file is not None:
        tokens = [line.strip() for line in file.read_text().splitlines() if line.strip()]
        if not tokens:
            raise Failure(f"{file} holds no token.", USAGE)
        return tokens
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    return [token] if token else []


def listening(host: str, port: int, remedy: str = "") -> socket.socket:
    """A socket that listens there; a failure, with what may mend it, where it cannot."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        why = f" ({error.strerror}): {remedy}" if remedy else f": {error}"
        raise Failure(f"{host}:{port} cannot be listened on{why}", UNAVAILABLE) from None


def grpc_address_of(host: str, port: int | None, http_port: int) -> str:
    """Where to listen for gRPC: on a free port where none is said and HTTP has a free one too."""
    if port is None:
        port = GRPC_PORT if http_port else 0
    try:
        import grpc  # type: ignore[import-untyped]  # noqa: F401  # it has none
    except ImportError:
        raise Failure(
            "OTLP over gRPC needs grpcio: pip install grpcio, or give --no-grpc.", UNAVAILABLE
        ) from None
    # gRPC opens its port itself, and says little where it cannot.
    try:
        with listening(host, port) as probe:
            port = probe.getsockname()[1]
    except Failure as failure:
        raise Failure(
            f"{failure} (use --grpc-port for another port, or --no-grpc)", UNAVAILABLE
        ) from None
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@contextlib.contextmanager
def receiving_beside(dsn: Dsn, port: int) -> Generator[None]:
    """Take OTLP on this machine's loopback address while a block runs that serves something else.

    Where a port is taken, somebody else receives there: that is said, and the block runs all the
    same.
    """
    from turnspan_clickhouse.receive import ReceiveApp, Receiver
    from turnspan_clickhouse.receive.connections import receiving_server

    grpc_address = ""
    try:
        listener = listening(_LOOPBACK, port)
    except Failure as failure:
        note(
            f"OTLP is not received: {failure} (use --receive-port for another port, or "
            "--no-receive)"
        )
        with landing_beside(dsn):
            yield
        return
    try:
        grpc_address = grpc_address_of(_LOOPBACK, None, port)
    except Failure as failure:
        note(f"OTLP is taken over HTTP alone: {failure}")
    app = ReceiveApp(Receiver(dsn), tokens=_tokens(None), hosts=[], grpc_address=grpc_address)
    server = receiving_server(app, ending=2)
    thread = threading.Thread(
        target=server.run, kwargs={"sockets": [listener]}, name="turnspan-receive", daemon=True
    )
    thread.start()
    note(f"taking OTLP on {_named(app, listener)}")
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()


@contextlib.contextmanager
def landing_beside(dsn: Dsn) -> Generator[None]:
    """Land what waits in the spool while a block runs: no application may be left that does."""
    from turnspan_clickhouse.receive.embedded_landing import lander
    from turnspan_clickhouse.spool.spool import Spool

    landing = lander(dsn, Spool(dsn.spool))
    landing.start()
    landing.wake()
    try:
        yield
    finally:
        landing.stop(timeout=2.0)


def _named(app: ReceiveApp, listener: socket.socket) -> str:
    """Where it listens, for people; for ``turnspan status`` too."""
    address = "{}:{}".format(*listener.getsockname()[:2])
    app.receiver.address = address
    if not app.grpc_address:
        return f"http://{address}"
    app.receiver.address += f", gRPC {app.grpc_address}"
    return f"http://{address} and for gRPC on {app.grpc_address}"


def _serve(
    app: ReceiveApp, dsn: Dsn, host: str, listener: socket.socket, *, open_to_all: bool
) -> None:
    from turnspan_clickhouse.receive.connections import receiving_server

    note(f"listening on {_named(app, listener)}, landing in {dsn}")
    if open_to_all and not is_loopback(host):
        note(f"anyone who reaches {host} can write records: set --token-file or {TOKEN_VARIABLE}")
    end_in_order()
    receiving_server(app, ending=20).run(sockets=[listener])
    counts = app.receiver.counts
    note(
        f"stopped; {counts['spans']:,} spans taken, {counts['again']:,} sent again, "
        f"{counts['refused']:,} refused, {counts['lost']:,} lost"
    )


def end_in_order() -> None:
    """Have a SIGTERM end the command well: uvicorn raises it again when it has stopped."""
    signal.signal(signal.SIGTERM, lambda _signal, _frame: None)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
