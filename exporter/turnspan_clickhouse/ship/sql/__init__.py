"""The longer statements that landing sends, a file each."""

from __future__ import annotations

from functools import cache
from importlib import resources


def statement(name: str, **pieces: str) -> str:
    """The statement of a file, with pieces of SQL in the place of their names."""
    text = _text(name)
    for piece, sql in pieces.items():
        text = text.replace(f"{{{piece}}}", sql)
    return text


@cache
def _text(name: str) -> str:
    return resources.files(__name__).joinpath(f"{name}.sql").read_text("utf-8")
