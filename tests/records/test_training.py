"""Training data: what becomes a line, of every kind and in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.landing import insert
from support.rows import message, said
from support.training import SYSTEM, TOOLS, Recorded, contents, everything, lines
from turnspan_clickhouse.store.client import Store
from turnspan_records.training import ExportError, TrainingSet, export
from turnspan_records.training.export_request import Format, Kind

EVERYTHING = {"train": 1.0}


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


def exported(
    store: Store, folder: Path, kind: Kind, form: Format = "openai", **values: Any
) -> list[dict[str, Any]]:
    """The lines of a set in one split."""
    export(store, folder, TrainingSet(kind, form, splits=EVERYTHING, **values))
    return lines(folder / "train.jsonl")


def test_a_good_turn_is_a_line(store: Store, tmp_path: Path, recorded: Recorded) -> None:
    """What was used or flagged is; what was rejected, left out or judged by nobody is not."""
    for id_ in ("t1", "t2", "t3", "t4", "t5"):
        recorded.turn(id_, f"Question of {id_}?", f"Answer of {id_}.")
    recorded.judge("t1", "outcome", outcome="used")
    recorded.judge("t2", "training_flag", training_flag=1)
    recorded.judge("t3", "outcome", outcome="rejected")
    recorded.judge("t4", "outcome", outcome="used")
    recorded.judge("t4", "training_flag", training_flag=-1)
    insert(store, *recorded.rows)

    made = export(store, tmp_path / "set", TrainingSet("sft", splits=EVERYTHING))

    assert {line["messages"][-1]["content"] for line in lines(tmp_path / "set/train.jsonl")} == {
        "Answer of t1.",
        "Answer of t2.",
    }
    assert made.lines == made.manifest["counts"]["samples"] == 2
    assert made.manifest["dropped"] == {"flagged_out": 1}
    assert made.manifest["counts"]["looked_at"] == 4  # nothing was said of the fifth
    assert made.counts.judged_otherwise == 1


def test_tools_in_parallel_reasoning_and_results(
    store: Store, tmp_path: Path, recorded: Recorded
) -> None:
    """A turn of two calls is one line: the model's own replies, with the tools' results between."""
    recorded.with_a_tool("t1", "Size 42?", "One is left.", tools=recorded.tools())
    recorded.judge("t1", "outcome", outcome="used")
    insert(store, *recorded.rows)

    (openai,) = exported(store, tmp_path / "openai", "sft")
    (trl,) = exported(store, tmp_path / "trl", "sft", "trl")

    assert [one["role"] for one in openai["messages"]] == [
        *("system", "user", "assistant", "tool", "tool", "assistant"),
    ]
    asking = openai["messages"][2]
    assert asking == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": f"t1-{n}",
                "type": "function",
                "function": {"name": "stock", "arguments": json.dumps({"size": 41 + n})
                             .replace(" ", "")},
            }
            for n in (1, 2)
        ],
    }  # fmt: skip
    assert openai["messages"][3] == {
        "role": "tool",
        "tool_call_id": "t1-1",
        "content": '{"left": 1}',
    }
    function = {key: value for key, value in TOOLS[0].items() if key != "type"}
    assert openai["tools"] == trl["tools"] == [{"type": "function", "function": function}]
    manifest = json.loads((tmp_path / "openai/manifest.json").read_text())
    assert manifest["left_out"] == {"reasoning": 1}
    assert len(trl["prompt"]) == 2
    assert trl["completion"][0]["reasoning_content"] == "I have to look."
    assert trl["completion"][0]["tool_calls"][0]["function"]["arguments"] == {"size": 42}
    assert trl["source"]["calls"] == ["c-t1a", "c-t1b"]


def test_a_later_turn_has_the_ones_before_it(
    store: Store, tmp_path: Path, recorded: Recorded
) -> None:
    """They are its prompt, and OpenAI is told not to learn the earlier replies again."""
    before = (
        message("user", said("Hello"), scope="s"),
        message("assistant", said("Hello!"), scope="s"),
    )
    recorded.turn("t2", "And now?", "Now that.", session="s", history=before)
    recorded.judge("t2", "outcome", outcome="used")
    insert(store, *recorded.rows)

    (line,) = exported(store, tmp_path / "set", "sft")

    assert line["messages"] == [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hello!", "weight": 0},
        {"role": "user", "content": "And now?"},
        {"role": "assistant", "content": "Now that."},
    ]


def test_a_set_of_every_kind(store: Store, tmp_path: Path, recorded: Recorded) -> None:
    """Each with what it is about: a label, a score, a better answer and a worse."""
    recorded.turn("t1", "Q?", "Good.")
    recorded.turn("t2", "Q?", "Bad.")
    recorded.judge("t1", "outcome", outcome="used")
    recorded.judge("t2", "outcome", outcome="rejected")
    recorded.judge("t1", "score", score=9.0)
    recorded.judge("t2", "score", score=2.0)
    recorded.judge("t2", "evaluation:relevance", score=0.5)
    insert(store, *recorded.rows)

    kto = exported(store, tmp_path / "kto", "kto", "trl")
    reward = exported(store, tmp_path / "reward", "reward", "trl")
    (openai,) = exported(store, tmp_path / "preference", "preference")
    (trl,) = exported(store, tmp_path / "preference-trl", "preference", "trl")

    assert {(one["completion"][0]["content"], one["label"]) for one in kto} == {
        ("Good.", True),
        ("Bad.", False),
    }
    assert {
        (one["completion"][0]["content"], one["scored_by"], one["score"]) for one in reward
    } == {
        ("Good.", "score", 9.0),
        ("Bad.", "score", 2.0),
        ("Bad.", "relevance", 0.5),
    }
    prompt = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Q?"}]
    good, bad = ([{"role": "assistant", "content": text}] for text in ("Good.", "Bad."))
    assert openai == {
        "input": {"messages": prompt},
        "preferred_output": good,
        "non_preferred_output": bad,
    }
    assert (trl["prompt"], trl["chosen"], trl["rejected"]) == (prompt, good, bad)
    assert trl["source"]["margin"] == 7.0


def test_the_same_records_make_the_same_bytes(
    store: Store, tmp_path: Path, recorded: Recorded
) -> None:
    """Of every format, and whatever the folder is called."""
    for number in range(30):
        recorded.with_a_tool(f"t{number:02}", f"Question {number % 7}?", f"Answer {number}.")
        recorded.judge(f"t{number:02}", "outcome", outcome="used")
    insert(store, *recorded.rows)

    for form in ("openai", "trl", "parquet"):
        made: list[dict[str, bytes]] = []
        for name in ("one", "other"):
            export(store, tmp_path / form / name, TrainingSet("sft", form, near=0.95))
            made.append(contents(tmp_path / form / name))
        assert made[0] == made[1]
        assert len(made[0]) > 3


def test_no_file_where_it_fails(store: Store, tmp_path: Path, recorded: Recorded) -> None:
    """What was written until then is gone, and the folder is not there."""
    recorded.turn("t1", "Q?", "A.")
    recorded.judge("t1", "outcome", outcome="used")
    insert(store, *recorded.rows)

    def stop(stage: str, _done: int, _total: int) -> None:
        if stage == "writing":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(store, tmp_path / "set", TrainingSet("sft"), progress=stop)

    assert list(tmp_path.glob("*set*")) == list(tmp_path.glob(".set*")) == []
    export(store, tmp_path / "set", TrainingSet("sft"))
    with pytest.raises(ExportError, match="there already"):
        export(store, tmp_path / "set", TrainingSet("sft"))
    assert len(everything(tmp_path / "set")) == 1
    assert (tmp_path / "set").stat().st_mode & 0o077 == 0
