"""The table of replayed recordings that ends a test run: how many passed, and why some did not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

_RESULTS = pytest.StashKey[dict[tuple[str, str], Counter[str]]]()


def note(config: pytest.Config, provider: str, kind: str, result: str, count: int = 1) -> None:
    """Count replays of a provider's kind of call; ``result`` is ``passed``, or why it did not."""
    results = config.stash.setdefault(_RESULTS, {})
    results.setdefault((provider, kind), Counter())[result] += count


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the table."""
    results = config.stash.get(_RESULTS, None)
    if not results:
        return
    terminalreporter.section("recorded traffic replayed through the real SDKs")
    terminalreporter.write_line(f"{'provider':<14} {'kind':<28} {'passed':>6}  not passed")
    total: Counter[str] = Counter()
    for (provider, kind), counts in sorted(results.items()):
        others = "; ".join(f"{n} {why}" for why, n in sorted(counts.items()) if why != "passed")
        passed = counts["passed"]
        terminalreporter.write_line(f"{provider:<14} {kind:<28} {passed:>6}  {others}")
        total.update(counts)
    others = "; ".join(f"{n} {why}" for why, n in sorted(total.items()) if why != "passed")
    terminalreporter.write_line(f"{'all':<14} {'':<28} {total['passed']:>6}  {others}")
