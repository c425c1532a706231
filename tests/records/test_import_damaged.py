"""Importing files that are cut, damaged, packed or written in other ways: what is readable is read,
and what is not is said."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.import_kinds import FORMATS, KINDS, MADE, observation, text_of, zstd
from support.imported import Imported, import_files
from support.representatives import few
from turnspan_records.importing.sources import SourceLogError

COUNT = 400


def streams(text: bytes) -> bytes:
    """As logs are rotated: several gzip streams one after the other."""
    lines = text.splitlines(keepends=True)
    return b"".join(gzip.compress(b"".join(lines[n : n + 50])) for n in range(0, len(lines), 50))


def imported(kind: str, path: Path, data: bytes) -> Imported:
    path.write_bytes(data)
    return import_files(FORMATS[kind](), [path])


@pytest.mark.parametrize("kind", few(KINDS, ("openai-jsonl", "otlp-json")))
@pytest.mark.parametrize("pack", few([gzip.compress, zstd, streams], [zstd]))
def test_a_cut_file_gives_its_readable_lines(
    tmp_path: Path, kind: str, pack: Callable[[bytes], bytes]
) -> None:
    """What was read of it is what was read of the whole file; where it was cut is said, and when
    the whole file comes it goes on from there."""
    text = text_of(kind, COUNT)
    whole = imported(kind, tmp_path / "whole", text)
    packed = pack(text)
    path = tmp_path / "cut.jsonl"
    cut = imported(kind, path, packed[: len(packed) * 9 // 10])

    assert not whole.problems
    assert 0 < len(cut.calls) < len(whole.calls) == COUNT
    assert "the file is cut" in cut.problems[0].reason
    assert "only what stands before that was read" in cut.problems[0].reason
    assert len(cut.problems) <= 2  # the line that the cut is in
    assert {call.span_id for call in cut.calls} < {call.span_id for call in whole.calls}

    path.write_bytes(packed)
    rest = import_files(FORMATS[kind](), [path], after=cut.positions[-1])
    assert not rest.problems
    assert len(rest.calls) + len(cut.calls) == COUNT


@pytest.mark.parametrize("pack", [gzip.compress, zstd, streams])
def test_a_damaged_file_gives_the_lines_before_the_damage(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    packed = pack(text_of("openai-jsonl", COUNT))
    place = len(packed) * 9 // 10
    other = bytes(byte ^ 0x55 for byte in packed[place : place + 100])

    made = imported("openai-jsonl", tmp_path / "x", packed[:place] + other + packed[place + 100 :])

    assert len(made.calls) > COUNT // 2
    assert "the file is damaged" in made.problems[0].reason


@pytest.mark.parametrize("kind", KINDS)
def test_the_last_line_that_is_cut_is_told_of(tmp_path: Path, kind: str) -> None:
    made = imported(kind, tmp_path / "x.jsonl", text_of(kind, 3)[:-40])

    assert len(made.calls) == 2
    (problem,) = made.problems
    assert problem.row == "x.jsonl:3"
    assert "its end is not there" in problem.reason


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("end", [-40, -2])
def test_an_array_that_is_cut_gives_its_elements(tmp_path: Path, kind: str, end: int) -> None:
    made_of = [MADE[kind](n) for n in range(3)]
    text = json.dumps(made_of, indent=1).encode()

    made = imported(kind, tmp_path / "x.json", text[:end])

    assert len(made.calls) == (2 if end < -2 else 3)
    (problem,) = made.problems
    assert "the array has no end" in problem.reason


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_row_of_csv_that_is_cut_makes_no_record(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    rows = [observation(n) for n in range(300)]
    header = ",".join(rows[0])
    text = "\n".join([header, *(",".join(map(str, row.values())) for row in rows)]).encode()
    packed = pack(text)

    made = imported("langfuse", tmp_path / "x.csv", packed[: len(packed) - 200])

    assert 250 < len(made.calls) < 300
    assert not [call for call in made.calls if not call.output_messages]
    assert "cut" in made.problems[0].reason


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_other_encodings_are_named(
    tmp_path: Path, kind: str, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    text = text_of(kind, 2).decode().encode(encoding)

    with pytest.raises(SourceLogError, match=r"is UTF-(16|32).*iconv -f UTF-"):
        imported(kind, tmp_path / "x.jsonl", pack(text))


def zipped(text: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("x.jsonl", text)
    return made.getvalue()


def tarred(mode: Any) -> Callable[[bytes], bytes]:
    def pack(text: bytes) -> bytes:
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode=mode) as archive:
            member = tarfile.TarInfo("x.jsonl")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
        return made.getvalue()

    return pack


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zip": zipped,
    "tar": tarred("w"),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("packing", [*PACKED, "tar.gz"])
def test_other_packings_are_named(tmp_path: Path, kind: str, packing: str) -> None:
    pack = PACKED.get(packing, tarred("w:gz"))

    with pytest.raises(SourceLogError, match=f"is packed as {packing[:3]}.*: unpack it first"):
        imported(kind, tmp_path / "x", pack(text_of(kind, 2)))


def test_what_is_cut_before_its_beginning_is_refused(tmp_path: Path) -> None:
    for pack in (gzip.compress, zstd):
        with pytest.raises(SourceLogError, match="is cut before anything"):
            imported("openai-jsonl", tmp_path / "x", pack(text_of("openai-jsonl", COUNT))[:12])
