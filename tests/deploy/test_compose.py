"""deploy/compose.yaml: what can be held about it where no Docker runs."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
import yaml

from support.deployment import DEPLOY

COMPOSE = DEPLOY / "compose.yaml"
SERVICES: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE.read_text())["services"]


@pytest.mark.release
def test_it_follows_the_compose_specification() -> None:
    """The file is valid under the specification's own JSON schema."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    checked = subprocess.run([*command, str(COMPOSE)], capture_output=True, text=True)

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_variable_is_explained_beside_it() -> None:
    """.env.example names each variable, and no password has a default."""
    variables = set(re.findall(r"\$\{(\w+)", COMPOSE.read_text()))
    example = (DEPLOY / ".env.example").read_text()
    required = set(re.findall(r"\$\{(\w+):\?", COMPOSE.read_text()))

    assert set(re.findall(r"^(?:# )?([A-Z_]+)=", example, re.MULTILINE)) == variables
    assert required == {name for name in variables if name.endswith("_PASSWORD")}


@pytest.mark.parametrize("name", SERVICES)
def test_each_service_is_pinned_limited_watched_and_local(name: str) -> None:
    """A pinned image, a memory and a log limit, a health check; ports on loopback only."""
    service = SERVICES[name]

    assert re.search(r":\$\{\w+_VERSION:-\d+\.\d+[\d.]*\}$", service["image"])
    assert service["mem_limit"]
    assert service["logging"]["options"]["max-size"]
    assert service["healthcheck"]["test"]
    assert service["ports"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


@pytest.mark.parametrize("name", SERVICES)
def test_each_mounted_file_exists(name: str) -> None:
    """A missing file would be mounted as an empty folder; a variable stands for its default."""
    volumes = [re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", v) for v in SERVICES[name]["volumes"]]
    sources = [volume.split(":")[0] for volume in volumes if volume.startswith("./")]

    assert sources
    assert all((DEPLOY / source).exists() for source in sources)


def test_jaeger_may_be_given_the_other_configuration() -> None:
    """JAEGER_CONFIG names a file beside the default one."""
    example = (DEPLOY / ".env.example").read_text()
    named = re.findall(r"^# JAEGER_CONFIG=(\S+)$", example, re.MULTILINE)

    assert named
    assert all((DEPLOY / "jaeger" / name).is_file() for name in named)
