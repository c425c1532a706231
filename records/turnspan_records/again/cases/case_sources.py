"""Where cases come from: recorded turns, and files."""

from __future__ import annotations

import csv
import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from turnspan.runtime.type_guards import is_dict, is_list
from turnspan_clickhouse.store.client import Store
from turnspan_records.again.cases.dataset import Case, DatasetError
from turnspan_records.sql import statement
from turnspan_records.turn_filters import TurnListFilter

COLUMNS: Final = ("input", "expected", "tags")
MOST_CASES: Final = 10_000
"""Turns that become cases at once, unless a limit says otherwise."""


def cases_of_turns(
    store: Store, turns: TurnListFilter, *, tags: Sequence[str] = (), limit: int = MOST_CASES
) -> tuple[str, list[Case]]:
    """The project and the cases of ended root turns, newest first.

    The input is the user's message, or the input of the attempt around the turn. Expected is a
    correction of the turn, or its answer if that was judged ``used`` or a good example.

    Raises:
        DatasetError: there are no such turns, or they are of several projects.
        StoreError: as ``Store.query``.
    """
    sql = statement("cases/turns", where=turns.where)
    rows = store.query(sql, {**turns.parameters, "limit": limit}).dicts()
    projects = sorted({str(row["project"]) for row in rows})
    if len(projects) != 1:
        several = f"They are of several projects ({', '.join(projects)}): name one with --project."
        raise DatasetError(several if rows else "No ended turn with an input matches.")
    return projects[0], [
        Case(
            *(str(row["input"]), str(row["expected"]) or None, tuple(tags)),
            *(str(row["session_id"]), str(row["turn_id"])),
        )
        for row in rows
    ]


def cases_of_file(
    path: Path, columns: tuple[str, str, str] = COLUMNS, *, tags: Sequence[str] = ()
) -> Iterator[Case]:
    """The cases of a file of JSON lines, CSV or Parquet, by its ending. ``columns`` (or keys) have
    the input, the expected answer and the tags. CSV has texts only, and tags with commas in
    between; an empty text is no expected answer.

    Raises:
        DatasetError: the file cannot be read, or lacks a column; the message names the line.
    """
    asked, wanted, tagged = columns
    for number, row in enumerate(_rows(path), 1):
        if row.get(asked) in (None, ""):
            raise DatasetError(
                f"{path}, case {number}, has nothing in column {asked!r} (there are "
                f"{', '.join(map(repr, row))}): name another with --input-column."
            )
        found = row.get(tagged) or ()
        own = found.split(",") if isinstance(found, str) else found
        if not is_list(own) and own != ():
            raise DatasetError(f"{path}, case {number}: tags are a list of texts, not {found!r}.")
        named = dict.fromkeys((*tags, *(str(tag).strip() for tag in own)))
        expected = None if row.get(wanted) == "" else row.get(wanted)
        yield Case(row[asked], expected, tuple(tag for tag in named if tag))


def _rows(path: Path) -> Iterator[Mapping[str, Any]]:
    read = _READERS.get(path.suffix.lower())
    if read is None:
        raise DatasetError(f"{path} ends with none of {', '.join(_READERS)}: convert it.")
    try:
        yield from read(path)
    except (OSError, ValueError, csv.Error) as error:
        raise DatasetError(f"{path} cannot be read: {error}.") from None


def _json_lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise ValueError(f"line {number} is no JSON ({error})") from None
            if not is_dict(row):
                raise ValueError(f"line {number} is no JSON object")
            yield row


def _csv(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(file)


def _parquet(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise DatasetError("To read Parquet: pip install 'turnspan[export]'.") from None
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(1_000):
            yield from batch.to_pylist()


_READERS: Final = {".jsonl": _json_lines, ".csv": _csv, ".parquet": _parquet}
