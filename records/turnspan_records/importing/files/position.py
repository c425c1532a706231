"""How far an import of files has come, as text: it is stored beside the records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from turnspan.content.model import as_dict
from turnspan_records.importing.files.source_file import SourceFile


@dataclass(frozen=True, slots=True)
class Reached:
    """What is known of one file."""

    done: int = 0
    """All that stands before this byte is imported."""
    target: int = 0
    """Where the file ended for the import that is under way."""
    modified: int = 0
    """When the file was last written, in ns, as its first import found it: lines that say no time
    of their own have this one ever after."""


@dataclass(frozen=True, slots=True)
class FilePosition:
    """How far all files are. Of the import under way the first ``groups`` groups are imported."""

    files: dict[str, Reached] = field(default_factory=dict[str, Reached])
    """By ``SourceFile.key``."""
    groups: int = 0

    @classmethod
    def of(cls, text: str) -> FilePosition:
        """What ``str(position)`` said; the beginning where that was nothing."""
        said: dict[str, Any] = orjson.loads(text) if text else {}
        told = as_dict(said.get("files")) or {}
        files = {key: Reached(*(int(number) for number in each)) for key, each in told.items()}
        return cls(files, int(said.get("groups") or 0))

    def __str__(self) -> str:
        files = {key: [each.done, each.target, each.modified] for key, each in self.files.items()}
        return orjson.dumps({"files": files, "groups": self.groups}).decode()

    def began(self, files: list[SourceFile], ends: list[int]) -> FilePosition:
        """The position at which an import of these files begins; one that was cut goes on."""
        reached: dict[str, Reached] = {}
        for file, end in zip(files, ends, strict=True):
            known = self.files.get(file.key, Reached())
            if end < max(known.done, known.target):  # another file that begins alike
                known = Reached(modified=known.modified)
            reached[file.key] = replace(known, target=end, modified=known.modified or file.modified)
        return FilePosition(reached, 0)

    def over(self) -> FilePosition:
        """The position when all groups are imported."""
        files = {key: replace(each, done=each.target) for key, each in self.files.items()}
        return FilePosition(files, 0)

    def again(self) -> FilePosition:
        """The position from which everything is imported anew, at the same times."""
        files = {key: Reached(modified=each.modified) for key, each in self.files.items()}
        return FilePosition(files, 0)
