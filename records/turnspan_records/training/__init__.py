"""Training data out of the records: sets for fine-tuning, preferences, rewards and reasoning."""

from __future__ import annotations

from turnspan_records.access.whole_folders import ExportError
from turnspan_records.training.counts import Counts
from turnspan_records.training.export_request import Filters, Rule, TrainingSet, rule
from turnspan_records.training.export_run import Exported, export
from turnspan_records.training.files import File

__all__ = [
    "Counts",
    "ExportError",
    "Exported",
    "File",
    "Filters",
    "Rule",
    "TrainingSet",
    "export",
    "rule",
]
