"""``turnspan console``: a page on this machine that shows the records."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.commands.receive import (
    HTTP_PORT,
    end_in_order,
    is_loopback,
    landing_beside,
    listening,
    receiving_beside,
)
from turnspan_console.failures import USAGE, Failure, failing
from turnspan_console.options import chosen_dsn, flag, several, store_option, valued
from turnspan_console.output import Output, log_to_people, note

if TYPE_CHECKING:
    from turnspan_clickhouse.store.dsn import Dsn

DEFAULT_PORT = 4319


@click.command("console", short_help="Show the records in a browser.")
@valued(
    "--port",
    DEFAULT_PORT,
    "The port to listen on; 0 takes a free port and prints it.",
    kind=click.IntRange(0, 65_535),
)
@valued(
    "--host",
    "127.0.0.1",
    "The address to listen on. An address that others reach needs --token-file and --allow-host.",
)
@several(
    "--allow-host", "NAME", "Also answer to this host name, as behind a proxy. Repeatable.", "names"
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Use the tokens in this file, one a line, instead of a generated token.",
)
@flag("--new-token", "Make a new token; open pages lose access.")
@valued(
    "--receive-port",
    HTTP_PORT,
    "The port for OTLP over HTTP; gRPC uses 4317, or a free port with 0.",
    kind=click.IntRange(0, 65_535),
)
@flag("--no-receive", "Do not receive OTLP.")
@flag("--no-open", "Print the address without opening a browser.")
@store_option
def command(
    port: int,
    host: str,
    names: tuple[str, ...],
    token_file: Path | None,
    new_token: bool,
    receive_port: int,
    no_receive: bool,
    no_open: bool,
) -> None:
    """Show the records in a browser, on this machine only, and receive OTLP from its agents.

    The printed address contains a token, which the records need. Nothing leaves the machine, and
    the page deletes no records.

    \b
      turnspan console
      turnspan console --port 0 --no-open
    """
    if not is_loopback(host) and not (token_file and names):
        raise Failure(
            f"{host} is reached by others: say --token-file FILE and --allow-host NAME with it, "
            "and put a proxy with TLS before it.",
            USAGE,
        )
    tokens = _tokens(token_file, new=new_token)
    dsn = chosen_dsn()
    beside = landing_beside(dsn) if no_receive else receiving_beside(dsn, receive_port)
    log_to_people()
    with beside:
        _serve(dsn, host, port, names, tokens, token_file, open_browser=not no_open)


def usual_or_free_port() -> int:
    """The page's port where nobody names one: 0, for a free port, where the usual one is taken."""
    try:
        listening("127.0.0.1", DEFAULT_PORT).close()
    except Failure:
        return 0
    return DEFAULT_PORT


def _tokens(file: Path | None, *, new: bool) -> tuple[str, ...]:
    from turnspan_clickhouse.store.dsn import data_folder
    from turnspan_console.web.access_token import TokenError, own_token, tokens_of

    with failing(TokenError, code=USAGE):
        return tokens_of(file) if file else (own_token(data_folder(), new=new),)


def _serve(
    dsn: Dsn,
    host: str,
    port: int,
    names: Sequence[str],
    tokens: Sequence[str],
    token_file: Path | None,
    *,
    open_browser: bool,
) -> None:
    import threading
    import webbrowser

    from turnspan_clickhouse.receive.connections import http_server
    from turnspan_clickhouse.store.dsn import data_folder
    from turnspan_console.web.access_token import FILE_NAME
    from turnspan_console.web.app import make_app
    from turnspan_console.web.connections import PageConnection
    from turnspan_console.web.reader import StoreReader

    remedy = "is a page open there already? --port 0 takes a free port."
    listener = listening(host, port, remedy)
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{port}/"
    app: Any = make_app(
        StoreReader(dsn),
        tokens=tokens,
        port=port,
        names=names,
        address=address,
        token_file=str(token_file or data_folder() / FILE_NAME),
    )
    # In the fragment: a browser sends it nowhere, and no log has it.
    entrance = f"{address}#t={tokens[0]}"
    Output().line(entrance)
    note(f"showing {dsn} at {address}; Ctrl+C ends it")
    if not is_loopback(host):
        note("this address speaks plain HTTP: put a proxy with TLS before it.")
    if open_browser:
        # Started aside: some browsers return only when they are closed.
        threading.Thread(target=webbrowser.open, args=(entrance,), daemon=True).start()
    end_in_order()
    # A long session is a million short-lived objects: looking for cycles among them each time that
    # 700 are new is a fifth of what it takes to show it.
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    with contextlib.suppress(KeyboardInterrupt):
        http_server(app, PageConnection, {"expected": {}}, ending=2).run(sockets=[listener])
