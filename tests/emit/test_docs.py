"""The documentation of the configuration says what the code does."""

from __future__ import annotations

import re

from support.shared import REPOSITORY
from turnspan import config


def test_every_variable_is_documented_with_its_default() -> None:
    """docs/configuration.md has a row for each option, with the real default."""
    text = (REPOSITORY / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \|[^|]*\| ([^|]*) \|", text, re.MULTILINE))
    defaults = config.Settings()

    assert set(rows) == {option.variable for option in config.OPTIONS}
    for option in config.OPTIONS:
        default = getattr(defaults, option.field)
        written = rows[option.variable].strip().strip("`")
        if option.field not in ("project", "content_on_spans", "content_on_events"):
            assert written == str(default).lower(), option.variable
