"""What CI and development use is pinned, and by nothing that holds on one machine only."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from support.shared import REPOSITORY

WORKFLOWS = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
PIN = re.compile(r"([a-z0-9][a-z0-9.-]*)(?:\[[a-z,-]+\])?==[\w.+!-]+(?: ; .+)?")


def pins(name: str = "constraints.txt") -> list[str]:
    """The lines of a file of versions that are no comment."""
    text = (REPOSITORY / ".ci" / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("name", ["constraints.txt", "clients.txt"])
def test_constraints_are_names_and_versions(name: str) -> None:
    """No address of an index, no path, no hash: the file says the same everywhere."""
    assert [line for line in pins(name) if not PIN.fullmatch(line)] == []


@pytest.mark.parametrize("extra", ["dev", "docs"])
def test_every_tool_of_development_is_pinned(extra: str) -> None:
    """Whatever an extra of development asks for by name has a version: else run ``make lock``."""
    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    listed = re.search(rf"^{extra} = \[(.*?)\](?: #.*)?$", project, re.MULTILINE | re.DOTALL)
    assert listed is not None
    asked = re.findall(r'"([A-Za-z][\w.-]*)', listed[1])
    assert asked
    pinned = {found[1] for line in pins() if (found := PIN.fullmatch(line))}
    names = {re.sub(r"[-_.]+", "-", name).lower() for name in asked} - {"turnspan"}
    assert names - pinned == set()


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_read_only_and_pin_their_actions(workflow: Any) -> None:
    """An action is named by its commit, with its version beside it; a token may read, and a job
    that may do more says so itself."""
    text = workflow.read_text(encoding="utf-8")
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    uses = re.findall(r"uses: (.+)$", text, re.MULTILINE)
    assert uses
    assert [one for one in uses if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40} # v[\d.]+", one)] == []
