"""The records of datasets."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan.runtime.mypyc import mypyc_attr
from turnspan_clickhouse.rows.record import TIME, ProjectRecord, column


@mypyc_attr(acyclic=True)
@dataclass(slots=True)
class DatasetCase(ProjectRecord):
    """One case of a version of a dataset."""

    dataset: str = column("String", "")
    """The dataset's name."""
    version: str = column("String", "")
    """The hash of the version's cases."""
    case_id: str = column("String", "")
    """The hash of input and expected answer."""
    position: int = column("UInt32", 0)
    """The case's place in its version, from 0."""
    input: str = column("String", "")
    """What the agent is called with: text, or JSON."""
    input_json: bool = column("Bool", False)
    """Whether ``input`` is JSON."""
    expected: str = column("String", "")
    """The expected answer: text, or JSON; empty if there is none."""
    expected_json: bool = column("Bool", False)
    """Whether ``expected`` is JSON."""
    tags: list[str] = column("Array(String)", factory=list)
    """Words to choose cases by."""
    session_id: str = column("String", "")
    """The session of the turn that the case was made of."""
    turn_id: str = column("String", "")
    """The turn that the case was made of; empty if it is from a file."""
    created_at: int = column(TIME, 0)
    """When the version was made."""
