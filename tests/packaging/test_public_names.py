"""No public name goes without a cycle of deprecation."""

from __future__ import annotations

import importlib
import runpy
import subprocess
from typing import Any

import pytest

from support.shared import REPOSITORY

REFERENCE = runpy.run_path(str(REPOSITORY / ".ci" / "reference.py"))
INTERFACE: Any = REFERENCE["public_interface"]
CHANGELOG = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
RELEASES: set[str] = INTERFACE.released(CHANGELOG)


def test_no_released_name_is_gone_and_the_list_is_whole() -> None:
    """`make reference` writes it."""
    text = INTERFACE.LEDGER.read_text(encoding="utf-8")
    ledger, names = INTERFACE.read(text), INTERFACE.current()
    assert INTERFACE.violations(ledger, names, RELEASES) == []
    assert INTERFACE.updated(ledger, names, RELEASES) == text
    for name in ("turnspan.agent", "turnspan.annotate(comment)", "turnspan.Turn.stop",
                 "turnspan_records.Hit.kind", "command turnspan replay --format",
                 "variable TURNSPAN_CAPTURE_CONTENT"):  # fmt: skip
        assert name in ledger, name


def test_a_deprecated_name_warns() -> None:
    for name, one in INTERFACE.read(INTERFACE.LEDGER.read_text(encoding="utf-8")).items():
        package, _, attribute = name.rpartition(".")
        if one.deprecated and not one.removed and package in INTERFACE.PACKAGES:
            with pytest.warns(DeprecationWarning):
                getattr(importlib.import_module(package), attribute)


def test_names_of_the_newest_tag_are_still_listed() -> None:
    """A line that was deleted by hand would hide that its name has gone."""
    tags = git("tag", "--list", "v*", "--merged", "HEAD", "--sort=-version:refname").split()
    path = INTERFACE.LEDGER.relative_to(REPOSITORY).as_posix()
    for tag in tags[:1]:
        if git("ls-tree", "--name-only", tag, path):
            listed = INTERFACE.read(git("show", f"{tag}:{path}"))
            now = INTERFACE.read(INTERFACE.LEDGER.read_text(encoding="utf-8"))
            assert sorted(listed.keys() - now.keys()) == []


def git(*words: str) -> str:
    ran = subprocess.run(
        ["git", *words], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    return ran.stdout


@pytest.mark.parametrize(
    ("line", "there", "wrong"),
    [
        ("a.b 0.1.0", True, ""),
        ("a.b 0.1.0", False, "is gone: deprecate it"),
        ("a.b 0.1.0 deprecated=0.2.0", True, ""),
        ("a.b 0.1.0 deprecated=0.2.0", False, "is gone: deprecate it"),
        ("a.b 0.1.0 deprecated=0.2.0 removed=0.3.0", False, ""),
        ("a.b 0.1.0 deprecated=0.2.0 removed=0.3.0", True, "is there, although"),
        ("a.b 0.1.0 deprecated=0.2.0 removed=0.2.1", False, "in the version that deprecated it"),
        ("a.b 0.1.0 deprecated=0.9.0 removed=0.10.0", False, "in the version that deprecated it"),
        ("command a b --c 0.1.0", False, "is gone"),
        ("a.b 0.4.0", False, ""),
    ],
)
def test_a_name_goes_by_the_policy_only(line: str, there: bool, wrong: str) -> None:
    """One that has been released: two minor versions between them, the first of them published."""
    ledger = INTERFACE.read(line)
    (one,) = ledger.values()
    assert one.line() == line
    names: set[str] = {one.name} if there else set()
    said = INTERFACE.violations(ledger, names, {"0.1.0", "0.2.0", "0.3.0"})
    assert len(said) == bool(wrong)
    assert all(wrong in each for each in said)
    kept = INTERFACE.updated(ledger, names, {"0.1.0", "0.2.0", "0.3.0"})
    assert bool(kept) is (there or one.since == "0.1.0")
