"""``run_experiment``: an agent over the cases of a dataset, each an attempt with all its records.

A version of the agent is a lineage, a repetition a cycle, a case the task of a rollout: ids follow
from these. What has finished is read from the store, so that a run that was killed goes on with
the cases of which no attempt succeeded or failed.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Final

import turnspan
from turnspan import config
from turnspan.annotations.judgments import id_of
from turnspan.loop.artifacts import resource_of
from turnspan.redaction.redactor import Redactor
from turnspan.runtime.type_guards import kind_of
from turnspan.tracing.content_store import Judgment
from turnspan.tracing.state import current, taking_facts
from turnspan_clickhouse.files.file_lock import FileLock
from turnspan_clickhouse.normalise.span_facts import Origins
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.access import Note, land_what_waits, open_records
from turnspan_records.again.cases.agent_calls import LOOP, AgentCalls, in_thread
from turnspan_records.again.cases.dataset import Case, load_dataset
from turnspan_records.again.cases.experiment_results import mean_scores, recorded_results, spent
from turnspan_records.again.cases.scorers import scorers_of
from turnspan_records.again.cases.scores import CaseResult, NamedScorer, Score
from turnspan_records.judging.annotation import write_judgments
from turnspan_records.judging.judge_model import JudgeScorer

SOURCE: Final = "machine:experiment"
"""The source of the scores: a person's judgment of the same name takes precedence."""
_SCORED_AT_ONCE: Final = 200
_SETTLE_SECONDS: Final = 1.0
"""Between two looks into the store, which take longer than a case may: of those that ended since,
all are read at once. With a limit of the cost it looks after each."""


class ExperimentError(RuntimeError):
    """An experiment cannot run or go on; the message says what to do."""


@dataclass(slots=True)
class ExperimentRun:
    """What a run of an experiment did."""

    experiment: str
    project: str
    version: str
    dataset: str
    """``NAME@VERSION``."""
    cases: int
    planned: int
    """Attempts of this version in all: cases times repetitions."""
    earlier: int = 0
    """Attempts that had finished before this run."""
    ran: int = 0
    """Attempts that finished in this run."""
    failed: int = 0
    """Those of all finished attempts that failed."""
    cost_usd: float = 0.0
    """The known cost of this version so far."""
    stopped: str = ""
    """Why it ended before all cases ran; empty if they did."""
    scores: dict[str, float] = field(default_factory=dict[str, float])
    """The mean of each scorer, over all finished attempts."""
    scorer_errors: dict[str, int] = field(default_factory=dict[str, int])
    """How often a scorer failed, by name and error. Run it again to score what was left out."""

    @property
    def left(self) -> int:
        """Attempts still to run."""
        return self.planned - self.earlier - self.ran


def run_experiment(
    name: str,
    *,
    dataset: str,
    agent: Callable[[Any], Any],
    scorers: Iterable[Any] = (),
    version: str = "",
    times: int = 1,
    parallel: int = 4,
    max_usd: float | None = None,
    timeout: float | None = None,
    project: str = "",
    store: str | None = None,
    note: Note | None = None,
    progress: Callable[[ExperimentRun], None] | None = None,
) -> ExperimentRun:
    """Run an agent over a dataset and score it. The same call again runs what is left.

    Args:
        name: the experiment; versions in it are compared.
        dataset: ``NAME`` (the newest version) or ``NAME@VERSION``.
        agent: called with a case's input. An async function runs as a task of one event loop,
            another one in a thread.
        scorers: names (``exact``, ``regex:^42$``, ``module:function``), functions ``(case,
            result)``, evaluators of pydantic-evals, scorers of Inspect AI. Attempts that finished
            earlier are scored with those that they lack.
        version: the agent version's label; default: a hash of the agent's source file.
        times: attempts of each case.
        parallel: the most attempts at a time.
        max_usd: start no case once this version's recorded cost has reached it. Cases that run
            then still finish.
        timeout: seconds until an attempt fails. A plain function's thread goes on in the
            background.
        project: the dataset's project, if several have one of that name.
        store: a DSN; default: TURNSPAN_STORE, else the default store. The process must record
            there; one that does not record yet is configured to.
        note: called with a sentence about each problem that does not end the run.
        progress: called after each step with what was done so far.

    Raises:
        ExperimentError: an argument is not possible, or the records do not reach the store.
        DatasetError: there is no such dataset.
        ScorerError: a scorer cannot be used.
        StoreError: the store cannot be used; what has finished is kept.
    """
    for what, number in (("times", times), ("parallel", parallel)):
        if number < 1:
            raise ExperimentError(f"{what} is at least 1, not {number}.")
    chosen = scorers_of(scorers)
    label = version or _source_hash(agent)
    with open_records(store, note=note) as opened:
        data = load_dataset(opened, dataset, project=project)
        recorded_in = _record(agent, data.project, store)
        lineage = turnspan.experiment(name).lineage(label)
        lineage.version({"agent": _name_of(agent), "version": label}, name=label)
        lock = FileLock.take(Spool(opened.dsn.spool).folder / f"experiment-{lineage.id[:16]}.lock")
        if lock is None:
            raise ExperimentError(
                f"Another process runs version {label!r} of experiment {name!r}: wait for it."
            )
        try:
            calls = AgentCalls(agent, lineage, data.title, timeout)
            planned = len(data.cases) * times
            run = ExperimentRun(name, recorded_in, label, data.title, len(data.cases), planned)
            cases = {case.id: case for case in data.cases}
            steps = _Steps(opened, cases, calls, chosen, run, note, progress or (lambda _: None))
            steps.all(times, parallel, max_usd)
            return run
        finally:
            lock.release()
            for scorer in chosen:
                if isinstance(scorer.score, JudgeScorer):
                    scorer.score.judge.close()


@dataclass(slots=True)
class _Steps:
    """The steps of a run: attempts, what was recorded of them, their scores."""

    _store: Store
    _cases: dict[str, Case]
    """By their ids."""
    _calls: AgentCalls
    _scorers: Sequence[NamedScorer]
    _run: ExperimentRun
    _note: Note | None
    _progress: Callable[[ExperimentRun], None]
    _since: datetime = field(default_factory=lambda: datetime.now(timezone.utc))

    def all(self, times: int, parallel: int, max_usd: float | None) -> None:
        """Run what is left, score it, and sum it up."""
        run = self._run
        done = self._finished(times)
        places = {(one.case_id, one.repetition) for one in done}
        run.earlier = len(places)
        if done:
            self._since = min(one.started_at for one in done)
        left = [
            (case, repetition)
            for repetition in range(times, 0, -1)
            for case in reversed(self._cases.values())
            if (case.id, repetition) not in places
        ]
        with ThreadPoolExecutor(parallel) as pool:
            for at in range(0, len(done), _SCORED_AT_ONCE):
                self._score(done[at : at + _SCORED_AT_ONCE], pool)
            running: set[Future[str]] = set()
            ended: list[str] = []
            settled_at = time.monotonic()
            while left or running:
                if max_usd is not None and left and self._spent() >= max_usd:
                    run.stopped = f"{run.cost_usd:.4g} of {max_usd:g} USD are spent"
                    left.clear()
                while left and len(running) < parallel:
                    running.add(in_thread(self._calls.attempt, *left.pop()))
                done_now, running = wait(running, return_when=FIRST_COMPLETED)
                ended += [one.result() for one in done_now]
                turnspan.flush(local=True)  # killed from here on, it has finished
                waited = time.monotonic() - settled_at > _SETTLE_SECONDS
                if ended and (waited or max_usd is not None or not running):
                    self._settle(ended, pool)
                    ended, settled_at = [], time.monotonic()
        self._land()
        done = self._finished(times)
        run.failed = sum(one.failed for one in done)
        run.cost_usd = self._spent()
        run.scores = mean_scores(done)

    def _finished(self, times: int) -> list[CaseResult]:
        """The attempts that have finished, of the cases and repetitions that are planned."""
        done = recorded_results(self._store, self._run.project, self._calls.lineage.id)
        return [one for one in done if one.case_id in self._cases and one.repetition <= times]

    def _settle(self, attempt_ids: Sequence[str], pool: ThreadPoolExecutor) -> None:
        self._land()
        results = recorded_results(
            self._store, self._run.project, self._calls.lineage.id, attempt_ids
        )
        if len(results) < len(attempt_ids):
            raise ExperimentError(
                f"{len(attempt_ids) - len(results)} finished attempts are not in {self._store.dsn}:"
                " the process records elsewhere or lost records. See `turnspan doctor`, or remove "
                "turnspan.configure(store=...) from the agent's module."
            )
        self._run.ran += len(results)
        self._score(results, pool)
        self._progress(self._run)

    def _land(self) -> None:
        turnspan.flush()
        land_what_waits(self._store, self._note)

    def _spent(self) -> float:
        found = spent(self._store, self._run.project, self._calls.lineage.id, self._since)
        self._run.cost_usd = found
        return found

    def _score(self, results: Sequence[CaseResult], pool: ThreadPoolExecutor) -> None:
        """Write the scores that the results lack."""
        wanted = [
            (scorer, result)
            for result in results
            for scorer in self._scorers
            if not any(f"{name}.".startswith(f"{scorer.name}.") for name in result.scores)
        ]
        judgments: list[Judgment] = []
        for (_, result), scores in zip(wanted, pool.map(self._scores, wanted), strict=True):
            judgments += [_judgment(result.attempt_id, score) for score in scores]
        write_judgments(Spool(self._store.dsn.spool), self._run.project, judgments)

    def _scores(self, wanted: tuple[NamedScorer, CaseResult]) -> list[Score]:
        scorer, result = wanted
        try:
            return scorer.scores(self._cases[result.case_id], result, LOOP.wait)
        except Exception as error:  # noqa: BLE001  counted, and reported with the run
            what = f"{scorer.name}: {type(error).__name__}: {error}"
            errors = self._run.scorer_errors
            errors[what] = errors.get(what, 0) + 1
            return []


def _judgment(attempt_id: str, score: Score) -> Judgment:
    """The evaluation that a score is; written twice it is one."""
    return Judgment(
        resource={},
        subject_kind="attempt",
        subject_id=attempt_id,
        kind=f"evaluation:{score.name}",
        score=score.value,
        outcome=score.label,
        comment=score.explanation,
        annotation_id=id_of(("experiment", attempt_id, score.name)),
        source=SOURCE,
        created_at=time.time_ns(),
    )


def _record(agent: Any, project: str, store: str | None) -> str:
    """Make sure that this process records; returns the project that it records in."""
    if taking_facts(current()) is None:
        module = _name_of(agent).partition(":")[0]
        service = None if os.environ.get("OTEL_SERVICE_NAME") or module == "__main__" else module
        turnspan.configure(service_name=service, project=project or None, store=store)
    turnspan.instrument()
    settings, state = config.active(), current()
    if taking_facts(state) is None:
        raise ExperimentError("This process records nothing: `turnspan doctor` says why.")
    if not settings.capture_content:
        raise ExperimentError(
            "Without content there is no answer to score: set TURNSPAN_CAPTURE_CONTENT=true."
        )
    return Origins(settings.project, Redactor(settings)).of(resource_of(state)).project


def _name_of(agent: Any) -> str:
    kind: Any = agent if hasattr(agent, "__qualname__") else kind_of(agent)
    return f"{kind.__module__}:{kind.__qualname__}"


def _source_hash(agent: Any) -> str:
    try:
        path = inspect.getsourcefile(inspect.unwrap(agent))
        content = Path(path or "").read_bytes()
    except (OSError, TypeError):
        raise ExperimentError(
            "The agent has no source file to tell its versions apart by: name its version."
        ) from None
    return hashlib.sha256(content).hexdigest()[:12]
