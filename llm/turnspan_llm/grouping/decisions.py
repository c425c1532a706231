"""A reviewer's decisions about what could not be decided."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from turnspan.runtime.type_guards import is_dict, is_list
from turnspan_llm.grouping.model import Grouping
from turnspan_llm.grouping.rows import Kind, LogRow
from turnspan_llm.logs.connection import LogsError


class DecisionError(LogsError):
    """A decision cannot be followed; the message is one sentence with the remedy."""


class Decisions:
    """Which rows may be in which runs."""

    def __init__(self, by_row: Mapping[str, str | None]) -> None:
        self._by_row = by_row
        self._about = {*by_row, *by_row.values()}
        self._outputs: dict[str, bool] = {}

    def saw(self, rows: Mapping[str, LogRow]) -> None:
        """Take note of the rows that are decided about."""
        for id_ in self._about:
            row = rows.get(id_) if id_ is not None else None
            if row is not None:
                self._outputs.setdefault(row.id, row.kind is Kind.OUTPUT)

    def allowed(self, row: LogRow, output: LogRow | None) -> bool:
        """Whether a row may be in the run of this output; of ``None``: in one without."""
        if row.id not in self._by_row:
            return True
        decided = self._by_row[row.id]
        return decided == (None if output is None else output.id)

    def check(self, grouping: Grouping) -> None:
        """See that each decision was followed.

        Raises:
            DecisionError: a row or an output is not there, or a row cannot be where it was decided
                to be.
        """
        self._check_rows()
        outputs = {run.output.row.id: run.consortium_id for run in grouping.runs}
        for row, output in self._by_row.items():
            place = grouping.places.get(row)
            if output is None and place is not None:
                raise DecisionError(
                    f"Row {row!r} is in run {place[0]} by what its own columns say."
                )
            if output is not None and (place is None or place[0] != outputs.get(output)):
                raise DecisionError(
                    f"Row {row!r} cannot be in the run of {output!r}: neither its time nor its "
                    "text fits, or another row has its place by your decisions."
                )

    def _check_rows(self) -> None:
        for row, output in self._by_row.items():
            if row not in self._outputs:
                raise DecisionError(
                    f"A decision is about row {row!r}, which is in no list of `turnspan consortium "
                    "group`: take its id from there."
                )
            if output is not None and not self._outputs.get(output):
                raise DecisionError(
                    f"A decision puts row {row!r} into the run of {output!r}, which is no "
                    "consortium's output: take an output from the row's candidates."
                )


def read_decisions(path: Path) -> dict[str, str | None]:
    """The decisions in a file.

    Raises:
        DecisionError: it cannot be read, or is not as it should be.
    """
    try:
        value: object = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise DecisionError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise DecisionError(f"{path} is no JSON: {error}.") from None
    decisions = value.get("decisions") if is_dict(value) else None
    if not is_list(decisions):
        raise DecisionError(
            f'{path} must be {{"decisions": [{{"row": "...", "output": "..."}}]}}, with an output '
            "of null for a row of no run."
        )
    found: dict[str, str | None] = {}
    for number, each in enumerate(decisions, 1):
        row, output = _decision(path, number, each)
        if found.get(row, output) != output:
            raise DecisionError(f"{path} decides twice, and differently, about row {row!r}.")
        found[row] = output
    return found


def _decision(path: Path, number: int, value: object) -> tuple[str, str | None]:
    if not is_dict(value) or set(value) != {"row", "output"}:
        raise DecisionError(
            f"Decision {number} in {path} must have a row and an output, and nothing else."
        )
    row, output = value["row"], value["output"]
    if not isinstance(row, str) or not (output is None or isinstance(output, str)):
        raise DecisionError(
            f"Decision {number} in {path}: row and output are ids in quotes; an output may be null."
        )
    return row, output
