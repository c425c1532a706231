"""Read: diagnose, replay, judge, curate.

import turnspan_records

with turnspan_records.open() as store:
    for row in store.query("SELECT stop_reason, count() AS n FROM turn_summary GROUP BY 1").dicts():
        print(row)
    conversation = turnspan_records.replay(store, "my-project", "thread-7")
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turnspan_clickhouse.store.client import Result, Store
from turnspan_records.access import Note
from turnspan_records.access import open_records as open
from turnspan_records.access.window import Window, window
from turnspan_records.again.cases.dataset import Case, Dataset, datasets, load_dataset, make_dataset
from turnspan_records.again.cases.experiment_run import ExperimentRun, run_experiment
from turnspan_records.again.cases.scores import CaseResult, Score
from turnspan_records.again.gating.verdict import (
    ChangedCase,
    GateLimits,
    GateReport,
    MeasureChange,
    gate,
)
from turnspan_records.consortium.run_detail import ConsortiumRun, consortium_run, consortium_runs
from turnspan_records.contexts import (
    AssembledContext,
    ContextItem,
    ContextSection,
    ContextStep,
    contexts,
)
from turnspan_records.conversation import (
    CallRecord,
    Conversation,
    ToolExecutionRecord,
    TurnRecord,
)
from turnspan_records.detail import detail
from turnspan_records.detail_types import Detail
from turnspan_records.diagnostics import Diagnostic, diagnostics
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
from turnspan_records.replay import replay
from turnspan_records.sandbox import Limits, RefusedError, Sandbox
from turnspan_records.screens.composition import Composition, PromptPart, composition
from turnspan_records.screens.cost import CostParts, cost_parts
from turnspan_records.screens.difference import Difference, diff
from turnspan_records.screens.outline import outline
from turnspan_records.screens.outline_types import Outline
from turnspan_records.screens.request import ExactRequest, exact_request
from turnspan_records.screens.stop_evidence import StopEvidence, stop_evidence
from turnspan_records.screens.text_search import Hit, Search, find_text
from turnspan_records.sessions import sessions, turns
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
