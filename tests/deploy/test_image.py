"""deploy/receive/Dockerfile: its steps, run one by one in an empty folder where no Docker runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from receive.otlp import chat, request
from support.deployment import DEPLOY
from support.shared import REPOSITORY
from turnspan_console.commands.receive import GRPC_PORT, HTTP_PORT

TEXT = (DEPLOY / "receive" / "Dockerfile").read_text(encoding="utf-8")
STEPS = re.findall(r"^(\w+) (.+)$", TEXT.replace("\\\n", " "), re.MULTILINE)
OWN = ("/build", "/opt/turnspan", "/spool", "/run/tokens")
"""The folders of the image that the steps make."""


def said(word: str) -> list[str]:
    return [rest for step, rest in STEPS if step == word]


def test_it_is_pinned_watched_and_nobody_s_root() -> None:
    """The base can be named by its digest; no step after the user's needs another one."""
    assert said("ARG") == ["BASE=python:3.13-slim"]
    assert {rest.split()[0] for rest in said("FROM")} == {"${BASE}"}
    assert said("USER") == ["10001:10001"]
    words = [step for step, _ in STEPS]
    assert not {"RUN", "COPY", "ADD"} & {*words[words.index("USER") :]}
    assert said("EXPOSE") == [f"{GRPC_PORT} {HTTP_PORT} 4319"]
    (check,) = said("HEALTHCHECK")
    assert f":{HTTP_PORT}/health" in check


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder that another user can reach, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="image-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def inside(root: Path, text: str) -> str:
    """The text with the image's folders below the root."""
    for own in OWN:
        text = re.sub(rf"(?<![\w.]){own}\b", f"{root}{own}", text)
    return text


def build(root: Path) -> dict[str, str]:
    """Take each step; returns the environment that the image has."""
    (root / "build").mkdir()
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(root / "build")],
        cwd=REPOSITORY, env=os.environ | {"TURNSPAN_COMPILE": "0"}, check=True, capture_output=True,
    )  # fmt: skip
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(root)}
    passed = {
        name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))
    }
    for step, rest in STEPS:
        if step == "COPY" and not rest.startswith("--from"):
            *names, into = rest.split()
            for name in names:
                for path in REPOSITORY.glob(name) if "*" not in name else ():
                    shutil.copy(path, inside(root, into))
        elif step == "RUN":
            line = inside(root, rest)
            if os.geteuid():
                line = re.sub(r"-o 10001 -g 10001", "", line)
            subprocess.run(["sh", "-ec", line], env=environment | passed, check=True)
        elif step == "ENV":
            environment |= dict(each.split("=", 1) for each in inside(root, rest).split())
    return environment


def succeeds(words: list[str], environment: dict[str, str], user: dict[str, Any]) -> bool:
    with subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL, **user) as running:
        return running.wait() == 0


@pytest.mark.release
@pytest.mark.skipif(
    not Path("/usr/bin/python3").exists(), reason="no Python that all users can run"
)
def test_its_steps_make_a_receiver_that_takes_spans(root: Path) -> None:
    """As the image's user, who can write the spool and nothing else of it."""
    environment = build(root)
    tokens = root / "run" / "tokens"
    tokens.mkdir(parents=True)
    (tokens / "tokens").write_text("secret-of-a-sender\n")
    port = 23_000 + os.getpid() % 2_000
    command = json.loads(inside(root, said("CMD")[0]))
    command += ["--port", str(port), "--grpc-port", str(port + 2_000)]
    command[0] = str(root / "opt/turnspan/bin" / command[0])
    environment["TURNSPAN_STORE"] = "http://turnspan_writer@127.0.0.1:9/turnspan"
    user: dict[str, Any] = (
        {} if os.geteuid() else {"user": 10001, "group": 10001, "extra_groups": []}
    )
    with subprocess.Popen(command, env=environment, **user) as running:
        try:
            check = json.loads(said("HEALTHCHECK")[0].partition("CMD ")[2])
            check[-1] = check[-1].replace(str(HTTP_PORT), str(port))
            check[0] = str(root / "opt/turnspan/bin" / check[0])
            end = time.monotonic() + 60
            while not succeeds(check, environment, user):
                assert running.poll() is None and time.monotonic() < end
                time.sleep(0.2)
            body = request("image", [chat("call", "", 1)]).SerializeToString()
            headers = {"Content-Type": "application/x-protobuf"}
            sent = urllib.request.Request(f"http://127.0.0.1:{port}/v1/traces", body, headers)
            with pytest.raises(urllib.error.HTTPError, match="401"):
                urllib.request.urlopen(sent, timeout=10)
            sent.add_header("Authorization", "Bearer secret-of-a-sender")
            with urllib.request.urlopen(sent, timeout=30) as answer:
                assert answer.status == 200
        finally:
            running.terminate()
            running.wait(40)
    spooled = list((root / "spool" / "records").rglob("*"))
    assert spooled
    if not os.geteuid():
        assert {path.stat().st_uid for path in spooled} == {10001}
