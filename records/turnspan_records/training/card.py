"""What a set says of itself: ``manifest.json`` and the dataset card, ``README.md``.

Neither has a time or a folder in it, so that the same records make the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import orjson

from turnspan import __version__
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import current_version
from turnspan_records.training.columns import Shape, features
from turnspan_records.training.counts import Counts
from turnspan_records.training.export_request import Filters, TrainingSet
from turnspan_records.training.files import File

MANIFEST: Final = "manifest.json"
CARD: Final = "README.md"

_TASKS: Final = {
    "sft": "Prompts with completions that were found good, for supervised fine-tuning.",
    "preference": "Two answers to one prompt, of which the first is the better one.",
    "kto": "Prompts with a completion each that was found good or bad.",
    "reward": "Prompts with a completion each and what it was scored.",
    "cot": "Runs of an agent as a trace: its reasoning, its tool calls, their results, its answer.",
}


def snapshot(store: Store) -> dict[str, Any]:
    """What tells one state of a store from another."""
    tables = (
        *("llm_call", "turn_summary", "message", "annotation", "withdrawal"),
        *("artifact", "lineage_event", "rollout", "attempt"),
    )
    found: dict[str, Any] = {"schema_version": current_version(store)}
    for table in tables:
        rows = store.query(
            f"SELECT count(), toString(max(written_at)) FROM {table}", settings={"final": 0}
        ).rows
        found[table] = {"newest": str(rows[0][1])}
    return found


def query(wanted: TrainingSet) -> dict[str, Any]:
    """What was asked for, in a form that can be read again."""
    filters = wanted.filters
    return {
        "kind": wanted.kind,
        "format": wanted.format,
        "unit": wanted.unit,
        "good": [rule.text for rule in wanted.good],
        "bad": [rule.text for rule in wanted.bad],
        "pairs": list(wanted.pairs),
        "margin": wanted.margin,
        "pairs_a_prompt": wanted.pairs_a_prompt,
        "splits": dict(wanted.splits),
        "together": wanted.together,
        "seed": wanted.seed,
        "images": "files" if wanted.image_files else "urls",
        "filters": _filters(filters),
    }


def _filters(filters: Filters) -> dict[str, Any]:
    given = asdict(filters)
    given["only"] = [rule.text for rule in filters.only]
    given["window"] = {
        "since": filters.window.since.isoformat(),
        "until": filters.window.until.isoformat(),
    }
    return given


def manifest(
    wanted: TrainingSet,
    state: Mapping[str, Any],
    counts: Counts,
    files: list[File],
    prompts: Mapping[str, int],
    near: str,
    tokens: str,
    checked: int,
    in_two: int,
) -> dict[str, Any]:
    """The whole manifest."""
    return {
        "turnspan": __version__,
        "store": dict(state),
        "query": query(wanted),
        "counts": {
            "looked_at": counts.looked_at,
            "judged_otherwise": counts.judged_otherwise,
            "corrections": counts.corrections,
            "samples": counts.samples,
            "lines": sum(file.lines for file in files if _is_set(file)),
        },
        "dropped": _sorted(counts.dropped),
        "left_out": _sorted(counts.left_out),
        "thresholds": {
            "near_duplicates": wanted.near,
            "near_duplicates_by": near,
            "max_tokens": wanted.max_tokens,
            "tokens_by": tokens,
        },
        "splits": {
            file.split: {"lines": file.lines, "prompts": prompts.get(file.split, 0)}
            for file in files
            if _is_set(file)
        },
        "splits_checked": {"prompts_and_sessions": checked, "in_two_splits": in_two},
        "files": [asdict(file) for file in files],
    }


def _is_set(file: File) -> bool:
    return bool(file.split) and ".sources." not in file.name


def _sorted(counted: Mapping[str, int]) -> dict[str, int]:
    return {name: number for name, number in sorted(counted.items()) if number}


def as_text(value: Mapping[str, Any]) -> str:
    """Indented JSON."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n"


def card(wanted: TrainingSet, made: Mapping[str, Any], columns: Mapping[str, Shape]) -> str:
    """The dataset card; its head tells `datasets` which file is which split, and its columns."""
    files = [one for one in made["files"] if one["split"] and ".sources." not in one["name"]]
    head = ["---", "configs:", "- config_name: default", "  data_files:"]
    for one in files:
        head += [f"  - split: {one['split']}", f"    path: {one['name']}"]
    counts, thresholds = made["counts"], made["thresholds"]
    body = [
        *head,
        "dataset_info:",
        "  features:",
        *features(columns),
        "tags:",
        "- turnspan",
        f"- {wanted.kind}",
        "---",
        "",
        f"# {wanted.kind} ({wanted.format})",
        "",
        _TASKS[wanted.kind],
        "",
        f"Made by Turnspan {made['turnspan']} of {counts['looked_at']:,} recorded {wanted.unit}s. "
        "`manifest.json` has the query, every count and the hashes of the files.",
        "",
        "| split | lines | prompts |",
        "|---|--:|--:|",
        *(f"| {n} | {s['lines']:,} | {s['prompts']:,} |" for n, s in made["splits"].items()),
        "",
        _apart(made["splits_checked"]),
        "",
        *_table("What was dropped", made["dropped"]),
        *_table("What lines were written without", made["left_out"]),
        f"Tokens: {thresholds['tokens_by']}; at most: {thresholds['max_tokens'] or 'no limit'}. "
        f"Near duplicates: {thresholds['near_duplicates_by'] or 'not looked for'}.",
        "",
    ]
    return "\n".join(body)


def _apart(checked: Mapping[str, int]) -> str:
    """What was found of the lines that were written."""
    of = "a prompt is system prompt, tools and input together"
    if checked["in_two_splits"]:
        return (
            f"{checked['in_two_splits']:,} sessions and prompts are in two splits ({of}): do not "
            "measure with them."
        )
    return f"No session and no prompt is in two splits ({of}), which was checked line by line."


def _table(title: str, counted: Mapping[str, int]) -> list[str]:
    if not counted:
        return [f"{title}: nothing.", ""]
    rows = [f"| {name} | {number:,} |" for name, number in counted.items()]
    return [f"{title}:", "", "| reason | number |", "|---|--:|", *rows, ""]
