"""What tools have in common that keep their transcripts as files of JSON, in one folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any


class JsonTool:
    """A tool's folder and names; a subclass says which files are its own, and reads them.

    Args:
        kind: as ``CodingTool``.
        places: folders below the user's home.
        variable: the environment variable that names another base of the first place.
        below: where the first place is below that base.
    """

    suffixes: tuple[str, ...] = (".json", ".jsonl")

    def __init__(self, kind: str, *places: str, variable: str = "", below: str = "") -> None:
        self._kind = kind
        self._places = places
        self._variable = variable
        self._below = below

    @property
    def kind(self) -> str:
        """As ``CodingTool``."""
        return self._kind

    def folders(self, home: Path, environment: Mapping[str, str]) -> Sequence[Path]:
        """As ``CodingTool``."""
        named = environment.get(self._variable, "") if self._variable else ""
        if named:
            return (Path(named) / self._below,)
        return [home / place for place in self._places]

    def is_transcript(self, path: Path) -> bool:
        """As ``CodingTool``."""
        return path.suffix in self.suffixes

    def values(self, path: Path, value: Any) -> Sequence[Any] | None:
        """As ``CodingTool``."""
        return None

    def rows(self, path: Path) -> Iterator[Any] | None:
        """As ``CodingTool``."""
        return None
