"""What becomes of records: policy, archives, pruning, restoring, forgetting, what outlives them."""

from __future__ import annotations

from turnspan_records.keeping.archives import Archive, Manifest
from turnspan_records.keeping.contents import ZeroCheck
from turnspan_records.keeping.erasure import (
    Erased,
    ErasurePlan,
    NothingRecordedError,
    forget,
    forget_again,
    plan,
    subjects,
)
from turnspan_records.keeping.errors import ArchiveError, KeepingError, PolicyError
from turnspan_records.keeping.policy import Policy, read_policy
from turnspan_records.keeping.proof import Leftover, Proof
from turnspan_records.keeping.restoration import Forgotten, Restored, restore
from turnspan_records.keeping.retention import Going, Retained, retain
from turnspan_records.keeping.subject_keys import ForgetSubject

__all__ = [
    "Archive",
    "ArchiveError",
    "Erased",
    "ErasurePlan",
    "ForgetSubject",
    "Forgotten",
    "Going",
    "KeepingError",
    "Leftover",
    "Manifest",
    "NothingRecordedError",
    "Policy",
    "PolicyError",
    "Proof",
    "Restored",
    "Retained",
    "ZeroCheck",
    "forget",
    "forget_again",
    "plan",
    "read_policy",
    "restore",
    "retain",
    "subjects",
]
