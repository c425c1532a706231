"""zstd: inserts on their way to a server, a tenth of the bytes, with a checksum of the content; and
what was sent to a receiver.

The driver brings a zstd; which one depends on its version and Python's.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, Protocol

_LEVEL = 1
_PIECE = 256
"""Bytes that zstandard is given at once: it cannot be told how much to make, and may make 128 KiB
of four of them."""


def compressed(block: bytes) -> tuple[bytes, str | None]:
    """The block as it travels and its Content-Encoding; as it is where there is no zstd."""
    module = _module()
    if module is None:
        return block, None
    if hasattr(module, "ZstdCompressionParameters"):  # zstandard: an object is one thread's
        engine = module.ZstdCompressor(level=_LEVEL, write_checksum=True)
        return bytes(engine.compress(block)), "zstd"
    parameter = module.CompressionParameter
    options = {parameter.compression_level: _LEVEL, parameter.checksum_flag: 1}
    return bytes(module.compress(block, options=options)), "zstd"


def prepare() -> None:
    """Find the zstd that there is, which is remembered."""
    _module()


class Decompressor(Protocol):
    """One stream, as zlib's objects have it."""

    def decompress(self, data: bytes, most: int, /) -> bytes:
        """About ``most`` bytes of what the data says, or all of it where that is less."""
        ...

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""
        ...

    @property
    def unused_data(self) -> bytes:
        """What came behind its end."""
        ...


def decompressor() -> Decompressor | None:
    """Something that decompresses one zstd stream; None where there is no zstd."""
    module = _module()
    if module is None:
        return None
    if hasattr(module, "ZstdCompressionParameters"):
        return _Zstandard(module)
    made: Decompressor = module.ZstdDecompressor()
    return made


def errors() -> tuple[type[Exception], ...]:
    """What a decompressor raises for what is not zstd."""
    module = _module()
    return () if module is None else (module.ZstdError,)


class _Zstandard:
    """The package zstandard's decompressor."""

    def __init__(self, module: Any) -> None:
        self._engine = module.ZstdDecompressor(max_window_size=2**27).decompressobj()
        self.eof = False
        self.unused_data = b""

    def decompress(self, data: bytes, most: int, /) -> bytes:
        out: list[bytes] = []
        for start in range(0, len(data), _PIECE):
            out.append(self._engine.decompress(data[start : start + _PIECE]))
            most -= len(out[-1])
            if self._engine.eof:
                self.eof = True
                self.unused_data = bytes(self._engine.unused_data) + data[start + _PIECE :]
            if self.eof or most <= 0:
                break
        return b"".join(out)


@cache
def _module() -> Any:
    for name in ("compression.zstd", "backports.zstd", "zstandard"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None
