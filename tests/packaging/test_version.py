"""The version stands in one place."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import turnspan
from support.shared import REPOSITORY
from turnspan import _version


def check(reference: str = "") -> subprocess.CompletedProcess[str]:
    """Run what the release workflow runs first."""
    script = REPOSITORY / ".ci" / "check_version.py"
    return subprocess.run(
        [sys.executable, str(script), reference], capture_output=True, text=True, check=False
    )


def test_the_package_says_the_version_that_was_installed() -> None:
    """`turnspan.__version__` and the installed distribution's version come from one file."""
    assert turnspan.__version__ == _version.__version__ == metadata.version("turnspan")


def test_a_tag_must_be_the_version() -> None:
    """A release of another version than the source's is refused; without a tag all is well."""
    assert check().returncode == 0
    other = check("refs/tags/v999.0.0")
    assert other.returncode == 1
    assert turnspan.__version__ in other.stdout
