"""A source that is files: read once to see what belongs together, then group by group."""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Protocol

import orjson

from turnspan.content.model import as_dict
from turnspan.runtime.guard import errors
from turnspan_records.importing.files.groups import Groups
from turnspan_records.importing.files.limits import ReadLimits
from turnspan_records.importing.files.source_file import SourceFile, SourceLine, loaded
from turnspan_records.importing.sources import MAX_PROBLEMS, Part, Problem, SourceLogError


@dataclass(frozen=True, slots=True)
class Reached:
    """What is known of one file."""

    done: int = 0
    """All that stands before this byte is imported."""
    target: int = 0
    """Where the file ended for the import that is under way."""
    modified: int = 0
    """When the file was last written, in ns, as its first import found it: lines that say no time
    of their own have this one ever after."""


@dataclass(frozen=True, slots=True)
class FilePosition:
    """How far all files are. Of the import under way the first ``groups`` groups are imported."""

    files: dict[str, Reached] = field(default_factory=dict[str, Reached])
    """By ``SourceFile.key``."""
    groups: int = 0

    @classmethod
    def of(cls, text: str) -> FilePosition:
        """What ``str(position)`` said; the beginning where that was nothing."""
        said: dict[str, Any] = orjson.loads(text) if text else {}
        told = as_dict(said.get("files")) or {}
        files = {key: Reached(*(int(number) for number in each)) for key, each in told.items()}
        return cls(files, int(said.get("groups") or 0))

    def __str__(self) -> str:
        files = {key: [each.done, each.target, each.modified] for key, each in self.files.items()}
        return orjson.dumps({"files": files, "groups": self.groups}).decode()

    def began(self, files: list[SourceFile], ends: list[int]) -> FilePosition:
        """The position at which an import of these files begins; one that was cut goes on."""
        reached: dict[str, Reached] = {}
        for file, end in zip(files, ends, strict=True):
            known = self.files.get(file.key, Reached())
            if end < max(known.done, known.target):  # another file that begins alike
                known = Reached(modified=known.modified)
            reached[file.key] = replace(known, target=end, modified=known.modified or file.modified)
        return FilePosition(reached, 0)

    def over(self) -> FilePosition:
        """The position when all groups are imported."""
        files = {key: replace(each, done=each.target) for key, each in self.files.items()}
        return FilePosition(files, 0)

    def again(self) -> FilePosition:
        """The position from which everything is imported anew, at the same times."""
        files = {key: Reached(modified=each.modified) for key, each in self.files.items()}
        return FilePosition(files, 0)


_SHOWN: Final = 500
"""Characters of a line that are shown where it is not understood."""
_CACHE: Final = 256 * 2**20
"""Bytes of memory for lines that are remembered as they were read: a line may have many groups'
records."""
_TOO_DEEP: Final = "Recursion limit"
"""What orjson says where it cannot write what it has read."""
_FEW: Final = 32
_DEFAULT: Final = ReadLimits()
UNREADABLE: Final = "not understood: see the problems"


class NotUnderstoodError(Exception):
    """A line is JSON, and none of what its kind may be; ``str(error)`` says what is wrong."""


@dataclass(frozen=True, slots=True)
class Read:
    """A line and what it says."""

    line: SourceLine
    place: int
    """Its number among all lines of the source, from 0."""
    value: Any
    time: int
    """When it happened if it does not say itself: the file's time and the order of its lines."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Records of a line that are not imported."""

    why: str
    number: int = 1
    expected: bool = False
    """Whether that is as it should be, and no problem."""


class Format(Protocol):
    """How the lines of a kind of file read."""

    kind: str
    tables: bool
    """Whether the files may be CSV or Parquet."""
    own_projects: bool
    """As ``SourceLog.own_projects``."""

    def index(self, read: Read, groups: Groups) -> Sequence[LeftOut]:
        """Say which groups a line has something of; returns what of it is of none.

        Raises:
            NotUnderstoodError: it is nothing that is known.
            SourceLogError: no line of its file can be taken.
        """
        ...

    def part(self, lines: Sequence[Read], keys: set[bytes]) -> Part:
        """What a group says; ``lines`` may have records of others as well."""
        ...


class FileLog:
    """The files of a source. ``SourceLog`` says what its methods are for."""

    def __init__(
        self, format_: Format, paths: Sequence[Path], limits: ReadLimits = _DEFAULT
    ) -> None:
        """Raises ``SourceLogError`` where a file cannot be read."""
        self._format = format_
        self.kind, self.own_projects = format_.kind, format_.own_projects
        self._paths = sorted({path.resolve(): path for path in paths}.values(), key=str)
        self._files: list[SourceFile] = []
        self._limits = left = limits
        try:
            for path in self._paths:
                self._files.append(SourceFile(path, left, tables=format_.tables))
                left = replace(left, disk=left.disk - self._files[-1].made)
        except BaseException:
            self.close()
            raise
        seen: Counter[str] = Counter()  # files that begin alike are told apart by their order
        for file in self._files:
            seen[file.key] += 1
            if seen[file.key] > 1:
                file.key = f"{file.key}.{seen[file.key]}"
        self._groups = Groups()
        self._file_of = array("L")
        self._offsets = array("q")
        self._numbers = array("q")
        self._weights = array("q")
        self._position: FilePosition | None = None
        self._bad: list[tuple[int, Problem]] = []
        self._left_out: list[tuple[int, LeftOut]] = []
        self._more_bad: Counter[str] = Counter()
        self._cache: OrderedDict[int, Read] = OrderedDict()
        self._cached = 0

    @property
    def identity(self) -> str:
        """The path; of several files how many there are, and what tells them from others."""
        paths = [str(path.resolve()) for path in self._paths]
        if len(paths) == 1:
            return paths[0]
        digest = blake2b("\0".join(paths).encode("utf-8", "surrogateescape"), digest_size=6)
        return f"{len(paths)} files from {paths[0]} ({digest.hexdigest()})"

    def again(self, position: str) -> str:
        """The position from which all is imported anew; the times of the first import stay."""
        return str(FilePosition.of(position).again())

    def total(self, after: str) -> int:
        """Lines that are not imported yet."""
        known = FilePosition.of(after)
        self._read_all(known)
        return sum(self._is_untold(place, known) for place in range(len(self._offsets)))

    def parts(self, after: str) -> Iterator[Part]:
        """The groups of which something is new, in the order of their first lines."""
        known = FilePosition.of(after)
        self._read_all(known)
        assert self._position is not None
        position = self._position
        yield from self._problems(known)
        for root in self._groups.roots():
            lines = self._groups.lines(root)
            if not lines or not self._is_new(root, lines, known):
                continue
            part = self._part(root, lines)
            if len(self._files) <= _FEW or root % _FEW == 0:  # it has every file's
                part.position = str(replace(position, groups=root + 1))
            yield part
        yield Part(position=str(position.over()))

    def close(self) -> None:
        """Let the files go."""
        for file in self._files:
            file.close()

    # -- what belongs together ------------------

    def _read_all(self, known: FilePosition) -> None:
        if self._position is not None:
            return
        ends = [file.size for file in self._files]
        self._position = known.began(self._files, ends)
        for number, (file, end) in enumerate(zip(self._files, ends, strict=True)):
            for line in file.lines():
                if line.offset >= end:
                    break
                if not self._index(line, number):
                    ends[number] = line.offset
                if not self._limits.fits(
                    len(self._offsets), len(self._left_out), len(self._groups)
                ):
                    raise SourceLogError(
                        f"{line} is a line too many: {self._limits.too_much}, with those before."
                    )
        self._position = known.began(self._files, ends)

    def _index(self, line: SourceLine, file_number: int) -> bool:
        """Take note of a line; whether it is whole, as what is still being written is not."""
        place = len(self._offsets)
        self._file_of.append(file_number)
        self._offsets.append(line.offset)
        self._numbers.append(line.number)
        self._weights.append(line.file.weight(line))
        if self._weights[place] > self._limits.memory:
            self._not_understood(line, place, self._limits.too_much)
            return line.whole
        try:
            value = loaded(line.raw)
        except ValueError as error:
            why = "it is not JSON" if line.whole else "it is not JSON, or its end is not there"
            self._not_understood(line, place, f"{why} ({error})")
            return line.whole
        try:
            for left in self._format.index(self._as_read(line, place, value), self._groups):
                self._left_out.append((place, left))
        except SourceLogError:
            raise
        except NotUnderstoodError as error:
            self._not_understood(line, place, str(error))
        except Exception as error:  # noqa: BLE001  a line of any shape costs only itself
            self._not_understood(line, place, self._why(error))
        return True

    def _why(self, error: Exception) -> str:
        """What is wrong with lines at which reading failed."""
        if isinstance(error, RecursionError) or _TOO_DEEP in str(error):
            return "it is nested too deep"
        errors.record(f"import {self.kind}", error)
        return f"it cannot be read ({error!r})"

    def _not_understood(self, line: SourceLine, place: int, why: str) -> None:
        if len(self._bad) >= MAX_PROBLEMS * 2:
            self._more_bad[line.file.name] += 1
            return
        raw = line.raw[: _SHOWN * 4].decode("utf-8", "replace").strip()
        shown = raw if len(raw) <= _SHOWN else f"{raw[:_SHOWN]}…"
        self._bad.append((place, Problem(str(line), f"{why}, and was left out: {shown}")))

    def _problems(self, known: FilePosition) -> Iterator[Part]:
        """The lines that are not understood and have not been told of."""
        part = Part()
        for file in self._files:
            if file.cut:
                why = f"{file.cut}; only what stands before that was read"
                part.problems.append(Problem(file.name, why))
                part.seen[file.name, UNREADABLE] += 1
        for place, problem in self._bad:
            if self._is_untold(place, known):
                part.problems.append(problem)
                part.seen[self._files[self._file_of[place]].name, UNREADABLE] += 1
        for place, left in self._left_out:
            if not self._is_untold(place, known):
                continue
            file = self._files[self._file_of[place]]
            part.seen[file.name, f"left out: {left.why}"] += left.number
            if not left.expected:
                row = f"{file.name}:{self._numbers[place]}"
                part.problems += [Problem(row, f"{left.why}: it was left out")] * left.number
        for name, count in self._more_bad.items():
            part.problems += [Problem(name, "a further line that is not understood")] * count
            part.seen[name, UNREADABLE] += count
        if part.seen:
            yield part

    def _is_untold(self, place: int, known: FilePosition) -> bool:
        done = known.files.get(self._files[self._file_of[place]].key)
        return done is None or self._offsets[place] >= done.done

    def _is_new(self, root: int, lines: list[int], known: FilePosition) -> bool:
        """Whether a line of a group was not there when it was imported, or it never was."""
        for place in lines:
            reached = known.files.get(self._files[self._file_of[place]].key)
            if reached is None:
                return True
            offset = self._offsets[place]
            before = reached.target if root < known.groups else reached.done
            if offset >= max(before, reached.done):
                return True
        return False

    # -- a group ------------------

    def _part(self, root: int, lines: list[int]) -> Part:
        if sum(self._weights[place] for place in lines) > self._limits.memory:
            why = f"with the lines of its conversation or trace, {self._limits.too_much}"
        else:
            try:
                reads = [self._read(place) for place in lines]
                return self._format.part(reads, self._groups.keys(root))
            except Exception as error:  # noqa: BLE001  a group of any shape costs only itself
                why = self._why(error)
        part = Part()
        told: dict[str, Problem] = {}
        for number, place in enumerate(lines):
            name = self._files[self._file_of[place]].name
            row = f"{name}:{self._numbers[place]}" if number < MAX_PROBLEMS else name
            problem = told.setdefault(row, Problem(row, f"{why}, and was left out"))
            part.problems.append(problem)
            part.seen[name, UNREADABLE] += 1
        return part

    def _read(self, place: int) -> Read:
        found = self._cache.get(place)
        if found is not None:
            self._cache.move_to_end(place)
            return found
        file = self._files[self._file_of[place]]
        line = file.line_at(self._offsets[place], self._numbers[place])
        found = self._cache[place] = self._as_read(line, place, loaded(line.raw))
        self._cached += self._weights[place]
        while self._cached > _CACHE and len(self._cache) > 1:
            self._cached -= self._weights[self._cache.popitem(last=False)[0]]
        return found

    def _as_read(self, line: SourceLine, place: int, value: Any) -> Read:
        assert self._position is not None
        time = self._position.files[line.file.key].modified
        return Read(line, place, value, time + line.number * 10**6)
