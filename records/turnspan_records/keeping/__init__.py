"""What becomes of records: policy, archives, pruning, restoring, forgetting, what outlives them."""

from __future__ import annotations

from turnspan_records.keeping.archives import Archive, Manifest
from turnspan_records.keeping.contents import Check
from turnspan_records.keeping.errors import ArchiveError, KeepingError, PolicyError
from turnspan_records.keeping.forgetting import (
    Erased,
    ErasurePlan,
    NothingRecordedError,
    forget,
    forget_again,
    plan,
    subjects,
)
from turnspan_records.keeping.gathering import Subject
from turnspan_records.keeping.policy import Policy, read_policy
from turnspan_records.keeping.proof import Left, Proof
from turnspan_records.keeping.restoring import Forgotten, Restored, restore
from turnspan_records.keeping.retaining import Going, Retained, retain

__all__ = [
    "Archive",
    "ArchiveError",
    "Check",
    "Erased",
    "ErasurePlan",
    "Forgotten",
    "Going",
    "KeepingError",
    "Left",
    "Manifest",
    "NothingRecordedError",
    "Policy",
    "PolicyError",
    "Proof",
    "Restored",
    "Retained",
    "Subject",
    "forget",
    "forget_again",
    "plan",
    "read_policy",
    "restore",
    "retain",
    "subjects",
]
