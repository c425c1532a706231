"""SQL in files: one ``.sql`` file a statement, in the folder of a package.

A file holds two kinds of names. ``{name:Type}`` is a parameter of ClickHouse and stays. ``{name}``
is a fragment: what the caller gives for it, else the file ``fragments/name.sql``, or, where the
name begins with ``_``, the file of that name beside the statement. Lines that begin with ``--`` are
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
def statement(package: str, name: str, /, **fragments: str) -> str:
    """The SQL of ``name``.sql (``errors/shapes``) with its fragments put in.

    A fragment is SQL of ours, never a user's value: values are parameters. Raises
    ``FileNotFoundError`` where no file has that name, or a fragment is neither given nor a file.
    """
    text = resources.files(package).joinpath(f"{name}.sql").read_text(encoding="utf-8")
    topic = name.rpartition("/")[0]
    return with_fragments(package, _COMMENT.sub("", text).strip(), topic, **fragments)


def with_fragments(package: str, text: str, topic: str = "", /, **fragments: str) -> str:
    """SQL with its fragments put in, as ``statement``."""

    def fragment(found: re.Match[str]) -> str:
        name = found[1]
        if name in fragments:
            return fragments[name]
        folder = topic if name.startswith("_") else "fragments"
        before = text[: found.start()].rpartition("\n")[2]
        indent = " " * (len(before) - len(before.lstrip()))
        return statement(package, f"{folder}/{name}", **fragments).replace("\n", f"\n{indent}")

    return _FRAGMENT.sub(fragment, text)
