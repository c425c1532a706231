"""What a release needs around it: issue forms, and pages that name what is there."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from typing import Any

import pytest
import yaml

from support.shared import REPOSITORY

FORMS = sorted((REPOSITORY / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
CONFIGURATION = [form for form in FORMS if form.stem == "config"]


def read(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


@pytest.mark.release
@pytest.mark.parametrize("kind", ["forms", "config"])
def test_an_issue_form_is_one_that_github_shows(kind: str) -> None:
    """By the published schemas of forms and of their configuration."""
    files = [form for form in FORMS if (form in CONFIGURATION) == (kind == "config")]
    schema = ("--builtin-schema", f"vendor.github-issue-{kind}")
    command = [sys.executable, "-m", "check_jsonschema", *schema, *map(str, files)]
    checked = subprocess.run(command, capture_output=True, text=True)

    assert files
    assert checked.returncode == 0, checked.stdout + checked.stderr
    for file in files:
        body: list[dict[str, Any]] = yaml.safe_load(file.read_text("utf-8")).get("body", [])
        ids = [part["id"] for part in body if "id" in part]
        assert len(set(ids)) == len(ids), file


def test_supported_versions_are_those_that_are_declared() -> None:
    """SECURITY.md names the Pythons of pyproject.toml."""
    versions = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', read("pyproject.toml"))
    assert f"Python {versions[0]} to {versions[-1]}" in read("SECURITY.md")


def test_what_security_says_of_a_release_is_what_the_workflow_does() -> None:
    """Published by one job, with a token of its own, after every wheel has been compared."""
    workflow = yaml.safe_load(read(".github/workflows/release.yml"))
    publish = workflow["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert "equal" in publish["needs"]
    step = publish["steps"][-1]
    assert step["uses"].startswith("pypa/gh-action-pypi-publish@")
    assert step.get("with", {}).get("attestations", True) is True  # on where nothing is said
    for command in re.findall(r"`(?:python )?(\.ci/[\w.]+|make [\w-]+)", read("SECURITY.md")):
        if command.startswith("make "):
            assert re.search(rf"^{command[5:]}:", read("Makefile"), re.MULTILINE), command
        else:
            assert (REPOSITORY / command).is_file(), command


def test_a_wheel_with_another_content_is_found() -> None:
    """Names alone would let a changed file through."""
    check = runpy.run_path(str(REPOSITORY / ".ci" / "check_wheel.py"))
    files = {name: check["source_of"](name) for name in check["expected_files"]()}
    assert check["problems_of_pure"](files) == []
    changed = {**files, "turnspan/turn/turn.py": b"import os\n"}
    assert check["problems_of_pure"](changed) == ["not as in git: turnspan/turn/turn.py"]
