"""The page's sources: what its screens share by name."""

from __future__ import annotations

import html
import re
import unicodedata
from collections import defaultdict
from pathlib import Path

STYLES = Path(__file__).resolve().parents[2] / "console" / "page" / "src" / "styles"

TYPOGRAPHY = {
    "…": "what is cut, or goes on",
    "·": "between facts of one line",
    "\N{EN DASH}": "a range, and a number that is not known",
    "\N{MINUS SIGN}": "the minus of what was removed",
    "“": "a quotation",
    "”": "a quotation",
    "⌘": "the name of a key",
}
"""Characters that sources may have beside ASCII, with the reason. All fonts have them alike."""


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


def test_no_character_stands_for_an_icon() -> None:
    """A mark of a font looks different with each font, and a screen reader says its name: icons
    come from the sprite. Escapes are read as what they mean."""
    odd: dict[str, set[str]] = defaultdict(set)
    for path in sorted(STYLES.parent.rglob("*")):
        if path.suffix not in (".ts", ".tsx", ".css", ".html"):
            continue
        text = html.unescape(path.read_text(encoding="utf-8"))
        if path.suffix == ".css":
            text = re.sub(r"\\([0-9a-fA-F]{2,6})", lambda code: chr(int(code[1], 16)), text)
        for one in set(text):
            if not one.isascii() and unicodedata.category(one)[0] in "SP":
                odd[one].add(path.name)

    assert {one: found for one, found in odd.items() if one not in TYPOGRAPHY} == {}
    assert set(TYPOGRAPHY) - set(odd) == set()
