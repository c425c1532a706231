"""On a terminal: colour, the width kept, long texts shortened with a word about it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

import pytest
from rich.cells import cell_len

from support.story import ENTRY

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(*arguments: str, width: int = 80, **environ: str) -> str:
    """What the command writes to a terminal of a width, escape codes included."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", ENTRY, *arguments],
        stdin=child,
        stdout=child,
        stderr=child,
        env={**os.environ, "TERM": "xterm-256color", **environ},
    )
    os.close(child)
    shown = b""
    while True:
        try:
            piece = os.read(parent, 65_536)
        except OSError:  # the last writer has closed the terminal
            break
        if not piece:
            break
        shown += piece
    os.close(parent)
    assert process.wait(60) == 0, shown
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("width", [60, 80, 120, 200])
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
