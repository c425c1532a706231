"""What became of an export of training data."""

from __future__ import annotations

from rich.text import Text

from turnspan_console import styles
from turnspan_console.output import Output
from turnspan_console.panels.results import print_block
from turnspan_console.values import counted
from turnspan_records.training import Exported


def print_made(made: Exported, output: Output) -> None:
    """What became lines, what was dropped, and where the set is."""
    manifest = made.manifest
    looked, samples = manifest["counts"]["looked_at"], manifest["counts"]["samples"]
    unit = manifest["query"]["unit"]
    output.title(counted(made.lines, "line"), f"of {looked:,} {unit}s, {samples:,} samples")
    files = [(one.name, one.lines, one.bytes, one.sha256[:16]) for one in made.files]
    print_block(("file", "lines", "size_bytes", "sha256"), files, output)
    reasons = [
        *(("dropped", reason, number) for reason, number in manifest["dropped"].items()),
        *(("left out", reason, number) for reason, number in manifest["left_out"].items()),
    ]
    if manifest["counts"]["judged_otherwise"]:
        reasons.insert(0, ("not wanted", "by no rule", manifest["counts"]["judged_otherwise"]))
    print_block(("", "why", "number"), reasons, output)
    output.line()
    output.line(Text("tokens: ", style=styles.FAINT).append(manifest["thresholds"]["tokens_by"]))
    if made.lines:
        output.line(Text("the set is in ", style=styles.FAINT).append(str(made.folder)))
