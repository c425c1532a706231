"""docs/testing.md: its examples are run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from support.shared import REPOSITORY


def test_the_examples_of_the_page_are_tests_that_pass(tmp_path: Path) -> None:
    """Each block of Python is a test file; the shown conversation is the first one's."""
    page = (REPOSITORY / "docs" / "testing.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    for number, block in enumerate(blocks):
        (tmp_path / f"test_{number}.py").write_text(block, encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(.*?)\n```", page, re.MULTILINE | re.DOTALL)
    told = f"\n    assert recorded.show() == {shown!r}\n"
    (tmp_path / "test_0.py").write_text(blocks[0] + told, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
