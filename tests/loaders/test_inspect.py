"""Inspect's own reader reads the logs of `turnspan export inspect`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

# Of an environment of their own, in which the type checkers do not look.
inspect_log: Any = import_module("inspect_ai.log")

LOGS = Path(__file__).resolve().parents[2] / "build" / "sets" / "inspect"


@pytest.mark.filterwarnings("ignore")
def test_every_log_is_read() -> None:
    """Header and samples: a sample a turn, with its messages, tool calls and usage."""
    paths = sorted(LOGS.glob("*/*.json"))
    assert paths
    for path in paths:
        log = inspect_log.read_eval_log(str(path))
        assert log.status == "success"
        assert len(log.samples) == log.results.total_samples
    log = inspect_log.read_eval_log(str(LOGS / "parser" / "s1.json"))
    assert [len(sample.messages) for sample in log.samples] == [7, 2, 4]
    call = log.samples[0].messages[1].tool_calls[0]
    assert (call.id, call.function) == ("c1", "Read")
    [usage] = log.stats.model_usage.values()
    assert (usage.input_tokens, usage.input_tokens_cache_read, usage.total_cost) == (240, 360, 3.0)
