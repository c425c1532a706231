"""gzip and zstd, a piece at a time; and what is packed, or written, in a way that is not read."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from turnspan_clickhouse.store import zstd
from turnspan_records.importing.sources import SourceLogError

_PIECE: Final = 2**9
"""Bytes that are unpacked at once: zstd may make 16 MiB of so many, and of a piece that is damaged
nothing is had."""
_BROKEN: Final[tuple[type[Exception], ...]] = (zlib.error, *zstd.errors())
_MAGIC: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_ARCHIVES: Final = {b"\xfd7zXZ\0": "xz", b"PK\x03\x04": "zip", b"7z\xbc\xaf": "7z"}
_HEAD: Final = 512
_WIDE: Final = {"0101": "UTF-16LE", "1010": "UTF-16BE", "0111": "UTF-32LE", "1110": "UTF-32BE"}
"""Which of the first four bytes are zero, where ASCII characters are written so."""
_MARKS: Final = {b"\xff\xfe\0\0": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


class CutError(Exception):
    """A file ends before what it holds does; ``str(error)`` says how. All before that was given."""


def packing_of(head: bytes) -> str:
    """How a file is packed that begins so; empty for one that is not."""
    return _named(head, _MAGIC)


def check_text(path: Path, file: IO[bytes]) -> None:
    """Raises ``SourceLogError`` where a file is of a kind that is never read, with what to do."""
    head = file.read(_HEAD)
    file.seek(0)
    archive = "tar" if head[257:262] == b"ustar" else _named(head, _ARCHIVES)
    if head[4:10] == b"1AY&SY":
        archive = "bzip2"
    if archive:
        raise SourceLogError(f"The file {path} is packed as {archive}: unpack it first.")
    wide = _named(head, _MARKS) or _WIDE.get("".join(str(int(byte == 0)) for byte in head[:4]), "")
    if wide:
        made = f"iconv -f {wide} -t UTF-8"
        raise SourceLogError(f"The file {path} is {wide}: write it as UTF-8 first ({made}).")


def _named(head: bytes, names: dict[bytes, str]) -> str:
    return next((name for magic, name in names.items() if head.startswith(magic)), "")


def unpack(path: Path, packed: IO[bytes], packing: str) -> Iterator[bytes]:
    """What a packed file holds; several streams one after the other are one.

    Raises:
        SourceLogError: it is something else, or there is no zstd here.
        CutError: it is damaged behind what was given.
    """
    engine: zstd.Decompressor | None = None
    rest = b""
    some = False
    while data := rest or packed.read(_PIECE):
        engine = engine or _engine(path, packing)
        try:
            piece = engine.decompress(data, 0 if packing == "gzip" else 2**62)  # all of it
        except _BROKEN as error:
            if not some:
                raise SourceLogError(f"The file {path} is not {packing}: {error}.") from None
            raise CutError(f"the file is damaged: its {packing} goes wrong ({error})") from None
        if piece:
            some = True
            yield piece
        rest = b""
        if engine.eof:
            rest, engine = engine.unused_data, None
    if engine is not None:
        if not some:
            raise SourceLogError(f"The file {path} is cut before anything in it can be read.")
        raise CutError(f"the file is cut: its {packing} stream does not end")


def _engine(path: Path, packing: str) -> zstd.Decompressor:
    if packing == "gzip":
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    engine = zstd.decompressor()
    if engine is None:
        raise SourceLogError(
            f"To read {path}: pip install backports.zstd, or unpack it with zstd -d."
        )
    return engine
