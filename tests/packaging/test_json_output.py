"""What ``--format json`` prints is as the reference's schema says, and stays so in one version."""

from __future__ import annotations

import importlib
import json
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.shared import REPOSITORY

FROZEN = REPOSITORY / "tests" / "data" / "json_output"
PRINTED = REPOSITORY / "tests" / "snapshots" / "json" / "commands"
NAMES = {
    "compare": "compare ID ID",
    "compare-attempts": "compare ID ID",
    "consortium-run": "consortium RUN",
    "context": "context ID",
    "context-call": "context ID",
    "diff": "diff BEFORE AFTER",
    "doctor": "doctor",
    "errors": "errors",
    "errors-window": "errors",
    "errors-tool": "errors TOOL",
    "find": "find TEXT",
    "find-window": "find TEXT",
    "lineage-named": "lineage EXPERIMENT",
    "replay": "replay SESSION",
    "why": "why ID",
    "why-loop": "why ID",
    "why-session": "why ID",
}
"""Snapshots of what a command printed, with the command's name in the schema."""


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The schema that the code makes now."""
    sys.path.insert(0, str(REPOSITORY / ".ci"))
    try:
        made: dict[str, Any] = runpy.run_path(str(REPOSITORY / ".ci" / "json_schema.py"))[
            "document"
        ]()
    finally:
        sys.path.remove(str(REPOSITORY / ".ci"))
    return made


@pytest.mark.parametrize("name", NAMES)
def test_what_a_command_prints_is_as_described(name: str, schema: dict[str, Any]) -> None:
    """With no field that the schema does not know. A snapshot has ``<version>`` and the like where
    values differ from run to run."""
    text = (PRINTED / f"{name}.json").read_text(encoding="utf-8")
    printed = json.loads(text.replace('"<bytes>"', "0"))
    closed = {key: {**one, "unevaluatedProperties": False} for key, one in schema["$defs"].items()}
    own = {**schema["commands"][NAMES[name]], "$defs": closed}
    checks: Any = importlib.import_module("jsonschema")  # 2 s, for every process of a parallel run
    errors = [
        f"{one.json_path}: {one.message[:300]}"
        for one in checks.Draft202012Validator(own).iter_errors(printed)
        if not re.fullmatch(r"<\w+>", str(one.instance))
    ]
    assert errors == []


def promised(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each command with what it prints, and each field of each type."""
    for name, printed in schema["commands"].items():
        yield f"turnspan {name}", printed
    for name, one in schema["$defs"].items():
        for field, kind in one["properties"].items():
            yield f"{name}.{field}", kind


def test_a_version_keeps_its_fields(schema: dict[str, Any]) -> None:
    """A field that goes or changes needs a new JSON_VERSION, of console/turnspan_console/output.py,
    and a copy of docs/reference/json-output.schema.json in tests/data/json_output, by its number.
    What is added needs neither."""
    file: Path = FROZEN / f"{schema['version']}.json"
    frozen = json.loads(file.read_text(encoding="utf-8"))
    now = dict(promised(schema))
    changed = [name for name, kind in promised(frozen) if now.get(name) != kind]
    assert changed == []
