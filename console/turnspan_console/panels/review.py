"""``turnspan review`` on a terminal: a turn, what was said of it, and one key for each judgment."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import click

from turnspan_console import styles, values
from turnspan_console.page import Page
from turnspan_console.panels.details import print_judgments
from turnspan_console.panels.transcript import Transcript
from turnspan_records.judging.review import Review, ReviewItem

JUDGING: Final[Mapping[str, dict[str, Any]]] = {
    "u": {"outcome": "used"},
    "m": {"outcome": "modified"},
    "r": {"outcome": "rejected"},
    "g": {"training_flag": 1},
    "x": {"training_flag": -1},
    **{str(n % 10): {"score": n} for n in range(1, 11)},
}
"""What each key says of the turn."""

KEYS: Final = (
    ("u m r", "used, modified, rejected"),
    ("g x", "good candidate for training, exclude"),
    ("1 ... 9 0", "score, 0 for ten"),
    ("n", "note"),
    ("Enter s", "next turn; one that was not judged comes again another time"),
    ("z", "undo the last judgment"),
    ("b", "back to the turn before"),
    ("v", "the whole session"),
    ("q", "stop; judgments are kept"),
)
_NEXT = frozenset({"s", " ", "\r", "\n", "\x1b[C"})
_BACK = frozenset({"b", "\x1b[D"})


_END = "q"
"""What the end of the input is taken for."""


class KeyReader:
    """Reads one key at a time.

    What is typed before a key is waited for is thrown away by the terminal: it was not meant for
    what is shown now.
    """

    def read(self) -> str:
        """A key, in lower case; nothing for what is none: several at once, which were pasted.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed.
        """
        try:
            key = self._read()
        except EOFError:
            return _END
        if key.startswith("\x1b["):
            return key
        return key.lower() if len(key) == 1 else ""

    if sys.platform == "win32":

        def _read(self) -> str:
            return click.getchar()

    else:

        def _read(self) -> str:
            # Not everywhere: Windows has neither.
            import os
            import termios
            import tty

            terminal = sys.stdin.fileno()
            before = termios.tcgetattr(terminal)
            try:
                tty.setraw(terminal)
                key = os.read(terminal, 32).decode("utf-8", "replace")
            finally:
                termios.tcsetattr(terminal, termios.TCSADRAIN, before)
            if key == "\x03":
                raise KeyboardInterrupt
            if key in ("", "\x04"):
                raise EOFError
            return key


@dataclass(slots=True)
class Screen:
    """Shows one turn after the other and does what the keys say.

    ``quick`` goes on to the next turn when one was judged.
    """

    review: Review
    page: Page
    keys: KeyReader
    quick: bool = False
    full: bool = False
    judged: int = 0
    """Judgments so far."""

    def run(self) -> int:
        """Review until the queue is through, or somebody stops; returns how many judgments."""
        item = self._show(self.review.next())
        while True:
            key = self.keys.read()
            if key == _END or (item is None and key in _NEXT):
                self._end()
                return self.judged
            item = self._do(key, item)

    def _do(self, key: str, item: ReviewItem | None) -> ReviewItem | None:
        if key in _NEXT:
            return self._show(self.review.next())
        if key in _BACK:
            before = self.review.back()
            return self._show(before) if before else self._tell("This is the first one.", item)
        if key == "z":
            undone = self.review.undo()
            self.judged -= undone is not None and self.judged > 0
            return self._show(undone) if undone else self._tell("There is nothing to undo.", item)
        if item is None or key not in (*JUDGING, "n", "v"):
            for keys, meaning in KEYS:
                self.page.line((f"  {keys:<10}", styles.TITLE), meaning)
            return item
        if key == "v":
            Transcript(self.page.output, full=self.full).print(item.conversation)
            return self._prompt(item)
        return self._judge(item, JUDGING[key] if key != "n" else self._note())

    def _judge(self, item: ReviewItem, said: dict[str, Any]) -> ReviewItem | None:
        if not said:
            return self._prompt(item)
        judged = self.review.judge(**said)
        self.judged += 1
        ((kind, value),) = said.items()
        what = value if kind != "comment" else "noted"
        self.page.line(("✓ ", styles.GOOD), f"{kind.replace('_', ' ')} {what}")
        if self.quick and kind != "comment":
            return self._show(self.review.next())
        return self._prompt(judged)

    def _note(self) -> dict[str, Any]:
        try:
            text = click.prompt("note", default="", show_default=False)
        except click.Abort:  # Ctrl-C: no note, and the review goes on
            self.page.output.line()
            return {}
        return {"comment": text} if text.strip() else {}

    # -- what is shown ------------------

    def _show(self, item: ReviewItem | None) -> ReviewItem | None:
        page = self.page
        page.heading(self._standing())
        if item is None:
            page.line(("Nothing is left in this queue.", styles.GOOD), "  b back, z undo, q stop")
            return None
        found = item.record
        page.line(
            (f"turn {found.id}", styles.TITLE),
            (f"  session {found.session_id}" if found.session_id else "", styles.FAINT),
        )
        title = f"Turn {item.number}"
        Transcript(self.page.output, full=self.full).print_turn(item.turn, title)
        print_judgments(item.judgments, page)
        for check in item.signal.checks:
            alike = "" if check.similarity is None else f", {check.similarity:.0%} alike"
            target = values.one_line(check.target)
            self.page.line(
                (f"{check.decision} ", styles.WARN),
                f"{target}{alike}",
                (f"  {values.one_line(check.reason)}", styles.FAINT),
            )
        for revision in item.signal.revisions:
            self.page.text(revision.diff, mark="  ")
        page.blank()
        return self._prompt(item)

    def _standing(self) -> str:
        now = self.review.progress
        queue = self.review.queue
        name = f"── {values.one_line(queue.name or 'queue')}: "
        return f"{name}{now.total - now.left:,} of {now.total:,} judged, {now.left:,} left ──"

    def _prompt(self, item: ReviewItem | None) -> ReviewItem | None:
        keys = "u used  m modified  r rejected  g good  x exclude  1-0 score  n note"
        self.page.line((f"{keys}  Enter next  ? keys", styles.FAINT))
        return item

    def _tell(self, text: str, item: ReviewItem | None) -> ReviewItem | None:
        self.page.line((text, styles.WARN))
        return item

    def _end(self) -> None:
        judged = values.counted(self.judged, "judgment")
        left = self.review.progress.left
        self.page.line((f"{judged}; {left:,} left to judge.", styles.FAINT))
