"""Files of settings in TOML."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, Final

_TOML: Final[Any] = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file. Raises ``ValueError``, whose text is the end of a sentence about it."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    try:
        return toml_tables(text)
    except ValueError as error:
        raise ValueError(f"{path} {error}") from None


def toml_tables(text: str) -> dict[str, Any]:
    """The tables of a text. Raises ``ValueError``, whose text is the end of a sentence about it."""
    try:
        read: dict[str, Any] = _TOML.loads(text)
    except _TOML.TOMLDecodeError as error:
        raise ValueError(f"is not TOML: {error}") from None
    return read
