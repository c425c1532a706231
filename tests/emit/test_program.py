"""A program that says no name of its own gets one, and with it a project."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from turnspan.pipeline.program import program_name
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_records.access import open_dsn

pytestmark = pytest.mark.with_schema


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["python", "agent.py"], "agent"),
        (["/usr/bin/python3.12", "-u", "jobs/nightly_report.py", "-m", "other"], "nightly_report"),
        (["python", "-X", "dev", "-W", "error", "agent.py"], "agent"),
        (["python", "-Xdev", "-Wmodule", "agent.py"], "agent"),
        (["python", "--check-hash-based-pycs", "always", "agent.py"], "agent"),
        (["python", "-m", "support.agent"], "support.agent"),
        (["python", "-um", "support"], "support"),
        (["python", "-msupport"], "support"),
        (["python", "-m", "support.__main__"], "support"),
        (["python", "/srv/support/__main__.py"], "support"),
        (["python", "/srv/bin/uvicorn", "app:api"], "uvicorn"),
        (["python", "-c", "import agent.py"], "python"),
        (["python", "-Ic", "agent.py"], "python"),
        (["python", "-"], "python"),
        (["python", "-i"], "python"),
        (["python"], "python"),
        (["uwsgi", "--http", ":80"], "uwsgi"),
        ([], "python"),
    ],
)
def test_the_name_is_read_from_the_command_line(command: list[str], name: str) -> None:
    """Script, module, or neither; the interpreter's own options are passed over."""
    assert program_name(command) == name


AGENT = """
import os
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
import turnspan

if os.environ.get("OWN_PROVIDER"):
    trace.set_tracer_provider(TracerProvider())
turnspan.configure()
if os.environ.get("CONFIGURE_AGAIN"):
    turnspan.configure(classify_intent=True)

@turnspan.agent
def answer(question: str) -> str:
    return "42"

answer("?")
"""


@pytest.mark.parametrize(
    ("surroundings", "service", "project"),
    [
        ({}, "night_porter", "night_porter"),
        pytest.param({"OTEL_SERVICE_NAME": "desk"}, "desk", "desk", marks=pytest.mark.release),
        pytest.param(
            {"OTEL_RESOURCE_ATTRIBUTES": "service.name=desk"},
            "desk",
            "desk",
            marks=pytest.mark.release,
        ),
        ({"TURNSPAN_PROJECT": "hotel"}, "night_porter", "hotel"),
        pytest.param(
            {"OWN_PROVIDER": "1"}, "unknown_service", "night_porter", marks=pytest.mark.release
        ),
        ({"OWN_PROVIDER": "1", "CONFIGURE_AGAIN": "1"}, "unknown_service", "night_porter"),
        (
            {"OWN_PROVIDER": "1", "OTEL_RESOURCE_ATTRIBUTES": "turnspan.project=hotel"},
            "unknown_service",
            "hotel",
        ),
    ],
)
def test_records_have_a_project(
    surroundings: dict[str, str], service: str, project: str, embedded_dsn: Dsn, tmp_path: Path
) -> None:
    """What nobody named is recorded under the program's name; a name that was given holds."""
    script = tmp_path / "night_porter.py"
    script.write_text(AGENT, encoding="utf-8")
    named = ("OTEL_", "TURNSPAN_PROJECT")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(named)}
    subprocess.run(
        [sys.executable, "-u", str(script)],
        check=True,
        env=environ | surroundings | {"TURNSPAN_STORE": str(embedded_dsn)},
    )

    with open_dsn(embedded_dsn) as store:
        row = store.query("SELECT service, project FROM turn_summary").dicts()[0]
    assert row["service"].startswith(service)
    assert row["project"] == project
