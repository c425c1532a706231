"""What axe-core finds in a page: barriers to who uses it without a mouse, or without seeing it."""

from __future__ import annotations

from typing import Any

import pytest

from support.pages import Watched
from support.shared import REPOSITORY

AXE = REPOSITORY / "console" / "page" / "node_modules" / "axe-core" / "axe.min.js"


def barriers(seen: Watched) -> list[str]:
    """Each by its rule, with the elements; the page was opened with ``bypass_csp``."""
    if not AXE.exists():
        pytest.skip("axe-core is not there: run `make web` (it needs Node)")
    page: Any = seen.page
    page.add_script_tag(path=str(AXE))
    found = page.evaluate(
        """async () => (await axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa",
          "wcag22aa", "best-practice"] })).violations"""
    )
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:200] for node in one['nodes'][:3]]}"
        for one in found
    ]
