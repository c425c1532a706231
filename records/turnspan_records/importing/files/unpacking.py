"""gzip and zstd, a piece at a time."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from turnspan_clickhouse.store import zstd
from turnspan_records.importing.sources import SourceLogError

_PIECE: Final = 2**14
"""Bytes that are unpacked at once: zeroes are a thousandth of their size, packed."""
_BROKEN: Final[tuple[type[Exception], ...]] = (zlib.error, *zstd.errors())
_MAGIC: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def packing_of(head: bytes) -> str:
    """How a file is packed that begins so; empty for one that is not."""
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")


def unpack(path: Path, packed: IO[bytes], packing: str) -> Iterator[bytes]:
    """What a packed file holds; several streams one after the other are one.

    Raises:
        SourceLogError: it is damaged, or there is no zstd here.
    """
    engine: zstd.Decompressor | None = None
    rest = b""
    while True:
        data = rest or packed.read(_PIECE)
        if not data:
            break
        engine = engine or _engine(path, packing)
        try:
            piece = engine.decompress(data, 0 if packing == "gzip" else 2**62)  # all of it
        except _BROKEN as error:
            raise SourceLogError(f"The file {path} is not {packing}: {error}.") from None
        if piece:
            yield piece
        rest = b""
        if engine.eof:
            rest, engine = engine.unused_data, None
    if engine is not None:
        raise SourceLogError(f"The file {path} is cut: its {packing} stream does not end.")


def _engine(path: Path, packing: str) -> zstd.Decompressor:
    if packing == "gzip":
        return zlib.decompressobj(16 + zlib.MAX_WBITS)
    engine = zstd.decompressor()
    if engine is None:
        raise SourceLogError(
            f"To read {path}: pip install backports.zstd, or unpack it with zstd -d."
        )
    return engine
