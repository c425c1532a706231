"""The table that a test run ends with: how much recorded traffic was replayed, and what passed.

Tests say what they replayed with ``record``. Nothing is left out without a reason in the table.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

_passed: Counter[tuple[str, str]] = Counter()
_failed: Counter[tuple[str, str]] = Counter()
_reasons: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)


def record(provider: str, kind: str, passed: bool, reason: str = "") -> None:
    """One exchange was replayed (or could not be, for ``reason``) and passed or did not."""
    key = (provider, kind)
    (_passed if passed else _failed)[key] += 1
    if reason:
        _reasons[key][reason] += 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table at the end of a run that replayed anything."""
    keys = sorted({*_passed, *_failed})
    if not keys:
        return
    terminalreporter.section("recorded traffic replayed")
    width = max(len(f"{provider} {kind}") for provider, kind in keys)
    terminalreporter.line(f"{'':{width}}  passed  not passed")
    for key in keys:
        provider, kind = key
        counts = f"{_passed[key]:8}{_failed[key]:12}"
        terminalreporter.line(f"{provider + ' ' + kind:{width}}{counts}")
        for reason, count in _reasons[key].most_common():
            terminalreporter.line(f"{'':{width}}    {count} x {reason}")
