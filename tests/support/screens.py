"""Every screen of the page, with something on it: where it is, and when it is there."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote

from support.assembled import FULL
from support.camp_rows import LINEAGE, VERSIONS
from support.consortium_rows import JURY
from support.hostile_rows import PROJECT as HOSTILE
from support.hostile_session import SESSION, SPANS
from support.pages import ServedPage
from support.rows import PROJECT
from support.shared import REPOSITORY

ROWS = "tbody tr[tabindex]"


class Place(NamedTuple):
    """A screen in one of its states."""

    path: str
    ready: str
    """What is there when it is shown."""
    keys: tuple[str, ...] = ()
    """Pressed then."""

    @property
    def screen(self) -> str:
        """Its name in the page's table of screens."""
        return re.split(r"[/?]", self.path)[0]


def names() -> set[str]:
    """The screens of the page's own table."""
    table = REPOSITORY / "console" / "page" / "src" / "screens" / "index.ts"
    return set(re.findall(r'\bname: "(\w*)"', table.read_text(encoding="utf-8")))


def places(page: ServedPage) -> list[Place]:
    """Of a store with what ``turnspan demo`` records, and the rows of ``support`` beside it."""
    session = page.ask("/api/sessions?project=demo&filter=failed:run_query").json()["sessions"][0]
    told = page.ask(f"/api/outline?project=demo&session={session['session']}").json()["outline"]
    one, two = (call["span_id"] for call in told["calls"][:2])
    first, second = (turn["turn_id"] for turn in told["turns"][:2])
    replay = f"s/demo/{session['session']}"
    hostile = f"s/{PROJECT}/{quote(SESSION, safe='')}"
    return [
        Place("", ".panel a.sql"),
        Place("?project=demo", ".plot canvas", ("T",)),
        Place(f"call/demo/{two}", ".call-screen .good"),
        Place(f"call/{PROJECT}/{SPANS[1]}", ".call-screen .cost"),
        Place(f"diff/demo/{one}..{two}", ".change"),
        Place(f"diff/{PROJECT}/{SPANS[0]}..{SPANS[1]}", ".change.edited ins"),
        Place(replay, ".row", ("n",)),
        Place(hostile, ".row"),
        Place("turns?project=demo&f=tools>1", ROWS, ("j", "x", "Space", "A", "1")),
        Place("turns?q=Unknown", ".hit"),
        Place("turns?f=x", ".problem"),
        Place("turns?project=nobody", ".nothing"),
        Place(f"sessions?project={PROJECT}", ROWS),
        Place("errors?project=demo&tool=run_query", ".fed"),
        Place(f"errors?project={quote(HOSTILE, safe='')}", ROWS),
        Place(f"review?by=ada&of=demo&at={first}", ".judging"),
        Place(f"compare?ids={first},{second}", ".answer", ("1", "L", "!")),
        Place(f"context/{PROJECT}/{FULL}", ".context"),
        Place(f"context/demo/{two}", "main tbody tr"),
        Place("lineage", ROWS),
        Place(f"lineage/{PROJECT}/camp?at={LINEAGE}%20{VERSIONS[1]}", ".lineage ins"),
        Place("consortium", ROWS),
        Place(f"consortium/{PROJECT}/{JURY}", ".decision"),
        Place("sql?q=SELECT%20*%20FROM%20turn_summary%20LIMIT%203", ".result tbody tr"),
        Place("week?week=2026-W39", ".panel a.sql"),
        Place("settings", ".checks li"),
        Place("go/nothing-that-is", ".nothing"),
        Place("nowhere", ".nothing a"),  # the screen before has a .nothing too
    ]
