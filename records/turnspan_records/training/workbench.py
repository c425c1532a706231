"""Where samples wait until all are there: a database and a file beside what is being written.

Lines are written in the order of prompt hashes, in which no store can give them, and a pair needs
two samples at once. Only numbers and hashes are in the database; the texts are in the file.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from dataclasses import dataclass, fields
from hashlib import blake2b
from itertools import groupby, starmap
from pathlib import Path
from typing import IO, Final

import orjson

from turnspan_records.sql import statement
from turnspan_records.training.samples import Sample, SampleText

_HEAD: Final = struct.Struct("<6I")


@dataclass(frozen=True, slots=True)
class SampleRow:
    """What the database has of a sample."""

    number: int
    project: str
    unit: str
    prompt_hash: bytes
    completion_hash: bytes
    score: float | None
    good: bool
    bad: bool
    place: int
    size: int
    cut: bool


_COLUMNS: Final = ", ".join(one.name for one in fields(SampleRow))


class Workbench:
    """The samples of one export."""

    def __init__(self, folder: Path) -> None:
        self.database = sqlite3.connect(folder / "work.sqlite")
        self.database.executescript(statement("training/workbench"))
        self._texts: IO[bytes] = (folder / "texts").open("wb", buffering=2**20)
        # Lines are written in another order than they came: a buffer would be filled anew for each,
        # which took as long as all else that writing does.
        self._written = (folder / "texts").open("rb", buffering=0)
        self._at = 0
        self.samples = 0
        self.edits: list[tuple[str, str, str]] = []
        """Project, and the units of a corrected edit and of what the agent had edited."""
        self.blocks = False
        """Whether a message of any has blocks as its content."""
        self._families: dict[bytes, bytes] = {}
        """By prompt and session, what it was found to belong with; a root has none."""

    def add(self, sample: Sample) -> None:
        """Keep a sample."""
        body = sample.written
        pieces = (
            *(body.prompt, body.completion, body.tools, body.text.encode("utf-8", "replace")),
            *(orjson.dumps(body.meta), orjson.dumps(body.evaluations)),
        )
        self._texts.write(_HEAD.pack(*map(len, pieces)))
        self._texts.writelines(pieces)
        size = _HEAD.size + sum(map(len, pieces))
        self.samples += 1
        self.blocks = self.blocks or sample.blocks
        self.database.execute(
            "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(self.samples, sample.project, sample.unit, sample.prompt_hash),
                *(sample.completion_hash, sample.score, sample.good, sample.bad, self._at),
                *(size, sample.cut, sample.attempt),
            ),
        )
        self._at += size
        scope = body.meta["session_id"] or body.meta["trace_id"] or sample.unit
        for with_ in (scope, *sample.owners):
            key = blake2b(f"{sample.project}\n{with_}".encode(), digest_size=12).digest()
            roots = sorted((self.family(sample.prompt_hash), self.family(key)))
            if roots[0] != roots[1]:
                self._families[roots[1]] = roots[0]

    def family(self, key: bytes) -> bytes:
        """What stands for all prompts and sessions that one of these hashes belongs with: those of
        a session, or an owner, belong together, and sessions that have a prompt in common."""
        root = key
        while (above := self._families.get(root)) is not None:
            root = above
        while key != root:  # the next look-up is short
            self._families[key], key = root, self._families[key]
        return root

    def order(self) -> None:
        """No more samples come; they can be read now."""
        self._texts.flush()
        self.database.executescript(statement("training/sample_indexes"))

    def prompts(self) -> Iterator[list[SampleRow]]:
        """The samples of each prompt, in the order of the prompts' hashes."""
        rows = self._rows("ORDER BY prompt_hash, project, unit")
        for _, group in groupby(rows, key=lambda row: row.prompt_hash):
            yield list(group)

    def find(self, project: str, unit: str) -> SampleRow | None:
        """The sample of a unit."""
        return next(self._rows("WHERE unit = ? AND project = ?", unit, project), None)

    def row(self, number: int) -> SampleRow:
        """A sample by its number."""
        return next(self._rows("WHERE number = ?", number))

    def _rows(self, which: str, *values: object) -> Iterator[SampleRow]:
        sql = f"SELECT {_COLUMNS} FROM sample {which}"
        return starmap(SampleRow, self.database.execute(sql, values))

    def text(self, row: SampleRow) -> SampleText:
        """The texts of a sample."""
        self._written.seek(row.place)
        whole = self._written.read(row.size)
        while len(whole) < row.size:  # a read may be cut short
            more = self._written.read(row.size - len(whole))
            if not more:
                raise EOFError(f"{row.size - len(whole)} bytes of a sample are gone")
            whole += more
        pieces: list[bytes] = []
        at = _HEAD.size
        for length in _HEAD.unpack_from(whole):
            pieces.append(whole[at : at + length])
            at += length
        prompt, completion, tools, text, meta, evaluations = pieces
        return SampleText(
            *(prompt, completion, tools, text.decode()),
            orjson.loads(meta),
            orjson.loads(evaluations),
        )

    def close(self) -> None:
        """Let both go."""
        self.database.close()
        self._texts.close()
        self._written.close()
