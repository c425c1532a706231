"""How far the transcripts of many files are imported, in some twenty bytes a file."""

from __future__ import annotations

import base64
import binascii
import os
import struct
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Final

from turnspan_clickhouse.rows.native_types import read_varint, varint
from turnspan_records.importing.sources import SourceLogError

_FIXED: Final = struct.Struct(">8s4s4s")
_VERSIONS: Final = {b"1": 3, b"2": 4}
"""How many numbers each version has of a file: the first one had no ``repeated``."""


@dataclass(frozen=True, slots=True)
class FileState:
    """What is known of a file whose import is over, as far as it was written then."""

    stamp: bytes
    """Of its size, times and inode (4 bytes): another one is to be read."""
    family: bytes
    """A hash of its first call (4 bytes): files that go on with each other have the same."""
    size: int
    """Bytes that are accounted for."""
    turns: int
    """Turns of the user that are in the store for good: the last may still grow."""
    time: int = 0
    """Of a file that says no times: when it was last written when it was first imported, in s."""
    repeated: int = 0
    """Prompts and calls, from the first on, that are another session's: its file may be gone."""

    def anew(self) -> FileState:
        """What stays known of a file that is imported from its beginning."""
        return replace(self, stamp=b"\0\0\0\0", size=0, turns=0)


NO_FAMILY: Final = b"\0\0\0\0"
BEGINNING: Final = FileState(b"", NO_FAMILY, 0, 0)


@dataclass(slots=True)
class TranscriptPosition:
    """The states of files, by a hash of their paths."""

    files: dict[bytes, FileState] = field(default_factory=dict[bytes, FileState])

    @classmethod
    def of(cls, text: str) -> TranscriptPosition:
        """What ``str(position)`` was.

        Raises:
            SourceLogError: it is none.
        """
        try:
            packed = base64.b64decode(text, validate=True)
            if packed[:1] not in (b"", *_VERSIONS):
                raise ValueError("another version")
            return cls(dict(_entries(packed)))
        except (binascii.Error, ValueError, IndexError, struct.error) as error:
            raise SourceLogError(
                f"The position of the last import cannot be read ({error}): import with --again."
            ) from None

    def __str__(self) -> str:
        packed = bytearray(b"2")
        for key, state in self.files.items():
            packed += _FIXED.pack(key, state.stamp, state.family)
            for number in (state.size, state.turns, state.time, state.repeated):
                packed += varint(number)
        return base64.b64encode(packed).decode()

    def get(self, path: Path) -> FileState:
        """What is known of a file."""
        return self.files.get(key_of(path), BEGINNING)

    def set(self, path: Path, state: FileState) -> None:
        """A file is imported so far."""
        self.files[key_of(path)] = state

    def place(self, path: Path, before: Path | None) -> None:
        """Where a new file belongs: before one that is known, or (None) behind all."""
        order, later = list(self.files), None if before is None else key_of(before)
        order.insert(order.index(later) if later in self.files else len(order), key_of(path))
        self.files = {key: self.files.get(key, BEGINNING) for key in order}

    def again(self) -> TranscriptPosition:
        """The position from which everything is imported anew, in the same order (a message is of
        the session that was imported first) and at the same times."""
        return TranscriptPosition({key: state.anew() for key, state in self.files.items()})


def key_of(path: Path) -> bytes:
    """The hash that a file is known by."""
    return blake2b(os.fsencode(path), digest_size=8).digest()


def stamp_of(path: Path) -> bytes:
    """The stamp of a file as it is now, with its database's log. Raises ``OSError``."""
    said: list[int] = []
    for each in (path, path.with_name(f"{path.name}-wal")):
        try:
            status = each.stat()
        except FileNotFoundError:
            if each is path:
                raise
            continue
        if each is not path and not status.st_size:  # a reader has made it, even this one
            continue
        said += (status.st_size, status.st_mtime_ns, status.st_ino)
    return blake2b(repr(said).encode(), digest_size=4).digest()


def family_of(message_id: str) -> bytes:
    """The family of a transcript, by its first call."""
    return blake2b(message_id.encode("utf-8", "replace"), digest_size=4).digest()


def _entries(packed: bytes) -> list[tuple[bytes, FileState]]:
    found: list[tuple[bytes, FileState]] = []
    place = 1
    while place < len(packed):
        key, stamp, family = _FIXED.unpack_from(packed, place)
        place += _FIXED.size
        numbers: list[int] = []
        for _ in range(_VERSIONS[packed[:1]]):
            number, place = read_varint(packed, place)
            numbers.append(number)
        found.append((key, FileState(stamp, family, *numbers)))
    return found
