"""On a terminal: colour, the width kept, long texts shortened with a word about it."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from rich.cells import cell_len

from support.kept_stores import migrated
from support.landing import insert
from support.representatives import few
from support.rows import turn
from support.story import ENTRY
from support.terminal import on_terminal
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.lookup import find

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", few([60, 200], [60]))
def test_every_line_fits_the_terminal(filled: str, width: int) -> None:
    for arguments in (("diagnose",), ("replay", "thread-7"), ("show", "b2b2b2")):
        shown = on_terminal("--store", filled, *arguments, width=width)
        lines = _ESCAPES.sub("", shown).splitlines()
        assert "\x1b[" in shown and len(lines) > 10
        too_long = [line for line in lines if cell_len(line) > width]
        assert too_long == []


def test_long_texts_are_shortened_unless_full_is_asked_for(filled: str) -> None:
    brief = on_terminal("--store", filled, "replay", "thread-7")
    assert "more lines (--full)" in brief and "rule 40" not in brief
    full = on_terminal("--store", filled, "replay", "thread-7", "--full")
    assert "more lines" not in full and "rule 40" in full


def test_recorded_text_never_steers_the_terminal(filled: str) -> None:
    shown = on_terminal("--store", filled, "replay", "thread-7", "--no-color")
    assert "\x1b" not in shown and "size" in shown


def test_colour_can_be_switched_off_and_forced(filled: str) -> None:
    assert "\x1b" not in on_terminal("--store", filled, "turns", NO_COLOR="1")
    forced = subprocess.run(
        [sys.executable, "-c", ENTRY, "--store", filled, "replay", "thread-7", "--color"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "\x1b[" in forced.stdout and "rule 40" in forced.stdout


def test_a_wide_sql_row_is_shown_one_value_a_line(filled: str) -> None:
    shown = on_terminal("--store", filled, "sql", "SELECT * FROM llm_call LIMIT 1")
    plain = _ESCAPES.sub("", shown)
    assert "── row 1 " in plain and re.search(r"^session_id +thread-7$", plain, re.MULTILINE)


ALIKE = {
    "ends": [f"support-conversation-of-the-night-porter-in-hall-{n}" for n in range(1, 4)],
    "beginnings": [f"{n}-conversation-of-the-night-porter-in-hall-at-three" for n in "abc"],
    "middles": [f"conversation-of-the-night-{n}-porter-in-the-long-hall-x" for n in "abc"],
    "close to the end": [f"conversation-of-the-night-porter-in-the-{n}-long-hall" for n in "abc"],
    "uuid v7": [f"01999d6c-7f3a-7c{n}0-9aa0-7f1f6f2b8c11" for n in "abc"],
    "times": [f"6720c1a{n}d3b1f00d" for n in "abc"],
    "hexadecimal": [f"1-5759e988-bd862e3fe1be46a99427{n}793" for n in "abc"],
}
"""Session ids as people make them: with a prefix of their own, or with the time first."""


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory) -> Dsn:
    """A store with each of them in a project of its own."""
    dsn = Dsn(scheme="chdb", path=tmp_path_factory.mktemp("alike") / "store")
    long = "Where in the world may the keys of the second floor be at this hour?"
    known = {"user_message": long}
    with migrated(dsn) as store:
        for project, names in ALIKE.items():
            ids = [(f"{n:x}" * 16, n, id_) for n, id_ in enumerate(names)]
            insert(store, *(turn(t, n, session_id=s, project=project, **known) for t, n, s in ids))
    return dsn


@pytest.mark.parametrize(
    ("project", "width"),
    [
        ("ends", 60),
        ("close to the end", 60),
        *(
            pytest.param(one, 60, marks=pytest.mark.release)
            for one in ALIKE
            if one not in ("ends", "close to the end")
        ),
        pytest.param("close to the end", 80, marks=pytest.mark.release),
    ],
)
def test_ids_stay_different_and_are_taken_as_shown(alike: Dsn, project: str, width: int) -> None:
    """Ids that differ anywhere differ in what a table shows of them, and a command takes that."""
    listed = on_terminal(
        *("--store", str(alike), "sessions", "--project", project), width=width, NO_COLOR="1"
    )
    shown = [line.split()[0] for line in listed.splitlines()[1:] if not line.startswith("  ")]
    names = ALIKE[project]
    assert len(shown) == len(set(shown)) == len(names)
    with open_store(alike) as store:
        for part, name in zip(shown, reversed(names), strict=True):
            found = [one.id for one in find(store, part) if one.project == project]
            assert found == [name]
