"""Training data of real runs: every kind of set, with the runs' rewards as scores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.bigstore.real import rewards
from support.fine_tuning import faults, preference_faults
from support.shared import enough, trajectories
from support.training import everything, lines
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_records.access import open_dsn
from turnspan_records.training import TrainingSet, export
from turnspan_records.training.export_request import KINDS

FILES = trajectories("tau2__telecom-gpt-4o", "intercode__bash-gpt-4")
STAMP = "training"

pytestmark = [pytest.mark.slow, pytest.mark.release]


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folders that an export registers are those of its test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The runs as they landed, judged as their benchmark judged them."""
    folder = tmp_path_factory.mktemp("played")
    program = Path(__file__).with_name("record_runs.py")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    command = [sys.executable, str(program), f"chdb://{folder}", STAMP, "openai"]
    subprocess.run(
        [*command, *map(str, FILES)], check=True, capture_output=True, timeout=240, env=environment
    )
    dsn = Dsn(scheme="chdb", path=folder)
    assert ship(dsn).ok
    with open_dsn(dsn) as store:
        assert rewards(store, FILES, "acceptance", STAMP) >= enough(140, 20)
        yield store


@pytest.mark.parametrize("kind", KINDS)
def test_a_set_of_every_kind(played: Store, tmp_path: Path, kind: str) -> None:
    """No prompt is in two splits, no pair is of two prompts, every loss has a reason."""
    folder = tmp_path / kind
    wanted = TrainingSet(kind, "trl", margin=0.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    made = export(played, folder, wanted)

    splits: dict[str, set[str]] = {}
    for split in ("train", "test"):
        for line in lines(folder / f"{split}.jsonl"):
            prompt = json.dumps([line["prompt"], line["tools"]])
            splits.setdefault(line["source"]["prompt_hash"], set()).add(split)
            splits.setdefault(prompt, set()).add(split)
    assert [found for found in splits.values() if len(found) > 1] == []
    counts = made.counts
    turns = played.query("SELECT uniqExact(turn_id) FROM llm_call").rows[0][0]
    assert counts.looked_at == turns
    if kind in ("sft", "kto", "cot"):
        assert made.lines > enough(60, 10)
        assert turns == made.lines + counts.judged_otherwise + sum(counts.dropped.values())


def test_openai_takes_every_line(played: Store, tmp_path: Path) -> None:
    """Of fine-tuning by turns, and of pairs by calls."""
    export(played, tmp_path / "sft", TrainingSet("sft"))
    export(played, tmp_path / "pairs", TrainingSet("preference", unit="call", margin=0.5))

    found = everything(tmp_path / "sft")
    assert len(found) > enough(90, 10)
    assert [fault for line in found for fault in faults(line)] == []
    pairs = everything(tmp_path / "pairs")
    assert [fault for line in pairs for fault in preference_faults(line)] == []


def test_a_line_is_the_run(played: Store, tmp_path: Path) -> None:
    """A session's line has the messages of its last call's request, and its last reply."""
    from turnspan_records.messages import exact_messages

    export(played, tmp_path / "set", TrainingSet("sft", "openai", unit="session"))
    pairs = zip(
        everything(tmp_path / "set"),
        everything(tmp_path / "set", "{}.sources.jsonl"),
        strict=True,
    )

    for line, source in list(pairs)[:40]:
        sent = exact_messages(played, "acceptance", source["calls"][-1])
        mine = [(one["role"], one.get("content") or "") for one in line["messages"]]
        assert mine[: len(sent)] == [(one["role"], one.get("content") or "") for one in sent]
        assert len(mine) == len(sent) + 1
