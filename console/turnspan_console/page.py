"""Text on a page: indented, wrapped to the width, shortened with a word about what is left out."""

from __future__ import annotations

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
        self._gutters: list[Text] = []

    def push(self, gutter: str, style: str = "") -> None:
        """Go one level deeper: what follows is written behind this gutter too."""
        self._gutters.append(self._gutter)
        self._gutter = self._gutter.copy().append(gutter, style=style)

    def pop(self) -> None:
        """Come back up."""
        self._gutter = self._gutters.pop()

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
        if self.output.terminal and cell_len(text.plain) > self.width:
            text.truncate(self.width, overflow="ellipsis")
        self.output.line(self._gutter.copy().append_text(text))

    def text(self, words: str, *, mark: str = "", style: str = "", limit: int = 12) -> None:
        """A block of text behind a mark, of at most ``limit`` lines unless the page is full."""
        lines = self._wrapped(visible(words.strip("\n").rstrip()), len(mark)) or [""]
        left = 0 if self.full or len(lines) <= limit + 1 else len(lines) - limit
        for at, line in enumerate(lines[: len(lines) - left]):
            text = self._gutter.copy().append(mark if at == 0 else " " * len(mark), style or None)
            text.append(line, style or None)
            text.rstrip()
            self.output.line(text)
        if left:
            self.line((f"{' ' * len(mark)}… {left:,} more lines (--full)", styles.FAINT))

    def section(self, name: str, words: str, *, limit: int) -> None:
        """A heading and the text it is of; nothing where there is no text."""
        if words:
            self.blank()
            self.line((name, styles.HEADING))
            self.push("  ")
            self.text(words, limit=limit)
            self.pop()

    def _wrapped(self, words: str, taken: int) -> list[str]:
        lines = words.expandtabs(4).splitlines()
        if not self.output.terminal:
            return lines
        return [piece for line in lines for piece in wrap(line, self.width - taken)]


def wrap(line: str, width: int) -> list[str]:
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
