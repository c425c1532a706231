"""What the tests that replay recorded data ran on."""

from __future__ import annotations

import json

import pytest

from support.shared import MISSING, SAMPLE, shared_folder


def test_the_large_recorded_data_is_at_hand() -> None:
    """It is, or this one test is skipped and says what was not tested."""
    if shared_folder() is None:
        pytest.skip(MISSING)


def test_the_sample_is_small_and_ours() -> None:
    """Under a megabyte of text, all of it made by ``tests/data/make_sample.py``."""
    files = [path for path in SAMPLE.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".jsonl", ".yaml", ".har"}
    assert 100_000 < sum(path.stat().st_size for path in files) < 1_000_000
    lines = (SAMPLE / "index.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines]
    assert {(entry["source"], entry["licence"]) for entry in entries} == {
        ("turnspan", "Apache-2.0")
    }
    named = {SAMPLE / entry["path"].partition("#")[0] for entry in entries}
    assert {path for path in files if "cassettes" in path.parts} <= named
