"""Every stack that people run, with every instrumentation they put beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from stacks.checks import Records, faults
from stacks.matrix import Cell, cells
from stacks.running import ROOT, play
from stacks.table import Results


@pytest.mark.parametrize("cell", [*cells()], ids=lambda cell: cell.id)
def test_what_is_recorded_is_what_happened(cell: Cell, tmp_path: Path, results: Results) -> None:
    """Requests are rows, tokens, tools, turns and sessions are those of the conversation."""
    results.begin(cell)
    played = play(cell, tmp_path)
    records = Records(played.store)
    found = faults(played, records)
    results.end(cell, found)
    said = "\n".join(f"{name}: {what}" for name, what in found.items())
    seen = ROOT / "build" / "stacks" / f"{cell.id}.txt"
    seen.parent.mkdir(parents=True, exist_ok=True)
    seen.write_text(f"{said}\n\n{records.show()}\n\n{played.log}")
    if found:
        pytest.fail(f"{said}\nWhat was recorded is in {seen}", pytrace=False)
