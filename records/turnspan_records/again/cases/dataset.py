"""Datasets in the store: named, versioned sets of cases. A version never changes."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import orjson

from turnspan import config
from turnspan.loop.versions import canonical_json, canonical_value
from turnspan.redaction.redactor import Redactor
from turnspan.runtime.type_guards import is_dict, is_list
from turnspan_clickhouse.rows.tables import DatasetCase
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access.fields import utc
from turnspan_records.access.questions import ask
from turnspan_records.access.row_writer import write_rows

_NAME: Final = re.compile(r"[^\x00-\x20\x7f@,'\"]{1,100}")
_DIGITS: Final = 16


class DatasetError(LookupError):
    """A dataset cannot be found or made; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Case:
    """One input, and the answer that is expected of it. Both are text or any JSON value.

    An object with ``tools`` as the expected answer names tools for the scorer ``tools``; its
    ``answer`` is then what other scorers compare.
    """

    input: Any
    expected: Any = None
    """``None`` if nothing is expected."""
    tags: tuple[str, ...] = ()
    session_id: str = ""
    turn_id: str = ""
    """The turn that it was made of."""

    @property
    def id(self) -> str:
        """The hash of input and expected answer: 16 hexadecimal digits."""
        return _hash(canonical_json(canonical_value([self.input, self.expected])))

    @property
    def answer(self) -> Any:
        """The expected answer without the expected tools."""
        return self.expected if self.tools is None else self.expected.get("answer")

    @property
    def tools(self) -> list[Any] | None:
        """The expected tool calls; ``None`` if the case names none."""
        named: Any = self.expected.get("tools") if is_dict(self.expected) else None
        return named if is_list(named) else None


@dataclass(frozen=True, slots=True)
class Dataset:
    """One version of a dataset, its cases in order."""

    project: str
    name: str
    version: str
    created_at: datetime
    cases: tuple[Case, ...]

    @property
    def title(self) -> str:
        """``NAME@VERSION``."""
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class DatasetDifference:
    """What differs between two versions. A changed case has the same input."""

    before: str
    after: str
    added: list[Case]
    removed: list[Case]
    changed: list[tuple[Case, Case]]


def make_dataset(
    store: Store, name: str, cases: Iterable[Case], *, project: str = ""
) -> tuple[Dataset, bool]:
    """Write cases to the spool as the newest version of a dataset; it lands with the next reader.

    Texts are masked. Of cases with equal inputs the first is kept. Cases equal to the newest
    version write nothing.

    Returns:
        The version, and whether it was written.

    Raises:
        ValueError: the name is not valid, or there are no cases.
        SpoolError: the spool cannot be written.
        StoreError: as ``Store.query``.
    """
    if _NAME.fullmatch(name) is None:
        raise ValueError(
            f"{name!r} is no name of a dataset: use up to 100 characters without blanks, @ and ,"
        )
    by_input: dict[bytes, Case] = {}
    for case in _masked(cases):
        by_input.setdefault(_input_key(case), case)
    kept = tuple(by_input.values())
    if not kept:
        raise ValueError(
            f"dataset {name!r} would have no cases: choose other turns or another file"
        )
    version = _hash("\n".join(sorted(f"{c.id} {sorted(c.tags)}" for c in kept)).encode())
    now = time.time_ns()
    known = [row for row in _versions(store, name, project) if row[0] == project]
    if known and known[0][1] == version:
        return Dataset(project, name, version, known[0][2], kept), False
    rows = [_row(case, at, project, name, version, now) for at, case in enumerate(kept)]
    write_rows(Spool(store.dsn.spool), rows)
    return Dataset(project, name, version, utc(now), kept), True


def datasets(store: Store, *, project: str = "", limit: int = 20) -> Result:
    """The versions of all datasets, newest first. Raises ``StoreError`` as ``Store.query``."""
    return ask(store, "cases/datasets", project=project, dataset="", limit=limit)


def load_dataset(store: Store, title: str, *, project: str = "") -> Dataset:
    """The version of a dataset that ``NAME`` (the newest) or ``NAME@VERSION`` means; the first
    digits of a version are enough.

    Raises:
        DatasetError: there is none, or more than one.
        StoreError: as ``Store.query``.
    """
    name, _, wanted = title.partition("@")
    known = _versions(store, name, project)
    if not known:
        raise DatasetError(
            f"There is no dataset {name!r} in {store.dsn}: `turnspan dataset list` shows them."
        )
    projects = sorted({row[0] for row in known})
    if len(projects) > 1:
        raise DatasetError(
            f"Several projects have a dataset {name!r} ({', '.join(projects)}): name a project."
        )
    found = [row for row in known if row[1].startswith(wanted)]
    if not found or (wanted and len(found) > 1):
        number = f"{len(found)} versions" if found else "no version"
        raise DatasetError(
            f"Dataset {name!r} has {number} that begin with {wanted!r}: it has "
            f"{', '.join(row[1] for row in known)}."
        )
    project, version, created_at = found[0]
    of = {"project": project, "dataset": name, "version": version}
    cases = tuple(_case(row) for row in ask(store, "cases/dataset", **of).dicts())
    return Dataset(project, name, version, created_at, cases)


def compare_datasets(before: Dataset, after: Dataset) -> DatasetDifference:
    """What the second has that the first has not, and the other way round."""
    old = {_input_key(case): case for case in before.cases}
    new = {_input_key(case): case for case in after.cases}
    both = [(old[key], case) for key, case in new.items() if key in old]
    return DatasetDifference(
        before.title,
        after.title,
        [case for key, case in new.items() if key not in old],
        [case for key, case in old.items() if key not in new],
        [(a, b) for a, b in both if (a.id, set(a.tags)) != (b.id, set(b.tags))],
    )


def _versions(store: Store, name: str, project: str) -> list[tuple[str, str, datetime]]:
    rows = ask(store, "cases/datasets", project=project, dataset=name, limit=2**31).dicts()
    return [(str(row["project"]), str(row["version"]), utc(row["created_at"])) for row in rows]


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]


def _input_key(case: Case) -> bytes:
    return canonical_json(canonical_value(case.input))


def _masked(cases: Iterable[Case]) -> Iterable[Case]:
    redactor = Redactor(config.active())

    def masked(value: Any, where: str) -> Any:
        if isinstance(value, str):
            return redactor.text(value, where)
        # As its JSON has it: what is compared later is what was stored.
        plain = orjson.loads(orjson.dumps(value, default=str))
        return value if value is None else redactor.value(plain, where)

    for case in cases:
        tags = tuple(redactor.text(tag, "dataset:tag") for tag in case.tags)
        wanted = masked(case.expected, "response_text")
        yield replace(case, input=masked(case.input, "user_message"), expected=wanted, tags=tags)


def _row(
    case: Case, position: int, project: str, name: str, version: str, created_at: int
) -> DatasetCase:
    return DatasetCase(
        *(project, name, version, case.id, position),
        *(*_stored(case.input), *_stored(case.expected)),
        tags=list(case.tags),
        session_id=case.session_id,
        turn_id=case.turn_id,
        created_at=created_at,
        written_at=created_at,
    )


def _stored(value: Any) -> tuple[str, bool]:
    """A value as text, and whether that is JSON. An empty text is none, so ``""`` is JSON."""
    if value is None:
        return "", False
    if isinstance(value, str) and value:
        return value, False
    return orjson.dumps(value).decode(), True


def _case(row: dict[str, Any]) -> Case:
    def value(name: str) -> Any:
        text = str(row[name])
        return orjson.loads(text) if row[f"{name}_json"] else text or None

    tags = tuple(map(str, row["tags"]))
    return Case(
        value("input"), value("expected"), tags, str(row["session_id"]), str(row["turn_id"])
    )
