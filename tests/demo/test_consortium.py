"""``turnspan demo --consortium``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.release
def test_the_runs_are_played_recorded_and_shown(tmp_path: Path) -> None:
    """Without ``llm`` through the OpenAI SDK; one whole, its members beside each other."""
    ran = subprocess.run(
        [sys.executable, "-m", "turnspan_console", "demo", "--consortium"],
        env=os.environ | {"TURNSPAN_STORE": f"chdb://{tmp_path}/store", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    said = ran.stdout
    assert "Through the openai SDK" in said
    assert said.count("finished") == 3  # two in the list, one shown
    assert "Iteration 2" in said
    assert "In files beside the agent first, and from there in a column store." in said
    assert f"chdb://{tmp_path}/store" in said
