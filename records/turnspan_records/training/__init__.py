"""Training data out of the records: sets for fine-tuning, preferences, rewards and reasoning."""

from __future__ import annotations

from turnspan_records.access.whole_folders import ExportError as ExportError
from turnspan_records.training.export_request import Filters as Filters
from turnspan_records.training.export_request import Rule as Rule
from turnspan_records.training.export_request import TrainingSet as TrainingSet
from turnspan_records.training.export_request import rule as rule
from turnspan_records.training.export_run import Exported as Exported
from turnspan_records.training.export_run import export as export
