"""deploy/receive: what can be held about it without a cluster and without systemd."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from support.deployment import DEPLOY, require_kubernetes
from turnspan_console.commands.receive import GRPC_PORT, HTTP_PORT, command

FOLDER = DEPLOY / "receive"
RESOURCES: list[dict[str, Any]] = [
    *yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text("utf-8"))
]


@pytest.mark.parametrize("version", ["1.31", "1.37"])
@pytest.mark.parametrize("resource", RESOURCES, ids=lambda one: one["kind"])
def test_each_resource_is_kubernetes(resource: dict[str, Any], version: str) -> None:
    """Valid, with no unknown field."""
    require_kubernetes(resource, version)


def test_what_is_run_is_there() -> None:
    """The options are those of the command, and the ports those that it listens on."""
    options = {name for parameter in command.params for name in parameter.opts}
    unit = (FOLDER / "turnspan-receive.service").read_text("utf-8")
    (workload,) = (one for one in RESOURCES if one["kind"] == "StatefulSet")
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    (service,) = (one for one in RESOURCES if one["kind"] == "Service")
    started = re.findall(r"^ExecStart=\S+ (.*)", unit, re.MULTILINE)
    for words in (started[0].split(), container["args"][1:]):
        assert words[0] == command.name
        assert {word for word in words if word.startswith("--")} <= options
    told = {(port["name"], port["port"]) for port in service["spec"]["ports"]}
    assert told == {("otlp-http", HTTP_PORT), ("otlp-grpc", GRPC_PORT)}
    listened = {(port["name"], port["containerPort"]) for port in container["ports"]}
    assert listened == told
