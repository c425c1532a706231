"""The SQL of the records: one ``.sql`` file a question, one folder a topic.

A file holds two kinds of names. ``{name:Type}`` is a parameter of ClickHouse and stays. ``{name}``
is a fragment: what the caller gives for it, else the file ``fragments/name.sql``, or, where the
name begins with ``_``, the file of that name beside the question. Lines that begin with ``--`` are
for readers and are not sent.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from typing import Final

_FRAGMENT: Final = re.compile(r"\{([a-z_]+)\}")
_COMMENT: Final = re.compile(r"^ *--.*\n", re.MULTILINE)


@lru_cache(1024)  # a turn filter of a person's is a fragment, too
def statement(name: str, **fragments: str) -> str:
    """The SQL of ``name``.sql (``errors/shapes``) with its fragments put in.

    A fragment is SQL of ours, never a user's value: values are parameters. Raises
    ``FileNotFoundError`` where no file has that name, or a fragment is neither given nor a file.
    """
    text = resources.files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8")
    return with_fragments(_COMMENT.sub("", text).strip(), name.rpartition("/")[0], **fragments)


def with_fragments(text: str, topic: str = "", **fragments: str) -> str:
    """SQL with its fragments put in, as ``statement``."""

    def fragment(found: re.Match[str]) -> str:
        name = found[1]
        if name in fragments:
            return fragments[name]
        folder = topic if name.startswith("_") else "fragments"
        before = text[: found.start()].rpartition("\n")[2]
        indent = " " * (len(before) - len(before.lstrip()))
        return statement(f"{folder}/{name}", **fragments).replace("\n", f"\n{indent}")

    return _FRAGMENT.sub(fragment, text)
