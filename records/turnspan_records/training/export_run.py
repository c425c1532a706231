"""``export``: the records of a store as a set to train a model with."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Literal

import orjson

from turnspan import config
from turnspan.redaction.redactor import Redactor
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.migrations import store_id
from turnspan_records.access import copies_registry as registry
from turnspan_records.access.whole_folders import ExportError, aside
from turnspan_records.sql import statement
from turnspan_records.training import artifacts, card, judgments, locked, pairs, scopes
from turnspan_records.training.artifacts import Artifacts
from turnspan_records.training.chat import Style
from turnspan_records.training.columns import Shape, fitting, told_apart
from turnspan_records.training.conversations import SessionDefinitions, SessionDialogues
from turnspan_records.training.corrections import Corrections
from turnspan_records.training.counts import Counts, UnfitError
from turnspan_records.training.edit_pairs import CorrectedEdit, EditPairs
from turnspan_records.training.export_request import TrainingSet
from turnspan_records.training.files import File, Images, LinesFile, write_text
from turnspan_records.training.lines import NearDuplicates, SetLine, as_json, lines
from turnspan_records.training.parquet import ParquetFile, columns
from turnspan_records.training.samples import Samples
from turnspan_records.training.scopes import Related
from turnspan_records.training.tokens import Tokens
from turnspan_records.training.units import Candidate, Units
from turnspan_records.training.workbench import Workbench

Stage = Literal["reading", "writing"]
Progress = Callable[[Stage, int, int], None]
"""Told what is being done, how much of it is done, and of how much (about)."""

_WORK: Final = ".work"


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export. ``manifest`` is the content of the file of that name."""

    folder: Path
    files: tuple[File, ...]
    counts: Counts
    manifest: dict[str, Any]

    @property
    def lines(self) -> int:
        """The number of lines in all splits."""
        return int(self.manifest["counts"]["lines"])


def export(
    store: Store,
    folder: Path | str,
    wanted: TrainingSet,
    *,
    redactor: Redactor | None = None,
    progress: Progress | None = None,
    edits: Iterable[CorrectedEdit] | None = None,
) -> Exported:
    """Write a training set into a new folder, completely or not at all.

    A set without a line is not written; ``counts`` and ``manifest`` say why. Every text is redacted
    again by the current rules: those of ``redactor``, else of this process's configuration. The
    same records and the same request give the same bytes. ``edits`` are what the pairs ``edits``
    are made of: ``corrected_edits`` of ``turnspan_records.coding.trajectories`` finds them.

    Raises:
        ExportError: the set cannot be made as asked.
        StoreError: as ``Store.query``.
    """
    if "edits" in wanted.pairs and (wanted.kind != "preference" or edits is None):
        raise ExportError("The pairs `edits` are of kind preference, and need what was corrected.")
    _note(store, Path(folder))
    with aside(Path(folder)) as made:
        work = made / _WORK
        work.mkdir(mode=0o700)
        run = _ExportRun(store, made, wanted, redactor or Redactor(config.active()), progress)
        with closing(Workbench(work)) as bench:
            run.read(bench, edits or ())
            run.write(bench)
        run.clear()
        manifest = run.describe()
        if not run.files:
            shutil.rmtree(made)
    return Exported(Path(folder), tuple(run.files), run.counts, manifest)


def _note(store: Store, folder: Path) -> None:
    """Have the folder known before anything is written there: whoever is to be forgotten is looked
    for in it."""
    try:
        registry.register("export", folder, store_id(store))
    except OSError as error:
        raise ExportError(
            f"The set cannot be noted in the data folder, where `turnspan forget` looks for it: "
            f"{error}."
        ) from None


class _ExportRun:
    """One export: what it is made with, and what became of everything."""

    def __init__(
        self,
        store: Store,
        made: Path,
        wanted: TrainingSet,
        redactor: Redactor,
        progress: Progress | None,
    ) -> None:
        self._store = store
        self._made = made
        self._wanted = wanted
        self._redactor = redactor
        self._progress: Progress = progress or (lambda stage, done, total: None)
        self._images = Images(made / _WORK, made)
        self._tokens = Tokens(wanted.tokenizer)
        self._near = NearDuplicates(wanted.near) if wanted.near is not None else None
        self._prompts: dict[str, int] = {}
        self._placed: dict[str, str] = {}
        """The split that each prompt and session was written into first."""
        self._in_two: set[str] = set()
        self._columns: Mapping[str, Shape] = {}
        self._state = card.snapshot(store)
        self.counts = Counts()
        self.files: list[File] = []

    # -- reading ------------------

    def read(self, bench: Workbench, edits: Iterable[CorrectedEdit]) -> None:
        """Make every sample."""
        wanted = self._wanted
        pages = 1 + scopes.number_of(self._store, wanted.filters, "annotation") // judgments.PAGE
        judgments.load(self._store, wanted.filters, bench.database, pages)
        artifacts.load(self._store, wanted.filters, bench.database, pages, self.counts)
        locked.load(self._store, wanted.filters, bench.database)
        bench.database.executescript(statement("training/indexes"))
        written = Artifacts(self._store, bench.database)
        related = Related(written.any, locked.experiments(bench.database))
        corrections = Corrections(bench, wanted, written, self.counts)
        edit_pairs = EditPairs(bench, wanted, edits, self.counts)
        style = style_of(wanted, self._images)
        definitions = SessionDefinitions(self._store, self._redactor)
        total = scopes.number_of(self._store, wanted.filters, "llm_call")
        done = 0
        with closing(Units(self._store, wanted.unit, wanted.filters, self.counts)) as units:
            for these in scopes.scopes(self._store, wanted, related):
                chosen = units.chosen(these)
                found = scopes.read(self._store, these)
                calls = [call for scope in found.values() for call in scope.calls]
                hashes = {hash_ for call in calls for hash_ in (call.system, call.tools)}
                definitions.load(these.project, hashes)
                written.begin(these.project, found.values(), texts=corrections.wanted)
                for scope in scopes.with_messages(self._store, these.project, found):
                    conversations = SessionDialogues(
                        scope, style, self._redactor, unfinished=self._wanted.unfinished
                    )
                    samples = Samples(
                        *(wanted, these.project, conversations, definitions, self._tokens),
                        scope.owners(wanted.together),
                    )
                    for one in units.of(scope, chosen):
                        if wanted.pairs != ("edits",):
                            self._sample(bench, these.project, one, samples, written)
                        corrections.add(these.project, one, samples)
                        edit_pairs.add(these.project, one, samples)
                done += len(calls)
                self._progress("reading", min(done, total), total)
        bench.order()
        self.counts.samples = bench.samples

    def _sample(
        self,
        bench: Workbench,
        project: str,
        one: Candidate,
        samples: Samples,
        written: Artifacts,
    ) -> None:
        wanted = self._wanted
        own, *around = one.subjects
        wrote = written.of(project, one.calls)
        if judgments.flagged_out(bench.database, project, (*wrote, *one.parts)):
            self.counts.dropped["flagged_out"] += 1
            return
        wrote = wrote if one.kind != "session" else []
        judged = judgments.of(bench.database, project, (own, *wrote, *around))
        if not all(rule.holds(judged) for rule in wanted.filters.only):
            self.counts.judged_otherwise += 1
            return
        if not one.ended:
            self.counts.dropped["turn_not_ended"] += 1
            return
        good = any(rule.holds(judged) for rule in wanted.good)
        bad = any(rule.holds(judged) for rule in wanted.bad)
        scored = any(said.score is not None for said in judged.values())
        fit = {"sft": good, "cot": good, "kto": good or bad, "reward": scored, "preference": True}
        if not fit[wanted.kind]:
            self.counts.judged_otherwise += 1
            return
        try:
            also = judgments.scores_of(bench.database, project, wrote[1:])
            bench.add(samples.of(one, judged, also))
        except UnfitError as unfit:
            self.counts.dropped[unfit.reason] += 1

    # -- writing ------------------

    def write(self, bench: Workbench) -> None:
        """Write every line into the file of its split."""
        wanted = self._wanted
        total = bench.samples
        if wanted.kind == "preference":
            pairs.make(bench, wanted, self.counts)
            total = pairs.number(bench)
        with closing(_Splits(self._made, wanted, blocks=bench.blocks)) as output:
            self._write(bench, output, total)
            self.files = output.whole()
            self._columns = output.columns

    def _write(self, bench: Workbench, output: _Splits, total: int) -> None:
        wanted = self._wanted
        last: dict[str, bytes] = {}
        for number, line in enumerate(lines(bench, wanted, self.counts), 1):
            if self._near is not None and self._near.seen(line.text):
                self.counts.dropped["near_duplicate"] += 1
                continue
            split = split_of(bench.family(line.prompt_hash), wanted)
            for key in {line.prompt_hash.hex()} | sessions_of(line.source):
                if self._placed.setdefault(key, split) != split:
                    self._in_two.add(key)
            if last.get(split) != line.prompt_hash:
                last[split] = line.prompt_hash
                self._prompts[split] = self._prompts.get(split, 0) + 1
            self.counts.left_out.update(line.left_out)
            for path in line.images:
                self._images.place(path)
            output.write(split, line)
            if number % 256 == 0 or number == total:
                self._progress("writing", number, max(number, total))

    def clear(self) -> None:
        """Remove what was only worked with."""
        shutil.rmtree(self._made / _WORK)

    def describe(self) -> dict[str, Any]:
        """Write the manifest and the card; returns the manifest."""
        manifest = card.manifest(
            *(self._wanted, self._state, self.counts, self.files, self._prompts),
            self._near.by if self._near is not None else "",
            *(self._tokens.by, len(self._placed), len(self._in_two)),
        )
        write_text(self._made / card.MANIFEST, card.as_text(manifest))
        write_text(self._made / card.CARD, card.card(self._wanted, manifest, self._columns))
        return manifest


class _Splits:
    """The files that lines go to; one that gets none is not made."""

    def __init__(self, folder: Path, wanted: TrainingSet, *, blocks: bool) -> None:
        self._folder = folder
        self._wanted = wanted
        self._blocks = blocks
        self._lines: dict[str, LinesFile] = {}
        self._tables: dict[str, ParquetFile] = {}
        self.columns = columns(wanted.kind) if wanted.format == "parquet" else dict[str, Shape]()
        """What the lines so far have, in every split together."""

    def write(self, split: str, line: SetLine) -> None:
        """Write a line, and where it came from."""
        form = self._wanted.format
        if form == "parquet":
            if split not in self._tables:
                path = self._folder / f"{split}.parquet"
                self._tables[split] = ParquetFile(path, self._wanted.kind)
            self._tables[split].write(line.columns, line.source)
            return
        source = orjson.dumps(line.source)
        if form == "openai":
            written = as_json(line.columns)
            self._file(f"{split}.sources.jsonl").write(source + b"\n")
        else:
            written = as_json({**line.columns, "source": source})
        loaded = orjson.loads(written)
        if self._blocks:
            loaded = told_apart(loaded)
            written = orjson.dumps(loaded) + b"\n"
        self._file(f"{split}.jsonl").write(written)
        fitting(self.columns, loaded)

    def _file(self, name: str) -> LinesFile:
        if name not in self._lines:
            self._lines[name] = LinesFile(self._folder / name)
        return self._lines[name]

    def whole(self) -> list[File]:
        """All lines are there; the files in the order of the splits."""
        made = [file.whole(name.partition(".")[0]) for name, file in self._lines.items()]
        made += [file.whole(split) for split, file in self._tables.items()]
        order = {split: at for at, split in enumerate(self._wanted.splits)}
        return sorted(made, key=lambda file: (order[file.split], file.name))

    def close(self) -> None:
        """Let the files go."""
        for file in self._lines.values():
            file.close()
        for table in self._tables.values():
            table.close()


def style_of(wanted: TrainingSet, images: Images) -> Style:
    """How a format writes messages."""
    openai = wanted.format == "openai"
    return Style(
        arguments_as_text=wanted.format != "trl",
        reasoning=not openai or wanted.kind == "cot",
        blocks=openai,
        image_type="image_url" if openai else "image",
        keep_image=images.keep if wanted.image_files else None,
    )


def sessions_of(source: Mapping[str, Any]) -> set[str]:
    """The sessions that a line was made of; traces and units where there are none."""
    sides = [source[side] for side in ("chosen", "rejected") if side in source] or [source]
    return {
        f"{one['project']}\n{one['session_id'] or one['trace_id'] or one['id']}" for one in sides
    }


def split_of(family: bytes, wanted: TrainingSet) -> str:
    """The split of all that has a session or a prompt in common, so that each is in one only."""
    drawn = blake2b(family, digest_size=8, key=str(wanted.seed).encode()).digest()
    place = int.from_bytes(drawn, "big") / 2**64
    reached = 0.0
    for name, share in wanted.splits.items():
        reached += share
        if place < reached:
            return name
    return next(reversed(list(wanted.splits)))
