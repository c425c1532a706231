"""The workflow that stops a worse version of an agent."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import yaml

from support.command_lines import require_typed
from support.shared import REPOSITORY

WORKFLOW = REPOSITORY / "deploy" / "github" / "agent-gate.yml"


def test_the_workflow_is_one_and_its_commands_can_be_typed() -> None:
    """By GitHub's schema; actions have the hash of their commit; the gate's exit code counts."""
    schema = ("--builtin-schema", "vendor.github-workflows")
    command = [sys.executable, "-m", "check_jsonschema", *schema, str(WORKFLOW)]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
    made: Any = yaml.safe_load(WORKFLOW.read_text("utf-8"))
    steps = made["jobs"]["gate"]["steps"]
    for step in steps:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}|", step.get("uses", ""))
        assert "continue-on-error" not in step
    lines = [line for step in steps for line in step.get("run", "").splitlines()]
    gates = [line for line in lines if line.startswith("turnspan gate ")]
    assert len(gates) == 2
    for line in gates:
        require_typed(line.removeprefix("turnspan "))
