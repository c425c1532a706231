"""What a check is, and how it is kept from falling over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from turnspan_clickhouse.errors import QueryError
from turnspan_console.remedies import remedy

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. ``level`` is ``ok``, ``warn`` or ``fail``; ``remedy`` is empty when ok."""

    area: str
    name: str
    level: str
    finding: str
    remedy: str = ""


def guarded(area: str, name: str, checks: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """The checks' findings; a check that breaks is a finding too, never a traceback."""
    try:
        yield from checks()
    except Exception as error:  # noqa: BLE001  the doctor reports whatever is broken
        cause = str(error).splitlines()[0][:300] if str(error) else type(error).__name__
        told = remedy(error) if isinstance(error, QueryError) else "Mend this first."
        yield Check(area, name, FAIL, f"the check itself failed: {cause}", told)
