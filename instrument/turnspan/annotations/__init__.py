"""What people, judges and tests say of what was recorded: judgments, comparisons, withdrawals."""

from __future__ import annotations

from turnspan.annotations.comparisons import prefer, rank
from turnspan.annotations.judgments import annotate, evaluation
from turnspan.annotations.withdrawals import withdraw

__all__ = ["annotate", "evaluation", "prefer", "rank", "withdraw"]
