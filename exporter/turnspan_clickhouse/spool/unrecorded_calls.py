"""What each process of a spool saw that nothing recorded, in files that other processes read.

``unrecorded/<writer's token>.json`` in the spool folder, written when it changes, by a process that
saw anything at all. Kept for a week after the last call.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, cast

from turnspan.wire.gaps import Unrecorded
from turnspan_clickhouse.files.atomic_files import private_folder, write_whole

FOLDER: Final = "unrecorded"
KEPT_SECONDS: Final = 7 * 86_400.0
_MAX_FILES: Final = 1_000


def write_unrecorded(spool: Path, token: str, seen: Iterable[Unrecorded]) -> None:
    """Write or replace what a process saw.

    Raises:
        OSError: the spool folder cannot be written.
    """
    private_folder(spool)
    folder = private_folder(spool / FOLDER)
    path = folder / f"{token}.json"
    if not path.exists():
        forget_old(folder)
    write_whole(path, json.dumps([asdict(one) for one in seen]).encode())


def read_unrecorded(spool: Path) -> list[Unrecorded]:
    """What all processes saw in the last week, added up, most often first."""
    oldest = time.time() - KEPT_SECONDS
    found: dict[tuple[str, str], Unrecorded] = {}
    for path in (spool / FOLDER).glob("*.json"):
        for one in _read(path):
            if one.last < oldest:
                continue
            known = found.setdefault((one.library, one.host), one)
            if known is not one:
                known.calls += one.calls
                if one.last > known.last:
                    known.last, known.remedy = one.last, one.remedy
    return sorted(found.values(), key=lambda one: -one.calls)


def _read(path: Path) -> list[Unrecorded]:
    try:
        told = cast("list[Mapping[str, Any]]", json.loads(path.read_text("utf-8")))
        return [Unrecorded(**one) for one in told]
    except (OSError, ValueError, TypeError):  # being removed; or of another version
        return []


def forget_old(folder: Path) -> None:
    """Remove the files of processes that wrote theirs long ago, or of too many."""
    dated: list[tuple[float, Path]] = []
    for path in folder.glob("*.json"):
        with contextlib.suppress(OSError):
            dated.append((path.stat().st_mtime, path))
    dated.sort(reverse=True)
    oldest = time.time() - KEPT_SECONDS
    for place, (changed, path) in enumerate(dated):
        if changed < oldest or place >= _MAX_FILES:
            with contextlib.suppress(OSError):
                path.unlink()
