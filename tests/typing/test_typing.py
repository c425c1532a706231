"""Types survive decoration: pyright reveals of the public interface what a user expects."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

API = Path(__file__).with_name("api.py")


def test_types_survive_decoration(tmp_path: Path) -> None:
    """Every reveal_type in api.py reveals what its comment says, and nothing there is an error: in
    a folder of its own, as in an application that has Turnspan installed."""
    copy = shutil.copy(API, tmp_path)
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    ran = subprocess.run(
        [*command, copy], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert ran.stdout, ran.stderr
    found: list[dict[str, Any]] = json.loads(ran.stdout)["generalDiagnostics"]
    assert [d["message"] for d in found if d["severity"] != "information"] == []

    revealed = {
        d["range"]["start"]["line"]: d["message"].split('" is "', 1)[1].removesuffix('"')
        for d in found
    }
    lines = API.read_text(encoding="utf-8").splitlines()
    expected = {
        number: match[1]
        for number, line in enumerate(lines)
        if (match := re.search(r"reveal_type\(.*\)  # (.*)", line))
    }
    assert len(expected) >= 30
    assert revealed == expected
