"""What becomes of old records: a policy, archives, pruning, and bringing records back."""

from __future__ import annotations

from turnspan_records.keeping.archives import Archive, Manifest
from turnspan_records.keeping.contents import Check
from turnspan_records.keeping.errors import ArchiveError, KeepingError, PolicyError
from turnspan_records.keeping.policy import Policy, read_policy
from turnspan_records.keeping.restoring import Forgotten, Restored, restore
from turnspan_records.keeping.retaining import Going, Retained, retain

__all__ = [
    "Archive",
    "ArchiveError",
    "Check",
    "Forgotten",
    "Going",
    "KeepingError",
    "Manifest",
    "Policy",
    "PolicyError",
    "Restored",
    "Retained",
    "read_policy",
    "restore",
    "retain",
]
