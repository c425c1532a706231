"""The page's sources: what its screens share by name."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

STYLES = Path(__file__).resolve().parents[2] / "console" / "page" / "src" / "styles"


def test_a_class_is_styled_in_one_place() -> None:
    """All styles are one file in the end: of two screens that use one name for different things,
    one would look like the other."""
    places: dict[str, set[str]] = defaultdict(set)
    for path in sorted(STYLES.glob("*.css")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for selectors in re.findall(r"([^{}]+)\{", text):
            for one in selectors.split(","):
                if re.fullmatch(r"\.[\w-]+", one.strip()):
                    places[one.strip()].add(path.name)

    assert len(places) > 50
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_every_key_has_an_action() -> None:
    """None is in the table that no screen takes part in."""
    source = STYLES.parent
    table = (source / "keys.ts").read_text(encoding="utf-8")
    table, _, _ = table.partition("} as const")
    names = re.findall(r"^  (\w+): \[", table, flags=re.MULTILINE)
    code = "\n".join(
        path.read_text(encoding="utf-8")
        for path in source.rglob("*.ts*")
        if path.name not in ("keys.ts", "types.ts")
    )

    assert len(names) > 40
    assert [name for name in names if not re.search(rf"\b{name}\b", code)] == []
