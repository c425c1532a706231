"""The lines of a set, in the order of their prompts' hashes; equal and contradictory ones left out.

An OpenAI line has nothing that OpenAI does not know: what it came from stands in a file beside it,
line by line. The lines of other formats have it in the column ``source``.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Final

import orjson

from turnspan_records.access.whole_folders import ExportError
from turnspan_records.training import pairs
from turnspan_records.training.counts import Counts
from turnspan_records.training.export_request import TrainingSet
from turnspan_records.training.samples import SampleText, digest
from turnspan_records.training.workbench import SampleRow, Workbench

NO_TOOLS = b"[]"


@dataclass(frozen=True, slots=True)
class SetLine:
    """One line of a set. ``columns`` are JSON by name."""

    prompt_hash: bytes
    columns: dict[str, bytes]
    source: dict[str, Any]
    text: str
    left_out: Counter[str]
    images: tuple[str, ...]


def lines(work: Workbench, wanted: TrainingSet, counts: Counts) -> Iterator[SetLine]:
    """Every line, before near duplicates are looked for."""
    if wanted.kind == "preference":
        for found in pairs.by_prompt(work):
            for pair in pairs.distinct(found, counts):
                yield _preference(work, pair, wanted)
        return
    for group in work.prompts():
        if wanted.kind == "reward":
            yield from _rewards(work, group, wanted, counts)
        else:
            for row, label in _distinct(group, wanted, counts):
                text = work.text(row)
                columns = _columns(text, wanted)
                said: dict[str, Any] = {}
                if wanted.kind == "kto":
                    columns["label"] = orjson.dumps(label)
                    said["label"] = label
                yield _line(row, text, columns, said)


def _distinct(
    group: Sequence[SampleRow], wanted: TrainingSet, counts: Counts
) -> Iterator[tuple[SampleRow, bool | None]]:
    """The samples of a prompt that differ, with their label; of equal ones the first."""
    labels: dict[bytes, set[bool]] = {}
    if wanted.kind == "kto":
        for row in group:
            said = {True} if row.good else set[bool]()
            labels.setdefault(row.completion_hash, set()).update(
                said | ({False} if row.bad else set())
            )
    seen: set[bytes] = set()
    for row in group:
        known = labels.get(row.completion_hash, set())
        if len(known) > 1:
            counts.dropped["label_contradicted"] += 1
        elif row.completion_hash in seen:
            counts.dropped["duplicate"] += 1
        else:
            seen.add(row.completion_hash)
            yield row, (next(iter(known)) if known else None)


def _rewards(
    work: Workbench, group: Sequence[SampleRow], wanted: TrainingSet, counts: Counts
) -> Iterator[SetLine]:
    """A line for every score of every sample."""
    seen: set[tuple[bytes, str, float]] = set()
    for row in group:
        text = work.text(row)
        for said in text.evaluations:
            key = (row.completion_hash, said["by"], said["score"])
            if key in seen:
                counts.dropped["duplicate"] += 1
                continue
            seen.add(key)
            columns = _columns(text, wanted)
            columns["score"] = orjson.dumps(said["score"])
            columns["scored_by"] = orjson.dumps(said["by"])
            yield _line(row, text, columns, said)


def _columns(text: SampleText, wanted: TrainingSet) -> dict[str, bytes]:
    prompt, completion = text.prompt, text.completion
    if wanted.format == "openai":
        columns = {"messages": b"[%b,%b]" % (prompt, completion)}
        return columns | _tools(text)
    columns = {"prompt": b"[%b]" % prompt, "completion": b"[%b]" % completion}
    return columns | {"tools": b"null" if text.tools == NO_TOOLS else text.tools}


def _tools(text: SampleText) -> dict[str, bytes]:
    """The tools as OpenAI takes them: not at all where there are none."""
    if text.tools == NO_TOOLS:
        return {}
    parallel = str(text.meta["parallel"])
    found = {"tools": text.tools}
    if parallel in ("true", "false"):
        found["parallel_tool_calls"] = parallel.encode()
    return found


def _line(
    row: SampleRow, text: SampleText, columns: dict[str, bytes], said: Mapping[str, Any]
) -> SetLine:
    hashed = digest(text.prompt, text.completion, text.tools, orjson.dumps(said))
    source = {
        **_source(row, text),
        **{f"score_{key}" if key == "of" else key: value for key, value in said.items()},
        "prompt_hash": row.prompt_hash.hex(),
        "content_hash": hashed,
    }
    return SetLine(
        *(row.prompt_hash, columns, source, text.text),
        Counter(text.meta["left_out"]),
        tuple(text.meta["images"]),
    )


def _source(row: SampleRow, text: SampleText) -> dict[str, Any]:
    meta = text.meta
    names = (
        *("id", "unit", "session_id", "trace_id", "calls", "agent", "agent_version", "model"),
        *("tokens", "judged_by"),
    )
    return {"project": row.project, **{name: meta[name] for name in names}}


def _preference(work: Workbench, pair: pairs.SamplePair, wanted: TrainingSet) -> SetLine:
    chosen, rejected = work.text(pair.chosen), work.text(pair.rejected)
    prompt = b"[%b]" % chosen.prompt
    better, worse = b"[%b]" % chosen.completion, b"[%b]" % rejected.completion
    if wanted.format == "openai":
        given = _object({"messages": prompt} | _tools(chosen))
        columns = {"input": given, "preferred_output": better, "non_preferred_output": worse}
    else:
        tools = b"null" if chosen.tools == NO_TOOLS else chosen.tools
        columns = {"prompt": prompt, "chosen": better, "rejected": worse, "tools": tools}
    source = {
        "pair_by": pair.source,
        "margin": pair.margin,
        "author": pair.author,
        "chosen": _source(pair.chosen, chosen),
        "rejected": _source(pair.rejected, rejected),
        "prompt_hash": pair.chosen.prompt_hash.hex(),
        "content_hash": digest(prompt, better, worse, chosen.tools),
    }
    return SetLine(
        *(pair.chosen.prompt_hash, columns, source),
        f"{chosen.text}\n{rejected.text}",
        Counter[str](chosen.meta["left_out"]) + Counter[str](rejected.meta["left_out"]),
        tuple(sorted({*chosen.meta["images"], *rejected.meta["images"]})),
    )


def _object(columns: Mapping[str, bytes]) -> bytes:
    return b"{%b}" % b",".join(b'"%b":%b' % (n.encode(), v) for n, v in columns.items())


def as_json(columns: Mapping[str, bytes]) -> bytes:
    """A line of JSON Lines."""
    return _object(columns) + b"\n"


WORDS: Final = 3
"""Words of a shingle."""
PERMUTATIONS: Final = 128
SEED: Final = 42


class NearDuplicates:
    """Remembers what was seen, half a kilobyte and its place in an index each, and tells whether
    another text is nearly the same. Which pairs are found is estimated: some are missed."""

    def __init__(self, similarity: float) -> None:
        """Raises ``ExportError`` where the library is not installed."""
        try:
            library: Any = importlib.import_module("rensa")
        except ImportError:
            raise ExportError(
                "To look for near duplicates: pip install 'turnspan[export]'."
            ) from None
        self._sketch: Any = library.RMinHash
        settings = (similarity, PERMUTATIONS, True, None, SEED)
        self._seen: Any = library.RMinHashDeduplicator(*settings)
        self._number = 0
        self.by = (
            f"rensa {metadata.version('rensa')}: MinHash of runs of {WORDS} words,"
            f" {PERMUTATIONS} permutations, similarity of at least {similarity}"
        )

    def seen(self, text: str) -> bool:
        """Whether a text is nearly one seen before; else it counts as seen from now on."""
        words = text.split()
        runs = [" ".join(words[at : at + WORDS]) for at in range(max(1, len(words) - WORDS + 1))]
        sketch = self._sketch(PERMUTATIONS, SEED)
        sketch.update(runs)
        self._number += 1
        return not self._seen.add(str(self._number), sketch)
