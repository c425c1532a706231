"""Groups: waiting segments of one table that land as one insert.

A segment holds what one process recorded in half a second, often a row or two. A part in the table
for each would drown a server, so many go together. A retry is harmless only if it repeats the same
insert under the same token, so what an insert consists of is on disk before it begins:

* a segment alone has its name for a token, and is marked (``Segment.alone``) never to join others;
* several are listed in ``groups/<token>.group``. While that exists, nobody knows whether they have
  landed: whoever ships next repeats that insert first, with that list, whatever else has come.
  Once it has landed it is renamed to ``<token>.landed``, before the first of its segments is
  deleted: ClickHouse takes a part of an insert, under the same token, for another insert.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from turnspan_clickhouse.files.atomic_files import private_folder, write_whole
from turnspan_clickhouse.spool.segments import Segment

GROUP_BYTES = 8 * 2**20
"""An insert's size at most, where it is of several segments. Far below the 256 MiB at which
ClickHouse begins to write what it has read: a group is refused whole or taken whole."""
GROUP_SEGMENTS = 2_000
_BEGUN, _LANDED = ".group", ".landed"
_TRIED = b"!"
"""A line in a list, for a try that came to nothing. No segment has such a name."""


@dataclass(frozen=True, slots=True)
class Group:
    """What lands as one insert, its deduplication token, and where it is written down.

    ``landed``: it has, and only its files are to be deleted. ``tries``: how often its insert was
    not answered in time.
    """

    segments: tuple[Segment, ...]
    token: str
    manifest: Path | None
    landed: bool = False
    tries: int = 0

    @classmethod
    def of(cls, segments: Sequence[Segment], folder: Path) -> Group:
        """A new group in a spool's folder, of at least one segment."""
        first = segments[0]
        if len(segments) == 1:
            return cls((first,), first.name, None)
        names = "\n".join(segment.name for segment in segments)
        digest = hashlib.blake2b(names.encode(), digest_size=8).hexdigest()
        token = f"{first.name}+{len(segments) - 1}-{digest}"
        return cls(tuple(segments), token, folder / "groups" / f"{token}{_BEGUN}")

    @property
    def table(self) -> str:
        """The table of all its segments; none where they are gone."""
        return self.segments[0].table if self.segments else ""

    @property
    def schema_version(self) -> int:
        """The schema all its segments were written for."""
        return self.segments[0].schema_version

    @property
    def size(self) -> int:
        """Its segments' bytes."""
        return sum(segment.size for segment in self.segments)

    @property
    def begun(self) -> bool:
        """Whether its insert may have taken place already."""
        if self.manifest is None:
            return self.segments[0].alone
        return self.landed or self.manifest.exists()

    def begin(self) -> None:
        """Write down what the insert that begins now consists of.

        Raises:
            OSError: it cannot be written, as on a full disk; segments alone can still land there.
        """
        if self.manifest is None:
            self.segments[0].mark_alone()
        elif not self.manifest.exists():
            private_folder(self.manifest.parent)
            names = "".join(f"{segment.name}\n" for segment in self.segments)
            write_whole(self.manifest, names.encode())

    def tried(self) -> None:
        """Write down that its insert was not answered in time."""
        if self.manifest is not None:
            with contextlib.suppress(OSError), self.manifest.open("ab") as file:
                file.write(_TRIED + b"\n")

    def delete(self) -> None:
        """It has landed: delete its segments, in an order that a crash cannot make unclear."""
        if self.manifest is not None and not self.landed:
            os.replace(self.manifest, self.manifest.with_suffix(_LANDED))
        for segment in self.segments:
            segment.unlink()
        if self.manifest is not None:
            self.manifest.with_suffix(_LANDED).unlink(missing_ok=True)

    def forget(self) -> None:
        """It was refused whole: its segments may go in other groups."""
        if self.manifest is not None:
            self.manifest.unlink(missing_ok=True)


def pending(folder: Path, waiting: Iterable[Segment]) -> list[Group]:
    """The groups whose insert began and did not end well, oldest first; of no segment where all
    are gone."""
    manifests = sorted(p for p in (folder / "groups").glob("*") if p.suffix in (_BEGUN, _LANDED))
    if not manifests:
        return []
    by_name = {segment.name: segment for segment in waiting}
    found: list[Group] = []
    for manifest in manifests:
        try:
            names = manifest.read_text("utf-8", "replace").splitlines()
        except FileNotFoundError:  # its insert ended this moment
            continue
        segments = tuple(by_name[name] for name in names if name in by_name)
        tries = names.count(_TRIED.decode())
        found.append(Group(segments, manifest.stem, manifest, manifest.suffix == _LANDED, tries))
    return found


def listed(folder: Path) -> frozenset[str]:
    """The names of all segments of groups whose insert began."""
    found: set[str] = set()
    for manifest in (folder / "groups").glob("*"):
        if manifest.suffix in (_BEGUN, _LANDED):
            with contextlib.suppress(FileNotFoundError):  # its insert ended this moment
                found.update(manifest.read_text("utf-8", "replace").splitlines())
    return frozenset(found)


def planned(segments: Iterable[Segment], folder: Path) -> Iterator[Group]:
    """New groups of what waits: one table, one schema version, of limited size. What was tried
    alone before comes last: it may be refused again, and is to keep nobody waiting."""
    gathered: dict[tuple[str, int], list[Segment]] = {}
    sizes: dict[tuple[str, int], int] = {}
    alone: list[Segment] = []
    for segment in segments:
        if segment.alone:
            alone.append(segment)
            continue
        if segment.size >= GROUP_BYTES:
            yield Group.of([segment], folder)
            continue
        kind = (segment.table, segment.schema_version)
        together = gathered.setdefault(kind, [])
        size = sizes.get(kind, 0) + segment.size
        if together and (size > GROUP_BYTES or len(together) >= GROUP_SEGMENTS):
            yield Group.of(together, folder)
            together = gathered[kind] = []
            size = segment.size
        together.append(segment)
        sizes[kind] = size
    for together in gathered.values():
        yield Group.of(together, folder)
    for segment in alone:
        yield Group.of([segment], folder)
