"""What becomes of old records: a policy, archives, pruning, and bringing records back."""

from __future__ import annotations
