"""Text in a terminal: indented, wrapped to the width, cut with a word about what is missing."""

from __future__ import annotations

import contextlib
from collections.abc import Generator

from rich.cells import cell_len, chop_cells
from rich.text import Text

from turnspan_console import styles
from turnspan_console.control_characters import visible
from turnspan_console.output import Output


class Page:
    """Writes blocks of text at a depth. ``full`` shows every line; a pipe always gets every line
    and whole ones."""

    def __init__(self, output: Output, *, full: bool = False) -> None:
        self.output = output
        self.full = full or not output.terminal
        self._gutter = Text()

    @contextlib.contextmanager
    def deeper(self, gutter: str = "  ", style: str = "") -> Generator[None]:
        """One level deeper: what a block writes stands behind this gutter too."""
        before = self._gutter
        self._gutter = before.copy().append(gutter, style=style)
        try:
            yield
        finally:
            self._gutter = before

    @property
    def width(self) -> int:
        """The columns behind the gutter."""
        return max(24, self.output.width - cell_len(self._gutter.plain))

    def blank(self) -> None:
        """An empty line."""
        line = self._gutter.copy()
        line.rstrip()
        self.output.line(line)

    def line(self, *pieces: tuple[str, str] | str) -> None:
        """One line of styled pieces, cut to the width on a terminal."""
        text = Text()
        for piece in pieces:
            words, style = (piece, "") if isinstance(piece, str) else piece
            text.append(visible(words), style=style or None)
        if self.output.terminal:
            text.truncate(self.width, overflow="ellipsis")
        self.output.line(self._gutter.copy().append_text(text))

    def text(self, words: str, *, mark: str = "", style: str = "", limit: int = 12) -> None:
        """A block of text behind a mark, of at most ``limit`` lines unless the page is full."""
        width = self.width - len(mark) if self.output.terminal else None
        for at, line in enumerate(block(words, width, None if self.full else limit, style)):
            text = self._gutter.copy().append(mark if at == 0 else " " * len(mark), style or None)
            text.append_text(line).rstrip()
            self.output.line(text)

    def heading(self, name: str) -> None:
        """What the lines below it are of, after an empty one."""
        self.blank()
        self.line((name, styles.HEADING))

    def section(self, name: str, words: str, *, limit: int) -> None:
        """A heading and the text it is of; nothing where there is no text."""
        if words:
            self.heading(name)
            with self.deeper():
                self.text(words, limit=limit)


def block(words: str, width: int | None, limit: int | None, style: str = "") -> list[Text]:
    """A text as lines: wrapped to a width, and with a word about what is left out after so many."""
    lines = visible(words.strip("\n").rstrip()).expandtabs(4).splitlines() or [""]
    if width is not None:
        lines = [piece for line in lines for piece in _wrap(line, width)]
    left = 0 if limit is None or len(lines) <= limit + 1 else len(lines) - limit
    made = [Text(line, style) for line in lines[: len(lines) - left]]
    if left:
        made.append(Text(f"… {left:,} more lines (--full)", styles.FAINT))
    if width is not None:
        for line in made:
            line.truncate(width, overflow="ellipsis")
    return made


def _wrap(line: str, width: int) -> list[str]:
    """A line broken at blanks, its pieces indented as it was; words too long are cut."""
    if cell_len(line) <= width:
        return [line.rstrip()]
    indent = line[: len(line) - len(line.lstrip())][: width // 2]
    room = width - len(indent)
    pieces: list[str] = []
    current = ""
    for word in line.split():
        joined = f"{current} {word}" if current else word
        if cell_len(joined) <= room:
            current = joined
            continue
        if current:
            pieces.append(current)
        *whole, current = chop_cells(word, room)
        pieces += whole
    return [indent + piece for piece in [*pieces, current]]
