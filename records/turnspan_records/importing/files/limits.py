"""How much an import of files may take, whatever the files hold."""

from __future__ import annotations

from dataclasses import dataclass

_LINE, _LEFT_OUT, _GROUP = 64, 200, 400
"""Bytes that are kept of each while the files are read."""


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Bytes, about: memory is what JSON that is read takes as values, not as text."""

    memory: int = 2**30
    """Of a line, a document, the lines of one group, or what is known of all lines."""
    disk: int = 16 * 2**30
    """Of the temporary files that all files of a source are made into."""

    @property
    def line(self) -> int:
        """Bytes that a line may have if it is nothing but text."""
        return max(1, self.memory // 6)

    @property
    def too_much(self) -> str:
        """What is wrong with what is larger."""
        return (
            f"it takes more than {self.memory:,} bytes of memory to read (raise --max-memory-bytes;"
            " with --again, if the rest is imported)"
        )

    def fits(self, lines: int, left_out: int, groups: int) -> bool:
        """Whether so much of a source can be kept in mind."""
        return lines * _LINE + left_out * _LEFT_OUT + groups * _GROUP <= self.memory


def weight(text: bytes) -> int:
    """Bytes of memory that reading JSON takes at most: of its text, and of the objects in it."""
    values = text.count(b",") + text.count(b"[")
    return 6 * len(text) + 70 * values + 250 * text.count(b"{")
