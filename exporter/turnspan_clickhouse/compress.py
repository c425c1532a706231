"""Inserts on their way to a server: zstd, a tenth of the bytes, with a checksum of the content.

The driver brings a zstd; which one depends on its version and Python's.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

_LEVEL = 1


def compressed(block: bytes) -> tuple[bytes, str | None]:
    """The block as it travels and its Content-Encoding; as it is where there is no zstd."""
    compress = _zstd()
    return (block, None) if compress is None else (compress(block), "zstd")


@cache
def _zstd() -> Callable[[bytes], bytes] | None:
    for name in ("compression.zstd", "backports.zstd", "zstandard"):
        try:
            return _function(importlib.import_module(name))
        except ImportError:
            continue
    return None


def _function(module: Any) -> Callable[[bytes], bytes]:
    if hasattr(module, "ZstdCompressionParameters"):  # zstandard: an object is one thread's
        return lambda block: bytes(
            module.ZstdCompressor(level=_LEVEL, write_checksum=True).compress(block)
        )
    parameter = module.CompressionParameter
    options = {parameter.compression_level: _LEVEL, parameter.checksum_flag: 1}
    return lambda block: bytes(module.compress(block, options=options))
