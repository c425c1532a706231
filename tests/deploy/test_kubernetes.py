"""deploy/kustomization.yaml and the manifests: what can be held about them without a cluster."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from support.demo_records import land
from support.deployment import DEPLOY, Deployment, require_kubernetes
from support.representatives import few
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.keeping import Policy

MANIFESTS = DEPLOY / "kubernetes"
KUSTOMIZATION: dict[str, Any] = yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())
RESOURCES: list[dict[str, Any]] = [
    document
    for path in sorted(MANIFESTS.glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text())
]
WORKLOADS = [one for one in RESOURCES if one["kind"] in ("StatefulSet", "Deployment")]
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]


def title(resource: dict[str, Any]) -> str:
    return f"{resource['kind']}-{resource['metadata']['name']}"


def container(workload: dict[str, Any]) -> dict[str, Any]:
    (found,) = workload["spec"]["template"]["spec"]["containers"]
    return cast("dict[str, Any]", found)


@pytest.mark.parametrize("version", few(["1.31", "1.37"], ["1.31"]))
@pytest.mark.parametrize("resource", RESOURCES, ids=title)
def test_each_resource_is_kubernetes(resource: dict[str, Any], version: str) -> None:
    """Valid, with no unknown field, under the schemas of an older release and of a newer one."""
    require_kubernetes(resource, version)


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
        require_kubernetes(resource, "1.37")
        assert resource["kind"] == "Namespace" or resource["metadata"]["namespace"] == "turnspan"


JOBS = [one for one in RESOURCES if one["kind"] == "CronJob"]


def pod_of(job: dict[str, Any]) -> dict[str, Any]:
    return cast("dict[str, Any]", job["spec"]["jobTemplate"]["spec"]["template"]["spec"])


@pytest.mark.parametrize("job", JOBS, ids=title)
def test_each_job_is_limited_and_unprivileged(job: dict[str, Any]) -> None:
    """As the workloads; one run at a time, and what it mounts and reads is there."""
    pod = pod_of(job)
    (only,) = pod["containers"]
    claims = {
        f"{claim['metadata']['name']}-{one['metadata']['name']}-0"
        for one in WORKLOADS
        for claim in one["spec"].get("volumeClaimTemplates", [])
    }
    claims |= {
        one["metadata"]["name"] for one in RESOURCES if one["kind"] == "PersistentVolumeClaim"
    }
    maps = {one["name"] for one in KUSTOMIZATION["configMapGenerator"]}
    secrets = [each["valueFrom"]["secretKeyRef"] for each in only["env"] if "valueFrom" in each]

    assert job["spec"]["concurrencyPolicy"] == "Forbid"
    assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
    assert only["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert only["securityContext"]["readOnlyRootFilesystem"]
    assert only["resources"]["limits"]["memory"]
    assert {each["key"] for each in secrets} == {"TURNSPAN_ADMIN_PASSWORD"}
    for volume in pod["volumes"]:
        claim, named = volume.get("persistentVolumeClaim"), volume.get("configMap")
        assert claim is None or claim["claimName"] in claims
        assert named is None or named["name"] in maps


def test_nothing_leaves_but_names() -> None:
    """Every pod is under the policy; the only way out is the cluster's DNS."""
    (policy,) = [
        one
        for one in RESOURCES
        if one["kind"] == "NetworkPolicy" and "Egress" in one["spec"]["policyTypes"]
    ]
    inside, names = policy["spec"]["egress"]
    assert policy["spec"]["podSelector"] == {} and inside == {"to": [{"podSelector": {}}]}
    assert {(port["port"], port["protocol"]) for port in names["ports"]} == {
        (53, "UDP"),
        (53, "TCP"),
    }


def test_budgets_are_of_pods_that_are_there() -> None:
    budgets = [one for one in RESOURCES if one["kind"] == "PodDisruptionBudget"]
    labels = [one["spec"]["template"]["metadata"]["labels"] for one in WORKLOADS]
    assert budgets
    for budget in budgets:
        assert budget["spec"]["selector"]["matchLabels"] in labels


@pytest.mark.release
def test_the_jobs_do_what_they_are_for(
    deployment: Deployment, demo_blocks: Mapping[str, bytes], tmp_path: Path
) -> None:
    """The backup's own script writes one that restores, and removes old ones only; the retention's
    command runs by the shipped policy. Both as the user that they name."""
    with open_store(deployment.dsn("admin")) as store:
        land(store, demo_blocks)
    backup, retention = (pod_of(job)["containers"][0] for job in JOBS)
    backups = deployment.server.home / "data" / "backups"
    backups.mkdir(exist_ok=True)
    for name, days in (("turnspan-old.tar.gz", 30), ("turnspan-new.tar.gz", 3), ("other", 99)):
        (backups / name).touch()
        os.utime(backups / name, (0, time.time() - days * 86_400))
    address = f"http://127.0.0.1:{deployment.server.http_port}/"
    environment = os.environ | {"TURNSPAN_ADMIN_PASSWORD": "admin-secret"}
    said = {each["name"]: each["value"] for each in backup["env"] if "value" in each}
    said |= {"CLICKHOUSE_URL": address, "BACKUPS": str(backups)}
    subprocess.run([*backup["command"], *backup["args"]], env=environment | said, check=True)
    kept = sorted(path.name for path in backups.iterdir())
    (made,) = (name for name in kept if name.startswith("turnspan-2"))
    assert set(kept) == {made, "turnspan-new.tar.gz", "other"}
    restored = deployment.ask(
        "turnspan_admin", f"RESTORE DATABASE turnspan AS turnspan_beside FROM File('{made}')"
    )
    assert restored.code == 0, restored.text
    deployment.ask("turnspan_admin", "DROP DATABASE turnspan_beside SYNC")

    args = list(retention["args"])
    args[0] = str(Path(sys.executable).parent / args[0])
    args[args.index("/policy/policy.toml")] = str(DEPLOY / "retention.toml")
    environment |= {
        "TURNSPAN_STORE": f"{address}turnspan".replace("http://", "http://turnspan_admin@"),
        "TURNSPAN_STORE_PASSWORD": "admin-secret",
        "TURNSPAN_SPOOL": str(tmp_path / "spool"),
    }
    subprocess.run(args, env=environment, cwd=tmp_path, check=True, capture_output=True)


def test_the_shipped_policy_is_the_one_that_the_command_prints() -> None:
    assert (DEPLOY / "retention.toml").read_text() == Policy(archive=Path("/archives")).as_toml()
