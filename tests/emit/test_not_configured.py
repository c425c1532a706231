"""``configure()`` forgotten: said once, where the first span would have been made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = "turnspan.tool(len)([1])"
AGENT = "turnspan.agent(len)([1])"
STEP = "turnspan.step('s').__enter__()"
CALL = (
    "c = turnspan.inference(provider='p', model='m'); c.__enter__(); c.__exit__(None, None, None)"
)
FLUSHED = "r = turnspan.flush(); print(r.ok, r.dropped.get('not_configured', 0))"
OURS = "import logging, turnspan; logging.basicConfig(); "


def run(tmp_path: Path, code: str, **environment: str) -> tuple[str, str]:
    """What a program prints, and what it logs."""
    done = subprocess.run(
        [sys.executable, "-c", OURS + code],
        env={"HOME": str(tmp_path), "TURNSPAN_STORE": f"chdb://{tmp_path}/store", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip(), done.stderr


@pytest.mark.parametrize("what", [TOOL, AGENT, STEP, CALL])
def test_it_is_said_once(tmp_path: Path, what: str) -> None:
    """And flush() is not content."""
    said, log = run(tmp_path, f"{what}; {what}; {FLUSHED}")
    assert said == "False 2"
    assert log.count("call turnspan.configure()") == 1


@pytest.mark.parametrize(
    ("code", "environment"),
    [
        (f"turnspan.configure(); {TOOL}; {FLUSHED}", {}),
        (f"{TOOL}; {FLUSHED}", {"OTEL_SDK_DISABLED": "true"}),
        (f"turnspan.configure(); turnspan.shutdown(); {TOOL}; print('True 0')", {}),
        (
            "from opentelemetry import trace; from opentelemetry.sdk.trace import TracerProvider; "
            f"trace.set_tracer_provider(TracerProvider()); {TOOL}; {FLUSHED}",
            {},
        ),
    ],
)
def test_nothing_is_said_otherwise(tmp_path: Path, code: str, environment: dict[str, str]) -> None:
    """Where it was called, switched off, or where spans go to a provider of the application's."""
    said, log = run(tmp_path, code, **environment)
    assert said == "True 0"
    assert "call turnspan.configure()" not in log
