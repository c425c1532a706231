"""The copies of records on this machine: archives, and the sets that were exported."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from turnspan.runtime.type_guards import is_dict, is_list
from turnspan_clickhouse.files.atomic_files import write_whole
from turnspan_clickhouse.rows.owner_columns import (
    DEFINITION,
    MESSAGE,
    PROJECT,
    SESSION,
    SPAN,
    TRACE,
    TURN,
)
from turnspan_clickhouse.rows.tombstone_filter import Tombstones
from turnspan_clickhouse.ship.forgotten import read_tombstones
from turnspan_clickhouse.store.client import Store
from turnspan_records.access import copies_registry as registry
from turnspan_records.access.whole_folders import hashed
from turnspan_records.keeping.archives import (
    MANIFEST,
    Archive,
    beside,
    rewrite,
    rows_without,
    settle,
)
from turnspan_records.keeping.errors import ArchiveError, KeepingError
from turnspan_records.keeping.lines import row_of
from turnspan_records.keeping.references import CONTENTS, REFERENCES

Row = Mapping[str, Any]


@dataclass(slots=True)
class CopiesSifted:
    """What copies lost, and the folders that could not be mended, with the reason."""

    archived: int = 0
    exported: int = 0
    folders: list[Path] = field(default_factory=list[Path])
    failed: dict[Path, str] = field(default_factory=dict[Path, str])
    unknown: list[Path] = field(default_factory=list[Path])
    """Those that hold what was forgotten, perhaps of another store: they are left as they are."""


def sift_copies(store: str, tombstones: Tombstones, *, dry: bool = False) -> CopiesSifted:
    """Take out of every archive and exported set that this machine has of a store (by its id) what
    was forgotten; ``dry``: only say which they are.

    Killed at any moment and done again it comes to the same.
    """
    sifted = CopiesSifted()
    for folder in registry.known():
        if folder.store not in (store, ""):
            continue
        sift = _sift_archive if folder.kind == "archive" else sift_set
        try:
            gone = sift(folder.path, tombstones, dry=dry or not folder.store)
        except (KeepingError, OSError) as error:
            sifted.failed[folder.path] = str(error)
            continue
        if gone and not folder.store:
            sifted.unknown.append(folder.path)
        elif gone:
            sifted.folders.append(folder.path)
            if folder.kind == "archive":
                sifted.archived += gone
            else:
                sifted.exported += gone
    return sifted


# -- archives ------------------


def _sift_archive(path: Path, tombstones: Tombstones, *, dry: bool) -> int:
    try:
        archive = Archive(path)
    except ArchiveError:
        if path.exists():
            raise
        return 0
    keep = keeping(archive, tombstones)
    return sum((rows_without(archive, keep) if dry else rewrite(path, keep)).values())


def keeping(archive: Archive, tombstones: Tombstones) -> Callable[[str, Row], bool]:
    """Which rows of an archive were not forgotten: contents that rows share stay as long as one of
    those stays."""
    named = _named(archive, tombstones)

    def keep(table: str, row: Row) -> bool:
        if tombstones.covers(table, row):
            return False
        key = _content(table, row)
        return key is None or not tombstones.until(*key) or key in named

    return keep


def forgotten_of(store: Store, archive: Archive) -> Callable[[str, Row], bool] | None:
    """Which rows of an archive were forgotten in a store since; None where nothing ever was.
    Raises ``StoreError``."""
    tombstones = read_tombstones(store, shared=True)
    if not tombstones:
        return None
    keep = keeping(archive, tombstones)
    return lambda table, row: not keep(table, row)


def _named(archive: Archive, tombstones: Tombstones) -> set[tuple[str, str, str]]:
    """The contents that rows name which stay, of those that go when nothing names them."""
    found: set[tuple[str, str, str]] = set()
    if not tombstones.kinds & {DEFINITION, MESSAGE}:
        return found
    for table in dict.fromkeys(one.record.table for one in REFERENCES):
        for lines in archive.lines(table):
            for row in map(row_of, lines):
                if not tombstones.covers(table, row):
                    found.update(key for key in _names(table, row) if tombstones.until(*key))
    return found


def _names(table: str, row: Row) -> Iterator[tuple[str, str, str]]:
    project = str(row.get("project", ""))
    for one in REFERENCES:
        if one.record.table == table:
            value = row.get(one.column)
            hashes = value if is_list(value) else [value]
            scope = row.get("session_id") or row.get("trace_id") or ""
            yield from (_key(one.to, project, scope, hash_) for hash_ in hashes)


def _content(table: str, row: Row) -> tuple[str, str, str] | None:
    if table not in CONTENTS:
        return None
    return _key(table, str(row.get("project", "")), row.get("scope"), row.get("hash"))


def _key(table: str, project: str, scope: object, hash_: object) -> tuple[str, str, str]:
    """What tells contents of a table apart, as tombstones name them."""
    if table == "message":
        return MESSAGE, project, f"{scope}\0{hash_}"
    return DEFINITION, project, str(hash_)


# -- exported sets ------------------


def sift_set(folder: Path, tombstones: Tombstones, *, dry: bool = False) -> int:
    """Take out of an exported set the lines, and the files of sessions, that were made of what was
    forgotten; returns how many (``dry``: would go).

    The set is written anew beside itself and takes its own place, with a manifest that says so.

    Raises:
        KeepingError: it cannot be read, or not be written anew.
        OSError: as it says.
    """
    settle(folder)
    manifest = _read_manifest(folder)
    if manifest is None:
        return 0
    dropped: dict[str, set[int]] = {}
    for name in _splits(manifest):
        lines = enumerate(sources(folder, name))
        dropped[name] = {number for number, one in lines if _is_forgotten(one, tombstones)}
    alone = (one for one in manifest["files"] if "source" in one)
    whole = [one for one in alone if _is_forgotten(one["source"], tombstones)]
    gone = sum(map(len, dropped.values())) + len(whole)
    if not gone or dry:
        return gone
    new = beside(folder, "new")
    shutil.rmtree(new, ignore_errors=True)
    # With a manifest it would be taken for whole, however little of it was copied.
    shutil.copytree(folder, new, ignore=shutil.ignore_patterns(MANIFEST))
    for name, numbers in dropped.items():
        if numbers:
            _rewrite(new, name, numbers)
    for one in whole:
        (new / str(one["name"])).unlink()
        manifest["files"].remove(one)
    _drop_images(new, manifest)
    _mend(new, manifest, gone)
    settle(folder)
    return gone


def _read_manifest(folder: Path) -> dict[str, Any] | None:
    try:
        said: Any = orjson.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:  # removed since, or never finished
        return None
    except (OSError, ValueError) as error:
        raise KeepingError(f"The manifest of {folder} cannot be read: {error}.") from None
    if not is_dict(said) or not is_list(said.get("files")):
        raise KeepingError(f"The manifest of {folder} does not belong to an exported set.")
    return said


def _splits(manifest: Mapping[str, Any]) -> list[str]:
    """The files of lines, without those that say only where lines came from."""
    names = [str(one["name"]) for one in manifest["files"] if one["split"]]
    return [name for name in names if ".sources." not in name]


def sources(folder: Path, name: str) -> Iterator[Mapping[str, Any]]:
    """Where each line of a file came from, in their order. Raises ``KeepingError``."""
    if name.endswith(".parquet"):
        for batch in _arrow()[1].ParquetFile(folder / name).iter_batches(columns=["source"]):
            for text in batch.column(0).to_pylist():
                yield dict(orjson.loads(text))
        return
    apart = folder / name.replace(".jsonl", ".sources.jsonl")
    with (apart if apart.exists() else folder / name).open("rb") as file:
        for line in file:
            said: Any = orjson.loads(line)
            yield said if apart.exists() else dict(said["source"])


def _is_forgotten(source: Mapping[str, Any], tombstones: Tombstones) -> bool:
    both = [source[side] for side in ("chosen", "rejected") if is_dict(source.get(side))]
    return any(_covers(one, tombstones) for one in both or [source])


def _covers(source: Mapping[str, Any], tombstones: Tombstones) -> bool:
    project = str(source.get("project", ""))
    id_, calls, turns = str(source.get("id", "")), source.get("calls"), source.get("turns")
    named = [
        (PROJECT, project),
        (SESSION, str(source.get("session_id") or "")),
        *((kind, id_) for kind in (SESSION, TURN, SPAN, TRACE)),
        *((SPAN, str(call)) for call in (calls if is_list(calls) else ())),
        *((TURN, str(turn)) for turn in (turns if is_list(turns) else ())),
    ]
    return any(tombstones.until(kind, project, one) for kind, one in named)


def _rewrite(folder: Path, name: str, dropped: set[int]) -> None:
    path = folder / name
    if name.endswith(".parquet"):
        _rewrite_parquet(path, dropped)
        return
    for one in (path, folder / name.replace(".jsonl", ".sources.jsonl")):
        if one.exists():
            left = one.with_name(one.name + ".tmp")
            with one.open("rb") as file, left.open("wb") as made:
                for number, line in enumerate(file):
                    if number not in dropped:
                        made.write(line)
                made.flush()
                os.fsync(made.fileno())
            left.chmod(0o600)
            os.replace(left, one)


def _rewrite_parquet(path: Path, dropped: set[int]) -> None:
    arrow, parquet = _arrow()
    left = path.with_name(path.name + ".tmp")
    read = parquet.ParquetFile(path)
    at = 0
    with parquet.ParquetWriter(
        left, read.schema_arrow, compression="zstd", version="2.6", write_statistics=False
    ) as made:
        for batch in read.iter_batches(batch_size=500):
            kept = [n for n in range(batch.num_rows) if at + n not in dropped]
            at += batch.num_rows
            if kept:
                made.write_table(arrow.Table.from_batches([batch.take(arrow.array(kept))]))
    read.close()
    left.chmod(0o600)
    os.replace(left, path)


def _arrow() -> tuple[Any, Any]:
    import importlib

    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise KeepingError(
            "To forget records in a Parquet file: pip install 'turnspan[export]'."
        ) from None


def _drop_images(new: Path, manifest: Mapping[str, Any]) -> None:
    """Remove the images that no line names any more."""
    images = {path.name for path in (new / "images").glob("*")}
    for name in _splits(manifest) if images else ():
        for line in texts_of(new, name):
            images = {image for image in images if image.encode() not in line}
    for image in images:
        (new / "images" / image).unlink()


def texts_of(folder: Path, name: str) -> Iterator[bytes]:
    """Every line of a file, whole, as bytes. Raises ``KeepingError``."""
    if name.endswith(".parquet"):
        for batch in _arrow()[1].ParquetFile(folder / name).iter_batches(batch_size=500):
            for row in batch.to_pylist():
                yield orjson.dumps(row)
        return
    with (folder / name).open("rb") as file:
        yield from file


def _mend(new: Path, manifest: dict[str, Any], gone: int) -> None:
    """Have the manifest and the card say what is there now; the manifest makes it whole."""
    prompts: dict[str, int] = {}
    lines: dict[str, int] = {}
    for one in manifest["files"]:
        path = new / str(one["name"])
        if str(one["name"]) in _splits(manifest):
            hashes = [source.get("prompt_hash") for source in sources(new, path.name)]
            lines[str(one["split"])] = len(hashes)
            prompts[str(one["split"])] = len(set(hashes))
        one["sha256"], one["bytes"] = hashed(path), path.stat().st_size
    for one in manifest["files"]:
        if one["split"]:
            one["lines"] = lines.get(str(one["split"]), one["lines"])
    for split, said in manifest["splits"].items():
        if split in lines:
            said["lines"], said["prompts"] = lines[split], prompts[split]
    alone = sum(int(one["lines"]) for one in manifest["files"] if "source" in one)
    manifest["counts"]["lines"] = sum(lines.values()) + alone
    manifest["forgotten"] = int(manifest.get("forgotten", 0)) + gone
    card = new / "README.md"
    if card.exists():
        card.write_text(_card(card.read_text("utf-8"), lines, prompts, manifest["forgotten"]))
    text = orjson.dumps(manifest, option=orjson.OPT_INDENT_2) + b"\n"
    write_whole(new / MANIFEST, text, sync=True)


def _card(text: str, lines: Mapping[str, int], prompts: Mapping[str, int], gone: int) -> str:
    for split, number in lines.items():
        row = f"| {split} | {number:,} | {prompts[split]:,} |"
        text = re.sub(rf"^\| {re.escape(split)} \| [\d,]+ \| [\d,]+ \|$", row, text, flags=re.M)
    text = re.sub(r"\n*Forgotten since: [\d,]+ lines?\.\n*$", "\n", text)
    return f"{text.rstrip()}\n\nForgotten since: {gone:,} line{'' if gone == 1 else 's'}.\n"
