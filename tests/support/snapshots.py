"""Snapshots in review: the SQL that a question sends to the engine, and the JSON that it answers.

The files are in ``tests/snapshots``; ``make snapshots`` writes them anew. SQL is written as
ClickHouse's own formatter writes it, so that only what it means counts: not its blanks and
comments, nor the file that it stands in.
"""

from __future__ import annotations

import difflib
import inspect
import json
import os
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, cast

import pytest

from support.shared import REPOSITORY
from turnspan import __version__
from turnspan_clickhouse.store.client import Store

FOLDER = REPOSITORY / "tests" / "snapshots"
REWRITE = "TURNSPAN_TEST_SNAPSHOTS"
"""The variable that has the files written instead of compared, if it is ``write``."""
_NO_SQL = "-- nothing is asked of the store\n"
_DRIVER = "clickhouse_connect"
_INDENTATION = re.compile(r"^(?: {4})+", re.MULTILINE)
_HOUR = 3_600
_BEGAN = time.time() - _HOUR
_NOW = "<now>"
_SCALES = (1, 10**3, 10**6, 10**9)
_MOMENT = re.compile(r"(2\d{3}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(\.\d+)?(Z|[+-]\d\d:\d\d)?")
_EPOCH = re.compile(r"\b\d{10}(?:\d{3}){0,3}\b")
_LAYOUT = re.compile(r"\s*([(),])\s*|\s+")
"""How SQL that is shown is laid out, which does not count."""
_DRAWN = (
    (re.compile(r"\brecorded-[0-9a-f]{16}\b"), "recorded-<mark>"),
    (re.compile(r"\b\d{8}T\d{6}Z-([a-z]+)-[0-9a-z]+-[0-9a-f]+"), r"<time>-\1-<drawn>"),
    (re.compile(r"\b\d{8}T\d{6}Z-[0-9a-f]{6}\b"), "<time>-<drawn>"),
    (re.compile(r"[\d.]+ [KMGT]iB"), "<size>"),
    (re.compile(r"\bClickHouse [\d.]+\d"), "ClickHouse <version>"),
    (re.compile(r"^\d+\.\d+\.\d+(?=, supported)"), "<version>"),
    (re.compile(rf"\b{re.escape(__version__)}\b"), "<version>"),
)
"""What is drawn at random, or is another on another machine, and what stands in its place."""
_VOLATILE = frozenset({"bytes", "milliseconds"})
"""Fields of which only whether they are there is compared: what the engine needed for something."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question sent to the engine, and what it answered (``None``: it answers no JSON)."""

    statements: Sequence[str]
    answer: Any = None


class Recorder:
    """Asks questions and notes what the driver is given meanwhile, in any thread."""

    def __init__(self, places: Mapping[str, str], known: Iterable[str] = ()) -> None:
        self._places = dict(places)
        self._known = frozenset(known)
        self._sent: list[str] = []

    def ask(self, question: Callable[[], Any]) -> Asked:
        """Ask one question; errors as it raises."""
        self._sent.clear()
        return self.noted(question())

    def noted(self, answer: Any) -> Asked:
        """What was sent since the last answer, with this one. Statements that are ``known`` (those
        that open a store and look an id up) and repetitions are left out."""
        texts = dict.fromkeys(self._stable_sql(text) for text in self._sent)
        self._sent.clear()
        return Asked([text for text in texts if text not in self._known], self.stable(answer))

    @contextmanager
    def recording(self) -> Generator[None]:
        """A block whose statements are noted: those that our code gives the driver, and none that
        the driver makes."""
        from clickhouse_connect.driver._chdbclient import ChdbClient

        with pytest.MonkeyPatch.context() as patch:
            for name in ("query", "command", "raw_query", "raw_stream", "raw_insert"):
                patch.setattr(ChdbClient, name, self._noting(name, getattr(ChdbClient, name)))
            yield

    def _noting(self, name: str, original: Any) -> Any:
        def noted(client: Any, text: Any = None, *args: Any, **options: Any) -> Any:
            frame = inspect.currentframe()
            caller = frame.f_back.f_globals["__name__"] if frame and frame.f_back else ""
            if not caller.startswith(_DRIVER):
                is_insert = name == "raw_insert"
                self._sent.append(f"INSERT INTO {text} FORMAT Native" if is_insert else str(text))
            return original(client, text, *args, **options)

        return noted

    def _stable_sql(self, text: str) -> str:
        # A value that is not a parameter is drawn, as the mark of a connection. A placeholder for a
        # number is one, for the formatter.
        text = _EPOCH.sub(lambda found: _stable_epoch(found).replace(_NOW, "0"), text.strip())
        return re.sub(r"'[0-9a-f]{32}'", "'<drawn>'", self._stable_text(text))

    def stable(self, value: Any, name: str = "") -> Any:
        """A JSON value with a placeholder for whatever is another at each run."""
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            if name == "versions":
                return dict.fromkeys(fields, "<version>")
            return {key: self.stable(one, key) for key, one in fields.items()}
        if isinstance(value, list):
            return [self.stable(one, name) for one in cast("list[object]", value)]
        if name in _VOLATILE and value not in (None, 0, ""):
            return f"<{name}>"
        if isinstance(value, str):
            text = self._stable_text(value)
            return _LAYOUT.sub(_laid_out, text) if name == "sql" else text
        if isinstance(value, (int, float)) and any(_is_now(value / scale) for scale in _SCALES):
            return _NOW
        return value

    def _stable_text(self, text: str) -> str:
        for place, name in self._places.items():
            text = text.replace(place, name)
        text = _MOMENT.sub(_stable_moment, text)
        text = _EPOCH.sub(_stable_epoch, text)
        for pattern, placeholder in _DRAWN:
            text = pattern.sub(placeholder, text)
        return text


def _laid_out(found: re.Match[str]) -> str:
    return found[1] or " "


def _is_now(seconds: float) -> bool:
    return _BEGAN <= seconds <= time.time() + _HOUR


def _stable_epoch(found: re.Match[str]) -> str:
    number = int(found[0])
    return _NOW if any(_is_now(number / scale) for scale in _SCALES) else found[0]


def _stable_moment(found: re.Match[str]) -> str:
    day, clock, _, zone = found.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{(zone or '').replace('Z', '+00:00')}")
    except ValueError:
        return found[0]
    moment = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
    return _NOW if _is_now(moment.timestamp()) else found[0]


def formatted(store: Store, texts: Sequence[str]) -> dict[str, str]:
    """Statements as ClickHouse's formatter writes them, with a quarter of its indentation; those
    that it cannot read as they are."""
    rows = store.query(
        "SELECT formatQueryOrNull(arrayJoin({texts:Array(String)}))", {"texts": list(texts)}
    ).rows
    found = {text: str(row[0] or text) for text, row in zip(texts, rows, strict=True)}
    return {text: _INDENTATION.sub(_quarter, lines) for text, lines in found.items()}


def _quarter(indentation: re.Match[str]) -> str:
    return " " * (len(indentation[0]) // 4)


def compare(topic: str, asked: Mapping[str, Asked], name: str, sql: Mapping[str, str]) -> None:
    """Compare a question with its files, or write them; ``sql`` has its statements formatted."""
    one = asked[name]
    text = "\n".join(f"{sql[statement]};\n" for statement in one.statements) or _NO_SQL
    problems = [*_differences(_path("sql", topic, name), text)]
    if one.answer is not None:
        answer = json.dumps(one.answer, ensure_ascii=False, indent=1) + "\n"
        problems += _differences(_path("json", topic, name), answer)
    if problems:
        pytest.fail(
            "\n".join([*problems, "", "If this is meant: make snapshots, and say why in review."]),
            pytrace=False,
        )


def kept(topic: str) -> set[str]:
    """The names of all files of a topic, without their suffixes."""
    return {path.stem for path in FOLDER.glob(f"*/{topic}/*")}


def _path(kind: str, topic: str, name: str) -> Path:
    return FOLDER / kind / topic / f"{name}.{kind}"


def _differences(path: Path, text: str) -> Iterator[str]:
    if os.environ.get(REWRITE) == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    names = (f"{path.relative_to(REPOSITORY)} as kept", "as it is now")
    lines = (before.splitlines(), text.splitlines())
    yield from difflib.unified_diff(*lines, *names, lineterm="", n=2)
