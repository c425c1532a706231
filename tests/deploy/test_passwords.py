"""Passwords of any characters, in each of the places that they go through."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from support.clickhouse_server import start_server
from support.deployment import DEPLOY, JOBS, Deployment
from turnspan_clickhouse.store.dsn import parse
from turnspan_clickhouse.store.opening import open_store

ODD = (
    "a&b<c>d;&amp;&#65;",
    "]]><!-- 'single' \"double\" `tick` -->",
    "50%41%zz %(x)s {y} {{z}} ${HOME} $(id) $1",
    "#no @host:80/db?x=1#y [::1] \\n \\",
    "pä€ß 漢字 \U0001f511 ℀\uff03 e\u0301",
)
PASSWORDS = dict(zip(JOBS, ODD, strict=True))
START = DEPLOY / "clickhouse" / "start"


def variable(job: str) -> str:
    return f"TURNSPAN_{job.upper()}_PASSWORD"


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """The server of deploy/, started as the containers start it, with these passwords."""
    home = tmp_path_factory.mktemp("odd")
    for folder in ("config.d", "users.d"):
        shutil.copytree(DEPLOY / "clickhouse" / folder, home / folder)
    given = {variable(job): password for job, password in PASSWORDS.items()}
    command = ["bash", str(START), "env", "-0"]
    told = subprocess.run(command, env={**os.environ, **given}, capture_output=True, check=True)
    lines = [line.partition("=") for line in told.stdout.decode().split("\0")]
    seen = {name: value for name, _, value in lines}
    with pytest.MonkeyPatch.context() as environment:
        for name in given:
            environment.setenv(name, seen[name])
        server = start_server(home)
    yield Deployment(server)
    server.kill()


@pytest.mark.parametrize("job", JOBS)
def test_each_client_is_let_in(
    odd: Deployment, job: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the variable and the file as they are, in the address in percent, in a header as Jaeger
    and Grafana send it; and none of it is told."""
    password, place = PASSWORDS[job], f"127.0.0.1:{odd.server.http_port}/system"
    monkeypatch.setenv("TURNSPAN_STORE_PASSWORD", password)
    plain = parse(f"http://turnspan_{job}@{place}")
    monkeypatch.delenv("TURNSPAN_STORE_PASSWORD")
    (tmp_path / "file").write_text(password + "\n", encoding="utf-8")
    monkeypatch.setenv("TURNSPAN_STORE_PASSWORD_FILE", str(tmp_path / "file"))
    for dsn in (
        plain,
        parse(f"http://turnspan_{job}@{place}"),
        parse(f"http://turnspan_{job}:{quote(password, safe='')}@{place}"),
    ):
        with open_store(dsn) as store:
            assert store.query("SELECT 1").rows == [(1,)]
        assert password not in str(dsn) + repr(dsn)
    header = password.encode().decode("latin-1")
    assert odd.ask(f"turnspan_{job}", "SELECT 1", password=header).text == "1\n"


@pytest.mark.parametrize("password", ODD)
def test_users_sql_takes_it(odd: Deployment, password: str) -> None:
    """As a parameter, whose backslashes are doubled."""
    given = {"param_p": password.replace("\\", "\\\\")}
    answer = odd.ask("default", "SELECT {p:String} FORMAT RawBLOB", password="", settings=given)
    assert answer.text == password


def test_a_secret_of_kubernetes_has_it_as_it_is(tmp_path: Path) -> None:
    """Of the characters that .env.example allows; Compose reads the same file."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("no kubectl here")
    password = "a&b<c>%41#@[x]=!;äℵ€"
    copy = tmp_path / "deploy"
    shutil.copytree(DEPLOY, copy, ignore=shutil.ignore_patterns(".env"))
    example = (copy / ".env.example").read_text(encoding="utf-8")
    (copy / ".env").write_text(example.replace("PASSWORD=", f"PASSWORD={password}"), "utf-8")
    built = subprocess.run([kubectl, "kustomize", str(copy)], check=True, capture_output=True)
    (secret,) = [one for one in yaml.safe_load_all(built.stdout) if one["kind"] == "Secret"]
    assert {base64.b64decode(one).decode() for one in secret["data"].values()} == {password}
