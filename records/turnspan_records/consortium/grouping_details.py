"""What a run's rows say: its question, and what the arbiter made of each iteration.

Grouping holds no texts; these are read for one run after the other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from turnspan.runtime.type_guards import is_dict, is_list
from turnspan_records.consortium.grouping_prompts import between_tags
from turnspan_records.consortium.grouping_rows import Source
from turnspan_records.consortium.grouping_types import IterationFound, RowAt, RunFound
from turnspan_records.llm_logs.condensed import UnresolvedError, resolved
from turnspan_records.llm_logs.errors import explained
from turnspan_records.llm_logs.generations import layout_of, tables
from turnspan_records.llm_logs.logged import LoggedResponse
from turnspan_records.llm_logs.opening import opened
from turnspan_records.llm_logs.reading import responses_at

_CONFIDENCE: Final = re.compile(r"\s*(\d{1,9}(?:\.\d{0,9})?)\s*")
_RANK: Final = re.compile(r'<rank position="\d{1,9}">(\d{1,18})</rank>', re.IGNORECASE)
_AREA: Final = re.compile(r"</?area>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class IterationDetail:
    """What the arbiter of an iteration said; ``None`` and empty where it cannot be read."""

    number: int
    synthesis: str | None = None
    confidence: float | None = None
    """0 to 1."""
    reasoning: str | None = None
    """Its analysis."""
    dissent: str | None = None
    needs_iteration: bool | None = None
    refinement_areas: tuple[str, ...] = ()
    ranking: tuple[str, ...] = ()
    """As it named the answers, the best first."""
    chosen: str | None = None
    """The row of the answer that it put first, where the tables name it."""


@dataclass(frozen=True, slots=True)
class RunDetail:
    """What the rows of a run say."""

    consortium_id: str
    question: str
    text: str
    """The output's."""
    iterations: tuple[IterationDetail, ...]


def details(
    runs: Iterable[RunFound], path: Path | str, *, consortium_db: Path | str | None = None
) -> Generator[RunDetail]:
    """Read what each run says, one after the other.

    Args:
        runs: of ``group``, with the same files.
        path: llm's log.
        consortium_db: llm-consortium's own file.

    Raises:
        LogsError: a file cannot be read.
    """
    paths = [Path(path)] if consortium_db is None else [Path(path), Path(consortium_db)]
    with _opened(paths) as sources:
        for run in runs:
            yield _detail(run, sources)


@contextmanager
def _opened(paths: list[Path]) -> Generator[list[Source]]:
    with ExitStack() as stack:
        found: list[Source] = []
        for number, path in enumerate(paths):
            connection = stack.enter_context(opened(path))
            found.append(Source(number, path, connection, layout_of(connection, path), {}))
        yield found


def _detail(run: RunFound, sources: list[Source]) -> RunDetail:
    output = _row(run.output.row, sources)
    said = _json(output)
    decided = _decided(run, sources)
    last = max((iteration.number for iteration in run.iterations), default=0)
    made: list[IterationDetail] = []
    for iteration in run.iterations:
        if iteration.number in decided:
            made.append(decided[iteration.number])
            continue
        detail = _of_arbiter(iteration, sources)
        told = said.get("synthesis") if iteration.number == last else None
        made.append(_of_output(iteration.number, told) if detail is None else detail)
    question = said.get("original_prompt")
    return RunDetail(
        run.consortium_id,
        question if isinstance(question, str) else output.prompt if output is not None else "",
        output.response if output is not None else "",
        tuple(made),
    )


def _row(row: RowAt, sources: list[Source]) -> LoggedResponse | None:
    source = sources[row.database]
    rows = responses_at(source.connection, source.layout, row.table, [row.position], source.path)
    return next((found for found in rows if found.id == row.id), None)


def _json(output: LoggedResponse | None) -> dict[str, Any]:
    try:
        said = None if output is None else resolved(output.response_json, output.texts)
    except UnresolvedError:
        return {}
    return said if is_dict(said) else {}


def _of_arbiter(iteration: IterationFound, sources: list[Source]) -> IterationDetail | None:
    row = None if iteration.arbiter is None else _row(iteration.arbiter.row, sources)
    if row is None or not row.response:
        return None
    text = row.response
    needs = between_tags(text, "needs_iteration")
    ranking = between_tags(text, "ranking")
    return IterationDetail(
        iteration.number,
        between_tags(text, "synthesis"),
        _confidence(between_tags(text, "confidence")),
        between_tags(text, "analysis"),
        between_tags(text, "dissent"),
        None if needs is None else needs.lower() == "true",
        _areas(between_tags(text, "refinement_areas")),
        tuple(_RANK.findall(ranking or "")),
    )


def _of_output(number: int, said: Any) -> IterationDetail:
    """What the output's JSON tells of the last iteration."""
    if not is_dict(said):
        return IterationDetail(number)
    return _of_json(number, said)


def _of_json(number: int, said: dict[str, Any], chosen: str | None = None) -> IterationDetail:
    areas, ranking = said.get("refinement_areas"), said.get("ranking")
    needs, confidence = said.get("needs_iteration"), said.get("confidence")
    return IterationDetail(
        number,
        _string(said.get("synthesis")),
        float(confidence) if isinstance(confidence, int | float) else None,
        _string(said.get("analysis")),
        _string(said.get("dissent")),
        needs if isinstance(needs, bool) else None,
        _lines(areas if is_list(areas) else []),
        tuple(str(each) for each in ranking) if is_list(ranking) else (),
        chosen,
    )


def _decided(run: RunFound, sources: list[Source]) -> dict[int, IterationDetail]:
    """What the consortium tables say of the arbiter's decisions."""
    if run.source_id is None:
        return {}
    found: dict[int, IterationDetail] = {}
    for source in sources:
        with explained(source.path):
            columns = tables(source.connection).get("arbiter_decisions", ())
            if not {"run_id", "iteration", "synthesis"} <= set(columns):
                continue
            cursor = source.connection.execute(
                "SELECT * FROM arbiter_decisions WHERE run_id = ?", (run.source_id,)
            )
            names = [str(column[0]) for column in cursor.description]
            rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        for row in rows:
            if isinstance(row["iteration"], int):
                found[row["iteration"]] = _of_table(row)
    return found


def _of_table(row: dict[str, Any]) -> IterationDetail:
    said = _parsed(row.get("decision_json"))
    told = {key: row.get(key) for key in ("synthesis", "confidence")}
    told["refinement_areas"] = _parsed(row.get("refinement_areas"))
    told["ranking"] = _parsed(row.get("ranking_json"))
    whole = {**(said if is_dict(said) else {}), **{k: v for k, v in told.items() if v is not None}}
    return _of_json(int(row["iteration"]), whole, _string(row.get("chosen_response_id")))


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _confidence(text: str | None) -> float | None:
    found = _CONFIDENCE.fullmatch(text or "")
    if found is None:
        return None
    value = float(found[1])
    return value / 100 if value > 1 else value


def _areas(text: str | None) -> tuple[str, ...]:
    return _lines([text] if text is not None else [])


def _lines(areas: Iterable[Any]) -> tuple[str, ...]:
    """One area a line, whatever tags the version puts around them."""
    lines = (line for area in areas for line in _AREA.sub("\n", str(area)).splitlines())
    return tuple(line.strip() for line in lines if line.strip())


def _string(value: Any) -> str | None:
    return value if isinstance(value, str) else None
