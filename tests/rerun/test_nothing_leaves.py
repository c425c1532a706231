"""No byte of a rerun leaves the machine, and what cannot be redirected is refused."""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import struct
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import grpc  # type: ignore[import-untyped]
import httpx
import pytest
import requests
import websockets.sync.client

import turnspan
from support.rerun_protocol import ProtocolServer, rerun_here
from turnspan.wire.rerunning import begin
from turnspan.wire.rerunning.environment import STARTUP
from turnspan.wire.rerunning.network import is_loopback
from turnspan.wire.rerunning.redirects import RerunRefusedError


def _own_address() -> str:
    """An address of this machine that is no loopback; empty where it has none."""
    found: list[str] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        for _, name in socket.if_nameindex():
            asked = struct.pack("256s", name.encode())
            with suppress(OSError):  # an interface without an address
                answer = fcntl.ioctl(asking.fileno(), 0x8915, asked)  # SIOCGIFADDR
                found.append(socket.inet_ntoa(answer[20:24]))
    return next((address for address in found if not is_loopback(address)), "")


@pytest.fixture
def elsewhere() -> Iterator[str]:
    """A host and port that is not loopback; nothing may connect there, which is seen where it is
    this machine's."""
    address = _own_address()
    if not address or is_loopback(address):
        yield "198.51.100.1:9"  # of a network for documentation
        return
    with socket.create_server((address, 0)) as server:
        server.setblocking(False)
        yield f"{address}:{server.getsockname()[1]}"
        with pytest.raises(BlockingIOError):
            server.accept()


def _by_aiohttp(url: str) -> None:
    async def get() -> None:
        async with aiohttp.ClientSession() as session:
            await session.get(url)

    asyncio.run(get())


def _by_httpx_async(url: str) -> None:
    async def get() -> None:
        async with httpx.AsyncClient() as client:
            await client.get(url)

    asyncio.run(get())


def _by_datagram(url: str) -> None:
    host, port = url.removeprefix("http://").split("/")[0].split(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", (host, int(port)))


def _by_grpc(url: str) -> None:
    grpc.insecure_channel(url.removeprefix("http://").split("/")[0])


WAYS: dict[str, Callable[[str], Any]] = {
    "requests": lambda url: requests.get(url, timeout=5),
    "httpx": httpx.get,
    "httpx, asynchronous": _by_httpx_async,
    "aiohttp": _by_aiohttp,
    "datagram": _by_datagram,
    "grpc": _by_grpc,
}


@pytest.mark.parametrize("way", WAYS)
def test_another_machine_is_refused_and_reported_once(
    rerun: ProtocolServer, elsewhere: str, way: str, caplog: pytest.LogCaptureFixture
) -> None:
    """By address and by name; the error says what lets it through. Loopback is free."""
    host = elsewhere
    for _ in range(2):
        with pytest.raises(Exception, match=r"refused|attempts failed"):  # httpx's has no more
            WAYS[way](f"http://{host}/x")
    assert [said.getMessage().count("--live-tools NAME") for said in caplog.records] == [1]
    assert rerun.notes == [{"kind": "network", "text": host}]
    if way in ("requests", "httpx"):
        with pytest.raises(Exception, match=r"service\.example"):
            WAYS[way]("https://service.example/x")
        assert WAYS[way](f"{rerun.models.url}/x").status_code == 404


def test_live_tools_reach_other_machines_and_models_do_not(
    protocol: ProtocolServer, elsewhere: str
) -> None:
    """What no server can answer is refused all the same: a WebSocket to a model, a model by
    gRPC."""
    with rerun_here(protocol.environment(network=True)):
        _by_grpc(f"http://{elsewhere}")
        with pytest.raises(RerunRefusedError, match="gRPC to generativelanguage"):
            grpc.secure_channel(
                "generativelanguage.googleapis.com:443", grpc.ssl_channel_credentials()
            )
        with socket.create_server(("127.0.0.1", 0)) as server:
            url = f"ws://127.0.0.1:{server.getsockname()[1]}/v1/realtime?model=m"
            with pytest.raises(RerunRefusedError, match="WebSocket"):
                websockets.sync.client.connect(url)

            async def connect() -> None:
                async with aiohttp.ClientSession() as session:
                    await session.ws_connect(url)

            with pytest.raises(RerunRefusedError, match="WebSocket"):
                asyncio.run(connect())
    assert {note["kind"] for note in protocol.notes} == {"unredirected"}


def test_records_reach_the_users_own_store(
    protocol: ProtocolServer,
    elsewhere: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its host and those of the OTLP endpoints are let through, and no other."""
    host, _, port = elsewhere.partition(":")
    monkeypatch.setenv("TURNSPAN_STORE", f"http://user:word@{host}:{port}/db")
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with rerun_here(protocol.environment()), sender:
        try:
            sender.sendto(b"x", (host, int(port)))
        except OSError as error:  # no way leads there from here
            assert not isinstance(error, RerunRefusedError)
        with pytest.raises(RerunRefusedError):
            sender.sendto(b"x", ("198.51.100.7", 9))


def _program(folder: Path, text: str) -> list[str]:
    file = folder / "program.py"
    file.write_text(textwrap.dedent(text))
    return [sys.executable, str(file)]


def test_a_program_and_what_it_starts_take_part(protocol: ProtocolServer, tmp_path: Path) -> None:
    """A program that knows nothing of Turnspan: the folder before PYTHONPATH begins the rerun, then
    runs the user's own sitecustomize. A child with variables of its own takes part as well; a shell
    is refused, an interpreter without the folder too."""
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.users_own = 1")
    program = _program(
        tmp_path,
        """
        import json, os, subprocess, sys, urllib.request
        assert sys.users_own == 1
        child = '''
        import urllib.request
        url, body = "https://api.openai.com/v1/responses", b'{"input": "%s"}'
        print(urllib.request.urlopen(urllib.request.Request(url, data=body)).status)
        '''
        exec(child.strip() % "parent")
        subprocess.run([sys.executable, "-c", child.strip() % "child"], check=True, env={})
        for command in (["sh", "-c", "echo no"], [sys.executable, "-I", "-c", "print('no')"]):
            try:
                subprocess.run(command)
            except OSError as error:
                print(type(error).__name__)
        try:
            os.system("echo no")
        except OSError as error:
            print(type(error).__name__)
        """,
    )
    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    environ |= protocol.environment().variables(environ)
    assert environ["PYTHONPATH"].split(os.pathsep) == [str(STARTUP), str(tmp_path)]
    done = subprocess.run(program, env=environ, capture_output=True, text=True, check=False)
    assert done.stderr.count("starts no program") == 2 == len(done.stderr.splitlines())
    assert done.stdout.split() == ["200", "200", *["RerunRefusedError"] * 3]
    assert [sent.body for sent in protocol.requests] == [
        b'{"input": "parent"}',
        b'{"input": "child"}',
    ]
    assert {note["kind"] for note in protocol.notes} == {"unredirected"}


def test_a_program_whose_rerun_cannot_begin_does_not_start(tmp_path: Path) -> None:
    """Without its server's address, or in an environment without Turnspan, it would ask for
    real."""
    environ = {**os.environ, "PYTHONPATH": str(STARTUP), "TURNSPAN_RERUN": "http://else.where/1"}
    for options in ([], ["-S"]):
        run = [sys.executable, *options, "-c", "import site; site.main(); print('ran')"]
        done = subprocess.run(run, env=environ, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and done.stdout == ""
        assert "cannot take part in the rerun" in done.stderr


def test_without_a_rerun_nothing_is_loaded() -> None:
    """The import looks for one variable in the environment."""
    code = "import sys, turnspan; print([m for m in sys.modules if 'turnspan.wire.rerunning' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    from turnspan.runtime import rerun_scope
    from turnspan.tracing import tool_answers

    assert (rerun_scope.scope, tool_answers.answers) == (None, None)


def test_one_rerun_at_a_time(rerun: ProtocolServer) -> None:
    """A second one in the process is an error; malformed variables are as well."""
    with pytest.raises(turnspan.TurnspanError, match="under way"):
        begin(rerun.environment())
    with pytest.raises(turnspan.TurnspanError, match="TURNSPAN_RERUN_ATTEMPT"):
        rerun.environment(attempt="no JSON")
