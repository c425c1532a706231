"""The end of a demonstration: training data of what was just played, in a folder and on the
screen."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from rich.text import Text

from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn, data_folder
from turnspan_console import styles
from turnspan_console.failures import FINDING, Failure
from turnspan_console.output import Output
from turnspan_console.panels.comparison import print_texts
from turnspan_console.panels.training_set import print_made
from turnspan_records.access.window import Window
from turnspan_records.training import Filters, TrainingSet, export

_MOST: Final = 600
"""Characters of a line that are shown."""


def show(store: Store, dsn: Dsn, project: str, begun: datetime, output: Output) -> None:
    """Export pairs and good answers; show a pair side by side, the counts and a line."""
    beside = data_folder() if dsn.path is None else dsn.path.parent
    folder = beside / "sets" / f"{project}-{begun:%Y%m%dT%H%M%S}"
    only = Filters(project=project, window=Window(since=begun))
    pairs = export(store, folder / "preference", TrainingSet("preference", "trl", filters=only))
    found = _lines(folder / "preference")
    if not found:
        raise Failure("The played runs gave no pair.", FINDING)
    counts = Counter(line["source"]["pair_by"] for line in found)
    by = ", ".join(f"{number} by {source}" for source, number in sorted(counts.items()))
    _title(f"Pairs of a better and a worse answer to one prompt: {by}", output)
    # A person's correction where there is one says most of what people want.
    _show_pair(min(found, key=lambda line: line["source"]["pair_by"] != "correction"), output)
    _title("All of them as a set:", output)
    print_made(pairs, output)
    good = export(store, folder / "sft", TrainingSet("sft", filters=only))
    _title("Good answers, as training data:", output)
    print_made(good, output)
    lines = _lines(folder / "sft")
    if not lines:
        raise Failure("The played runs gave no good answer.", FINDING)
    text = json.dumps(lines[0], ensure_ascii=False)
    output.line()
    output.line(Text("its first line", style=styles.FAINT))
    output.prose(Text(text if len(text) <= _MOST else f"{text[:_MOST]} ..."))


def _title(text: str, output: Output) -> None:
    output.line()
    output.title(text)
    output.line()


def _lines(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for split in ("train", "test")
        if (folder / f"{split}.jsonl").exists()
        for line in (folder / f"{split}.jsonl").read_text("utf-8").splitlines()
    ]


def _show_pair(line: dict[str, Any], output: Output) -> None:
    asked = str(line["prompt"][-1]["content"])
    source = line["source"]
    chosen, rejected = (str(line[side][-1]["content"]) for side in ("chosen", "rejected"))
    by = source["author"] or source["pair_by"]
    print_texts(asked, (f"chosen ({by})", chosen), ("rejected", rejected), output)
