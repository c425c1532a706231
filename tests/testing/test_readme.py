"""tests/README.md knows every area and every helper."""

from __future__ import annotations

import re

from support.shared import REPOSITORY

TESTS = REPOSITORY / "tests"
PAGE = (TESTS / "README.md").read_text(encoding="utf-8")


def test_every_area_and_helper_is_on_the_page() -> None:
    """A new folder or helper gets its line."""
    areas = {path.parent.name for path in TESTS.glob("*/test_*.py")}
    assert areas <= set(re.findall(r"`(\w+)/`", PAGE))
    helpers = {path.stem for path in (TESTS / "support").glob("*.py")} - {"__init__"}
    listed = PAGE.partition("## The helpers")[2]
    assert helpers == set(re.findall(r"`(\w+)`", listed))


def test_every_file_that_it_names_is_there() -> None:
    """Examples, slow tests and fixtures' homes."""
    for name in re.findall(r"`((?:\w+/)+\w+\.py)`", PAGE):
        assert (TESTS / name).is_file(), name
    for area, name in re.findall(r"`(\w+)/` \| `(test_\w+\.py)`", PAGE):
        assert (TESTS / area / name).is_file(), name
