"""What axe-core finds in a page: barriers to who uses it without a mouse, or without seeing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from support.pages import Watched
from support.shared import REPOSITORY

AXE = REPOSITORY / "console" / "page" / "node_modules" / "axe-core" / "axe.min.js"


RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")


def barriers(seen: Watched, rules: Sequence[str] = RULES) -> list[str]:
    """Each by its rule, with the elements; the page was opened with ``bypass_csp``. ``rules`` are
    tags or names of axe-core's."""
    assert AXE.exists(), "run `make console/page/node_modules/.ready`, as `make test` does"
    page: Any = seen.page
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=str(AXE))
    found = page.evaluate(
        """async (rules) => (await axe.run({
          runOnly: rules, resultTypes: ["violations"], preload: false })).violations""",
        list(rules),
    )
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes'][:3]]}"
        for one in found
    ]
