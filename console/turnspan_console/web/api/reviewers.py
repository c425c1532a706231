"""Who judges: whoever is named, else the user of this machine."""

from __future__ import annotations

import getpass

from turnspan_records.screens.review import reviewer


def reviewer_of(given: str) -> str:
    """The name of who judges.

    Raises:
        ValueError: it is no person's.
    """
    return reviewer(given or getpass.getuser())
