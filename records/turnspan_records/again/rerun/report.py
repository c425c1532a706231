"""What a rerun did, as its report says it."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_records.again.rerun.divergence import Divergence


@dataclass(frozen=True, slots=True)
class RerunNote:
    """What the program's side had to report: ``kind`` is ``network``, ``tool_ran`` or
    ``unredirected``."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class UnaskedCall:
    """A recorded call that the program never made."""

    number: int
    span_id: str
    agent: str


@dataclass(frozen=True, slots=True)
class RerunReport:
    """What a rerun did. ``tools_ran`` says why tools ran for real, by their names.

    ``made_vectors`` counts the answers to embeddings: their vectors are made, not recorded.
    ``ambiguous`` counts requests that several conversations had sent at the same time, and
    ``exchanged`` those that were given another conversation's reply, as what followed tells.
    """

    session_id: str
    rerun_id: str
    answered: int
    live: int
    made_vectors: int
    ambiguous: int
    exchanged: int
    tools_answered: dict[str, int]
    tools_ran: dict[str, str]
    unasked: tuple[UnaskedCall, ...]
    divergences: tuple[Divergence, ...]
    notes: tuple[RerunNote, ...]
