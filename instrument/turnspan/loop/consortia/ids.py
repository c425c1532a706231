"""The ids of consortium runs: KSUIDs, which sort by the time that they were made."""

from __future__ import annotations

from turnspan.loop.artifacts import new_id
from turnspan.runtime.guard import guard


def new_run_id() -> str:
    """An id that nothing else has: 27 letters and digits, later ones greater."""
    with guard("consortium.id"):
        # Only for those who have runs.
        from ksuid import Ksuid

        return str(Ksuid())
    return new_id()
