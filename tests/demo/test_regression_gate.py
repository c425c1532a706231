"""The worked example of the gate: its README, line by line."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from support.shared import REPOSITORY
from turnspan_clickhouse.store.dsn import Dsn

pytestmark = [pytest.mark.with_schema, pytest.mark.release]
EXAMPLES = REPOSITORY / "examples"
ENDS = {"@v3 --measure": 1}
"""The exit code of a line with these words; of others it is 0."""


def test_the_gate_lets_the_fix_through_and_stops_the_next_regression(
    embedded_dsn: Dsn, tmp_path: Path
) -> None:
    """Every line of the README ends as it says; the scores are those of the scripted model."""
    text = (EXAMPLES / "regression_gate" / "README.md").read_text()
    lines = re.findall(r"^\$ (.+)$", text, re.M)
    assert len(lines) == 8
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OPENAI_", "OTEL_"))}
    environment = {**kept, "TURNSPAN_STORE": str(embedded_dsn), "PYTHONPATH": str(EXAMPLES)}
    said: list[str] = []
    for line in lines:
        name, *words = shlex.split(line)
        module = ["-m", "turnspan_console"] if name == "turnspan" else []
        done = subprocess.run(
            [sys.executable, *module, *words],
            env=environment, cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        expected = next((code for part, code in ENDS.items() if part in line), 0)
        assert done.returncode == expected, (line, done.stdout, done.stderr)
        said.append(done.stdout)
    assert "8 of 24 answers were wrong." in text
    assert said[0] == "8 of 24 answers were wrong.\n"
    assert said[1].endswith(": 24 cases, 24 with an expected answer\n")
    versions = [line.split() for line in said[4].splitlines()[1:]]
    assert [one[:4] for one in versions] == [["v1", "72", "0", "0.667"], ["v2", "72", "0", "1"]]
    assert "score:exact" in said[7]
    assert "What did order" in said[7]
