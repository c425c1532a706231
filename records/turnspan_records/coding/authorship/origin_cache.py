"""The lines' origins of repositories on disk, so that only new commits are read.

A file is of one commit of a repository, which its first commit stands for: clones and worktrees
share it. It appears whole, whichever of several processes makes it; one that cannot be read is made
anew. It holds text of the repository: the folder is its user's alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from array import array
from dataclasses import astuple
from pathlib import Path
from typing import Any, Final

import platformdirs

from turnspan_clickhouse.files.atomic_files import private_folder, write_whole
from turnspan_clickhouse.store.dsn import temporary_folder
from turnspan_records.coding.authorship.commit_changes import Commit
from turnspan_records.coding.authorship.line_origins import Arrival, LineOrigins, line_origins
from turnspan_records.quality.git_command import Repository

_FORMAT: Final = 2
_KEPT: Final = 4
"""Files of a repository that are kept: the newest."""


def cache_folder() -> Path:
    """The folder of these files, in the user's cache folder."""
    with contextlib.suppress(RuntimeError, KeyError, OSError):
        found = Path(platformdirs.user_cache_dir("turnspan", appauthor=False))
        if found.is_absolute():
            return found / "origins"
    return temporary_folder() / "origins"


def known_origins(repository: Repository) -> LineOrigins:
    """The origins of the lines at ``HEAD``, by what is known of it or of a commit before.

    Raises:
        SourceError: the repository cannot be asked.
    """
    folder = cache_folder()
    start = f"{_FORMAT}-{repository.first_commit[:16]}-"
    head = repository.text("rev-parse", "--verify", "HEAD^{commit}").strip()
    here = folder / f"{start}{head}"
    if (known := _read(here)) is not None:
        return known
    files = sorted(folder.glob(f"{start}*"), key=_changed, reverse=True)
    earlier = (one for one in files if repository.descends(head, one.name.removeprefix(start)))
    known = next((one for path in earlier if (one := _read(path)) is not None), None)
    made = line_origins(repository, head, known)
    with contextlib.suppress(OSError):  # without a cache it only takes longer
        private_folder(folder)
        own = folder / f".{here.name}.{os.getpid()}"
        write_whole(own, _content(made))
        os.replace(own, here)
        for old in files[_KEPT - 1 :]:
            old.unlink(missing_ok=True)
    return made


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # another process removed it
        return 0.0


def _content(made: LineOrigins) -> bytes:
    value = {
        "head": made.head,
        "commits": [astuple(one) for one in made.commits],
        "arrivals": [astuple(one) for one in made.arrivals],
        "arrivals_of": made.arrivals_of.tolist(),
        "parents": made.parents.tolist(),
        "texts": made.texts,
        "files": {path: [blob, lines.tolist()] for path, (blob, lines) in made.files.items()},
        "gone": [[arrival, keys] for arrival, keys in made.gone.items()],
    }
    return zlib.compress(json.dumps(value).encode("ascii"), 1)


def _read(path: Path) -> LineOrigins | None:
    try:
        value: dict[str, Any] = json.loads(zlib.decompress(path.read_bytes()))
        return LineOrigins(
            value["head"],
            [Commit(*one) for one in value["commits"]],
            [Arrival(*one) for one in value["arrivals"]],
            array("l", value["arrivals_of"]),
            array("l", value["parents"]),
            value["texts"],
            {name: (blob, array("l", lines)) for name, (blob, lines) in value["files"].items()},
            dict(value["gone"]),
        )
    except (OSError, ValueError, KeyError, TypeError, zlib.error):
        return None
