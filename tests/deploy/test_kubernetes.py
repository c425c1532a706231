"""deploy/kustomization.yaml and the manifests: what can be held about them without a cluster."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from support.deployment import DEPLOY

MANIFESTS = DEPLOY / "kubernetes"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())
RESOURCES: list[dict[str, Any]] = [
    document
    for path in sorted(MANIFESTS.glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text())
]
WORKLOADS = [one for one in RESOURCES if one["kind"] in ("StatefulSet", "Deployment")]
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]


# Has no types of its own.
validate: Callable[..., None] = importlib.import_module("kubernetes_validate").validate


def title(resource: dict[str, Any]) -> str:
    return f"{resource['kind']}-{resource['metadata']['name']}"


def container(workload: dict[str, Any]) -> dict[str, Any]:
    (found,) = workload["spec"]["template"]["spec"]["containers"]
    return cast("dict[str, Any]", found)


@pytest.mark.parametrize("version", ["1.31", "1.37"])
@pytest.mark.parametrize("resource", RESOURCES, ids=title)
def test_each_resource_is_kubernetes(resource: dict[str, Any], version: str) -> None:
    """Valid, with no unknown field, under the schemas of an older release and of a newer one."""
    validate(resource, version, strict=True)


def test_everything_is_listed_and_every_listed_file_exists() -> None:
    """A manifest or a dashboard that is not listed would not be applied."""
    listed = {DEPLOY / path for path in KUSTOMIZATION["resources"]}
    files = {
        path.rpartition("=")[2]
        for one in KUSTOMIZATION["configMapGenerator"]
        for path in one["files"]
    }
    dashboards = {
        str(path.relative_to(DEPLOY)) for path in DEPLOY.glob("grafana/dashboards/*.json")
    }

    assert listed == set(MANIFESTS.glob("*.yaml"))
    assert all((DEPLOY / path).is_file() for path in files)
    assert dashboards <= files


@pytest.mark.parametrize("workload", WORKLOADS, ids=title)
def test_each_workload_is_pinned_limited_watched_and_unprivileged(workload: dict[str, Any]) -> None:
    """As its namespace demands, and with the image that compose has."""
    pod = workload["spec"]["template"]["spec"]
    only = container(workload)
    name = workload["metadata"]["name"]
    image = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", COMPOSE[name]["image"])

    assert only["image"] == image
    assert only["resources"]["limits"]["memory"] and only["resources"]["requests"]["memory"]
    assert only["livenessProbe"] and only["readinessProbe"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert only["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert only["securityContext"]["allowPrivilegeEscalation"] is False
    assert pod["automountServiceAccountToken"] is False


@pytest.mark.parametrize("workload", WORKLOADS, ids=title)
def test_what_a_pod_refers_to_is_there(workload: dict[str, Any]) -> None:
    """Passwords, configuration, volumes and ports; and compose gives it the same environment."""
    pod = workload["spec"]["template"]["spec"]
    only = container(workload)
    name = workload["metadata"]["name"]
    passwords = re.findall(r"^(\w+_PASSWORD)=", (DEPLOY / ".env.example").read_text(), re.MULTILINE)
    maps = {one["name"] for one in KUSTOMIZATION["configMapGenerator"]}
    volumes = {volume["name"] for volume in pod.get("volumes", [])}
    volumes |= {
        claim["metadata"]["name"] for claim in workload["spec"].get("volumeClaimTemplates", [])
    }
    ports = {port["name"] for port in only["ports"]}
    probes = [only[probe]["httpGet"]["port"] for probe in only if probe.endswith("Probe")]
    (service,) = [r for r in RESOURCES if r["kind"] == "Service" and r["metadata"]["name"] == name]

    for variable in only["env"]:
        secret = variable.get("valueFrom", {}).get("secretKeyRef")
        assert secret is None or secret["key"] in passwords
        assert secret is None or secret["name"] == KUSTOMIZATION["secretGenerator"][0]["name"]
    assert {variable["name"] for variable in only["env"]} == set(COMPOSE[name]["environment"])
    assert {v["configMap"]["name"] for v in pod.get("volumes", []) if "configMap" in v} <= maps
    assert {mount["name"] for mount in only["volumeMounts"]} == volumes
    assert set(probes) | {port["targetPort"] for port in service["spec"]["ports"]} <= ports


def test_kustomize_builds_it(tmp_path: Path) -> None:
    """With the example's .env, by kubectl itself; each password is a key of the one secret."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("no kubectl here; the parts are checked one by one above")
    copy = tmp_path / "deploy"
    shutil.copytree(DEPLOY, copy, ignore=shutil.ignore_patterns(".env"))
    shutil.copy(copy / ".env.example", copy / ".env")
    built = subprocess.run(
        [kubectl, "kustomize", str(copy)], check=True, capture_output=True, text=True
    )
    resources = [one for one in yaml.safe_load_all(built.stdout) if one]
    secrets = [one for one in resources if one["kind"] == "Secret"]

    assert len(resources) == len(RESOURCES) + len(KUSTOMIZATION["configMapGenerator"]) + 1
    assert len(secrets) == 1 and len(secrets[0]["data"]) == 6
    for resource in resources:
        validate(resource, "1.37", strict=True)
        assert resource["kind"] == "Namespace" or resource["metadata"]["namespace"] == "turnspan"
