"""The proof of a forgetting: what is left is searched for, in the store and in the bytes.

* By keys: every row of every table that belongs to what was forgotten, and began before.
* By words (the id, a user's sessions, what the caller gives besides): every column of text of every
  table, read back; the bytes of the spool, of exported sets, and of an embedded store's own files;
  the lines of archives. Words of fewer than ``SHORTEST`` bytes are looked for as whole values of
  columns only: as bytes they would be everywhere.

Files of tables are compressed: their bytes prove little, and their rows are read back for that.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from turnspan_clickhouse.rows.keeping_tables import Tombstone
from turnspan_clickhouse.rows.owner_columns import BELONGING
from turnspan_clickhouse.rows.record import Record, columns
from turnspan_clickhouse.rows.tables import RECORDS
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store, quoted
from turnspan_clickhouse.store.migrations import store_id
from turnspan_records.access import copies_registry as registry
from turnspan_records.keeping.archives import Archive
from turnspan_records.keeping.copies import texts_of
from turnspan_records.keeping.errors import KeepingError
from turnspan_records.keeping.keys import Tables, row_key
from turnspan_records.keeping.owner_conditions import OwnerKeys, moment, owned
from turnspan_records.sql import statement

SHORTEST: Final = 8
MOST_WORDS: Final = 200
"""The engine looks for 255 words at once."""
_TEXTS: Final = ("String", "Array(String)", "Map(String, String)")
_PIECE: Final = 2**20


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that was found: where, what is there, how often."""

    where: str
    what: str
    number: int = 1


@dataclass(slots=True)
class Proof:
    """What was searched, and what was found."""

    tables: int = 0
    columns: int = 0
    rows: int = 0
    files: int = 0
    bytes: int = 0
    words: int = 0
    left: list[Leftover] = field(default_factory=list[Leftover])


def search(store: Store, keys: OwnerKeys, words: Sequence[str]) -> Proof:
    """Search everywhere on this machine and in the store. Raises ``StoreError``."""
    wanted = [word for word in dict.fromkeys(words) if word][:MOST_WORDS]
    proof = Proof(words=len(wanted))
    held = [record for record in RECORDS if record is not Tombstone]
    _search_rows(store, held, keys, proof)
    for record in held:
        _search_table(store, record, wanted, keys.until, proof)
    needles = [word.encode() for word in wanted if len(word.encode()) >= SHORTEST]
    folder = Spool(store.dsn.spool).folder
    _search_files(folder, needles, proof, "the spool")
    if store.dsn.path is not None:
        _search_files(store.dsn.path / "engine", needles, proof, "the store's folder")
    own = store_id(store)
    for known in registry.known():
        if known.store != own:
            continue
        if known.kind == "archive":
            _search_archive(known.path, needles, proof)
        else:
            _search_files(known.path, needles, proof, "an exported set")
            for path in sorted(known.path.glob("*.parquet")):
                try:
                    pieces = texts_of(known.path, path.name)
                    _count(proof, pieces, needles, path, "words, in rows of a set")
                except KeepingError as error:
                    proof.left.append(Leftover(str(path), f"a file that cannot be read: {error}"))
    return proof


# -- the store ------------------


def _search_rows(
    store: Store, records: Sequence[type[Record]], keys: OwnerKeys, proof: Proof
) -> None:
    table = Tables(store).everywhere
    if found := owned(keys, {record: row_key(record) for record in records}, table):
        rows = store.query(statement("keeping/left", found=found), None, {"final": 0}).rows
        for name, number in rows:
            what = "rows that belong to it"
            proof.left.append(Leftover(f"table {name}", what, int(number)))


def _search_table(
    store: Store, record: type[Record], words: Sequence[str], until: int, proof: Proof
) -> None:
    proof.tables += 1
    long = [word for word in words if len(word.encode()) >= SHORTEST]
    short = [word for word in words if len(word.encode()) < SHORTEST]
    texts = [(name, kind) for name, kind in columns(record) if kind in _TEXTS]
    proof.columns += len(texts)
    in_time = f"{BELONGING[record.table].time} <= {moment(until)}"
    conditions = [f"{in_time} AND ({_holds(name, kind, long, short)})" for name, kind in texts]
    counted = ", ".join(f"countIf({one})" for one in ("1", *conditions))
    given = {"long": long, "short": short}
    sql = f"SELECT {counted} FROM {Tables(store).everywhere(record)}"
    rows, *counts = store.query(sql, given, {"final": 0}).rows[0]
    proof.rows += int(rows)
    for (name, _), number in zip(texts, counts, strict=True):
        if number:
            place = f"column {name} of table {record.table}"
            proof.left.append(Leftover(place, "rows that name it", int(number)))


def _holds(name: str, kind: str, long: Sequence[str], short: Sequence[str]) -> str:
    """A condition: that a column of a row holds one of the words."""
    column, parts = quoted(name), list[str]()
    if long:
        text = column if kind == "String" else f"toString({column})"
        parts.append(f"multiSearchAny({text}, {{long:Array(String)}})")
    if short:
        values = {"String": f"[toString({column})]", "Array(String)": column}.get(
            kind, f"mapValues({column})"
        )
        parts.append(f"hasAny({values}, {{short:Array(String)}})")
    return " OR ".join(parts) or "0"


# -- files ------------------


def _search_files(folder: Path, needles: Sequence[bytes], proof: Proof, what: str) -> None:
    for path in _files(folder):
        proof.files += 1
        # A file that went meanwhile holds nothing.
        with contextlib.suppress(FileNotFoundError), path.open("rb") as file:
            pieces = iter(lambda: file.read(_PIECE), b"")
            _count(proof, pieces, needles, path, f"words, in {what}")


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink():
                yield path


def _count(
    proof: Proof, pieces: Iterator[bytes], needles: Sequence[bytes], path: Path, what: str
) -> None:
    """Note how many bytes there are, and how often one of the words begins in them."""
    number = 0
    tail, overlap = b"", max((len(needle) for needle in needles), default=1) - 1
    for piece in pieces:
        proof.bytes += len(piece)
        text = tail + piece
        # What ends in the tail was counted with the piece before.
        number += sum(text.count(needle) - tail.count(needle) for needle in needles)
        tail = text[-overlap:] if overlap else b""
    if number:
        proof.left.append(Leftover(str(path), what, number))


def _search_archive(path: Path, needles: Sequence[bytes], proof: Proof) -> None:
    if not path.exists():
        return
    _search_files(path, needles, proof, "an archive")
    try:
        archive = Archive(path)
        for table in archive.manifest.tables:
            for lines in archive.lines(table):
                pieces = (line + b"\n" for line in lines)
                _count(proof, pieces, needles, path, f"words, in lines of {table}")
    except KeepingError as error:
        proof.left.append(Leftover(str(path), f"an archive that cannot be read: {error}"))
