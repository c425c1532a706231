"""Read: diagnose, replay, judge, curate.

import turnspan_records

with turnspan_records.open() as store:
    for row in store.query("SELECT stop_reason, count() AS n FROM turn_summary GROUP BY 1").dicts():
        print(row)
    conversation = turnspan_records.replay(store, "my-project", "thread-7")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access import Note
from turnspan_records.access import open_records as open
from turnspan_records.access.window import Window, window
from turnspan_records.contexts import (
    AssembledContext,
    ContextItem,
    ContextSection,
    ContextStep,
    contexts,
)
from turnspan_records.detail import Detail, detail
from turnspan_records.diagnostics import Diagnostic, diagnostics
from turnspan_records.replay import replay
from turnspan_records.sandbox import Limits, RefusedError, Sandbox
from turnspan_records.sessions import sessions, turns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from turnspan_records.again.cases.dataset import (
        Case,
        Dataset,
        datasets,
        load_dataset,
        make_dataset,
    )
    from turnspan_records.again.cases.experiment_run import ExperimentRun, run_experiment
    from turnspan_records.again.cases.scores import CaseResult, Score
    from turnspan_records.again.gating.verdict import (
        ChangedCase,
        GateLimits,
        GateReport,
        MeasureChange,
        gate,
    )
    from turnspan_records.consortium.run_detail import (
        ConsortiumRun,
        consortium_run,
        consortium_runs,
    )
    from turnspan_records.conversation import (
        CallRecord,
        Conversation,
        ToolExecutionRecord,
        TurnRecord,
    )
    from turnspan_records.judging.history import JudgmentRecord, judgments
    from turnspan_records.judging.judge_model import judge_scorer
    from turnspan_records.judging.judge_prompt import JudgeItem, JudgeVerdict
    from turnspan_records.judging.queues import Progress, Queue, progress, queues, waiting
    from turnspan_records.judging.review import Review, ReviewItem
    from turnspan_records.keeping.summaries import Sessions, SessionSummary, SessionTurn, summaries
    from turnspan_records.lookup import RecordRef, find
    from turnspan_records.loop.comparison import Answer, Comparison, compare
    from turnspan_records.loop.improvement import ExperimentRecord
    from turnspan_records.loop.lineages import AmbiguousError, experiment, experiments
    from turnspan_records.messages import exact_messages
    from turnspan_records.quality.artifact_checks import (
        ArtifactCheck,
        Correction,
        artifact_checks,
        corrections,
    )
    from turnspan_records.quality.check_run import QualityReport, check_quality
    from turnspan_records.screens.composition import Composition, PromptPart, composition
    from turnspan_records.screens.cost import CostParts, cost_parts
    from turnspan_records.screens.difference import Difference, diff
    from turnspan_records.screens.outline import outline
    from turnspan_records.screens.outline_types import Outline
    from turnspan_records.screens.request import ExactRequest, exact_request
    from turnspan_records.screens.stop_evidence import StopEvidence, stop_evidence
    from turnspan_records.screens.text_search import Hit, Search, find_text
    from turnspan_records.training import (
        Exported,
        ExportError,
        Filters,
        Rule,
        TrainingSet,
        export,
        rule,
    )

__all__ = [
    "AmbiguousError",
    "Answer",
    "ArtifactCheck",
    "AssembledContext",
    "CallRecord",
    "Case",
    "CaseResult",
    "ChangedCase",
    "Comparison",
    "Composition",
    "ConsortiumRun",
    "ContextItem",
    "ContextSection",
    "ContextStep",
    "Conversation",
    "Correction",
    "CostParts",
    "Dataset",
    "Detail",
    "Diagnostic",
    "Difference",
    "ExactRequest",
    "ExperimentRecord",
    "ExperimentRun",
    "ExportError",
    "Exported",
    "Filters",
    "GateLimits",
    "GateReport",
    "Hit",
    "JudgeItem",
    "JudgeVerdict",
    "JudgmentRecord",
    "Limits",
    "MeasureChange",
    "Note",
    "Outline",
    "Progress",
    "PromptPart",
    "QualityReport",
    "Queue",
    "RecordRef",
    "RefusedError",
    "Result",
    "Review",
    "ReviewItem",
    "Rule",
    "Sandbox",
    "Score",
    "Search",
    "SessionSummary",
    "SessionTurn",
    "Sessions",
    "StopEvidence",
    "Store",
    "ToolExecutionRecord",
    "TrainingSet",
    "TurnRecord",
    "Window",
    "artifact_checks",
    "check_quality",
    "compare",
    "composition",
    "consortium_run",
    "consortium_runs",
    "contexts",
    "corrections",
    "cost_parts",
    "datasets",
    "detail",
    "diagnostics",
    "diff",
    "exact_messages",
    "exact_request",
    "experiment",
    "experiments",
    "export",
    "find",
    "find_text",
    "gate",
    "judge_scorer",
    "judgments",
    "load_dataset",
    "make_dataset",
    "open",
    "outline",
    "progress",
    "query",
    "queues",
    "replay",
    "rule",
    "run_experiment",
    "sessions",
    "stop_evidence",
    "summaries",
    "turns",
    "waiting",
    "window",
]

_LATER = {
    "again.cases.dataset": "Case Dataset datasets load_dataset make_dataset",
    "again.cases.experiment_run": "ExperimentRun run_experiment",
    "again.cases.scores": "CaseResult Score",
    "again.gating.verdict": "ChangedCase GateLimits GateReport MeasureChange gate",
    "consortium.run_detail": "ConsortiumRun consortium_run consortium_runs",
    "conversation": "CallRecord Conversation ToolExecutionRecord TurnRecord",
    "judging.history": "JudgmentRecord judgments",
    "judging.judge_model": "judge_scorer",
    "judging.judge_prompt": "JudgeItem JudgeVerdict",
    "judging.queues": "Progress Queue progress queues waiting",
    "judging.review": "Review ReviewItem",
    "keeping.summaries": "Sessions SessionSummary SessionTurn summaries",
    "lookup": "RecordRef find",
    "loop.comparison": "Answer Comparison compare",
    "loop.improvement": "ExperimentRecord",
    "loop.lineages": "AmbiguousError experiment experiments",
    "messages": "exact_messages",
    "quality.artifact_checks": "ArtifactCheck Correction artifact_checks corrections",
    "quality.check_run": "QualityReport check_quality",
    "screens.composition": "Composition PromptPart composition",
    "screens.cost": "CostParts cost_parts",
    "screens.difference": "Difference diff",
    "screens.outline": "outline",
    "screens.outline_types": "Outline",
    "screens.request": "ExactRequest exact_request",
    "screens.stop_evidence": "StopEvidence stop_evidence",
    "screens.text_search": "Hit Search find_text",
    "training": "Exported ExportError Filters Rule TrainingSet export rule",
}
"""Modules of this package, with the names that are loaded from them when they are first used: to
load them all takes as long as most commands. A name that is also a module's is not here: importing
that module would replace it."""


def __getattr__(name: str) -> Any:
    module = next((module for module, names in _LATER.items() if name in names.split()), None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    found = getattr(importlib.import_module(f"{__name__}.{module}"), name)
    globals()[name] = found
    return found


def query(
    sql: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    store: str | None = None,
    limits: Limits | None = None,
    files: bool = False,
) -> Result:
    """Open a store, run one query and close the store. The query sees each record once.

    It may only read records (``Sandbox``), or with ``files`` also this user's files and the
    network. ``store`` is a DSN (default: TURNSPAN_STORE, else the default store). Raises
    ``StoreError``; ``RefusedError`` if the query would do more."""
    with open(store) as opened, Sandbox(opened, limits=limits, files=files) as sandbox:
        return sandbox.query(sql, parameters)
