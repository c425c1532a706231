"""``turnspan doctor --prove``: every installed client asks a model, and makes a record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from turnspan import uninstrument
from turnspan.wire.gaps import watch
from turnspan_console.cli import turnspan

CLIENTS = {
    *("openai", "anthropic", "google-genai", "httpx", "httpx2", "requests", "urllib3", "urllib"),
    "aiohttp",
}


@pytest.fixture(autouse=True)
def _as_in_a_new_process() -> Iterator[None]:
    """What an earlier test instrumented would answer for what the environment switches off."""
    uninstrument()
    yield
    watch.forget()


def proved(folder: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code, and the checks by name."""
    arguments = ["--store", f"chdb://{folder}/s", "doctor", "--prove", "--format", "json"]
    done = CliRunner().invoke(turnspan, arguments)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return done.exit_code, {one["name"]: one for one in found if one["area"] == "proof"}


def test_each_client_makes_a_record(tmp_path: Path) -> None:
    """One for each request."""
    _, found = proved(tmp_path)
    assert found.keys() == {*CLIENTS, "all clients"}
    assert {one["level"] for one in found.values()} == {"ok"}, found
    assert found["all clients"]["finding"] == "9 requests to models, 9 records"


def test_what_is_switched_off_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDKs have instrumentors of their own; plain clients have none."""
    monkeypatch.setenv("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "turnspan_http")
    code, found = proved(tmp_path)
    failed = {name for name, one in found.items() if one["level"] == "fail"}
    assert failed == CLIENTS - {"openai", "anthropic", "google-genai"}
    assert code == 1
