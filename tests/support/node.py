"""OpenTelemetry's JavaScript SDK and the Vercel AI SDK, from pinned npm packages in ``.tools/``.

Node and npm are those of the path; ``make`` adds those of ``.venv`` for a machine without them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

PACKAGES = (
    "@opentelemetry/api@1.9.1",
    "@opentelemetry/exporter-trace-otlp-http@0.223.0",
    "@opentelemetry/exporter-trace-otlp-proto@0.223.0",
    "@opentelemetry/resources@2.12.0",
    "@opentelemetry/sdk-trace-base@2.12.0",
    "@opentelemetry/sdk-trace-node@2.12.0",
    "@ai-sdk/otel@1.0.173",
    "ai@7.0.173",
    "ai6@npm:ai@6.0.322",
    "zod@4.6.7",
)
_FOLDER = Path(__file__).resolve().parents[2] / ".tools" / "node"


def installed() -> Path:
    """The folder whose ``node_modules`` holds the packages, installed the first time."""
    done = _FOLDER / "installed.txt"
    wanted = "\n".join(PACKAGES)
    if not done.exists() or done.read_text() != wanted:
        _FOLDER.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"]
        # No warnings: of packages that ask for a newer Node than they need.
        command += ["--loglevel=error", "--prefix", str(_FOLDER), *PACKAGES]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=280)
        done.write_text(wanted)
    return _FOLDER


def run_node(program: Path, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    """Run a program with the packages in reach; returns what it printed."""
    folder = installed()
    # Modules are looked for beside the program that imports them.
    copy = folder / program.name
    copy.write_bytes(program.read_bytes())
    done = subprocess.run(
        ["node", str(copy), *arguments],
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
