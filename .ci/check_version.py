"""Fail unless every place that says the version says the same, and so does a tag that is built.

Its argument is a reference of git: for refs/tags/v1.2.3 the change log must have a section 1.2.3.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PLACES = {
    "pyproject.toml": r'^version = "(.+)"$',
    "instrument/turnspan/__init__.py": r'^__version__ = "(.+)"$',
}
RELEASED = {"CHANGELOG.md": r"^## \[?(\d[^\] ]*)"}
"""What says so at a release only."""
TAG = "refs/tags/v"


def main(ref: str) -> int:
    """Compare the versions; returns the exit code."""
    said = {ref: ref.removeprefix(TAG)} if ref.startswith(TAG) else {}
    for name, pattern in (PLACES | RELEASED if said else PLACES).items():
        text = (ROOT / name).read_text(encoding="utf-8")
        found = re.search(pattern, text, re.MULTILINE)
        said[name] = found[1] if found else "none"
    for place, version in said.items():
        print(f"{version}  {place}")
    return 0 if len(set(said.values())) == 1 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
