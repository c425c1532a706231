"""Fail unless the version stands in one place, and a tag that is built agrees with it.

Its argument is a reference of git: for refs/tags/v1.2.3 the version must be 1.2.3, and the newest
release in the change log as well.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = "instrument/turnspan/_version.py"
PLACES = {SOURCE: r'^__version__ = "(.+)"$'}
AT_A_RELEASE = {"CHANGELOG.md": r"^## \[?(\d[^\] ]*)"}
TAG = "refs/tags/v"


def main(ref: str) -> int:
    """Compare the versions; returns the exit code."""
    found = {ref: ref.removeprefix(TAG)} if ref.startswith(TAG) else {}
    for name, pattern in (PLACES | AT_A_RELEASE if found else PLACES).items():
        match = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        found[name] = match[1] if match else "none"
    for place, version in found.items():
        print(f"{version}  {place}")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    if re.search(r"^version\b", project, re.MULTILINE):
        print(f"pyproject.toml has a version of its own: it takes it from {SOURCE}")
        return 1
    return 0 if len(set(found.values())) == 1 and "none" not in found.values() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
