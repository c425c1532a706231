"""Training sets of coding sessions: tool calls in SFT lines, corrected edits as pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.coding_sessions import BETTER, EDIT, NEW, OLD, PROJECT, session
from support.landing import insert
from support.rows import T0, call
from turnspan_clickhouse.rows.tables import Annotation, Record, ToolCall, TurnSummary
from turnspan_clickhouse.rows.tombstone_filter import Tombstones
from turnspan_clickhouse.store.client import Store
from turnspan_records.coding.trajectories.corrected_edits import corrected_edits
from turnspan_records.keeping.copies import sift_set
from turnspan_records.training import ExportError, Filters, TrainingSet, export, rule
from turnspan_records.training.export_request import Format

pytestmark = pytest.mark.with_schema
CORRECTED = f"def parse(text):\n{BETTER}"


def _lines(folder: Path, name: str = "train.jsonl") -> list[dict[str, Any]]:
    return [*map(json.loads, (folder / name).read_bytes().splitlines())]


@pytest.mark.parametrize("format_", ["openai", "trl"])
def test_a_corrected_edit_is_a_pair(embedded: Store, tmp_path: Path, format_: Format) -> None:
    """The reply with its edit, against the same reply with the edit as a later turn left it. A call
    of that turn that never got a reply says nothing."""
    lost = call("s1lost", 2.5, turn_id="s1t1", session_id="s1", project=PROJECT)
    insert(embedded, *session("s1"), lost)
    wanted = TrainingSet("preference", format_, pairs=("edits",), splits={"train": 1.0})
    made = export(embedded, tmp_path / "set", wanted, edits=corrected_edits(embedded))
    assert made.lines == 1, made.manifest
    [line] = _lines(tmp_path / "set")
    if format_ == "openai":
        [better], [worse] = line["preferred_output"], line["non_preferred_output"]
        prompt = line["input"]["messages"]
        [source] = _lines(tmp_path / "set", "train.sources.jsonl")
    else:
        [better], [worse], prompt, source = (
            *(line["chosen"], line["rejected"], line["prompt"], line["source"]),
        )
    edits = [_arguments(one) for one in (better, worse)]
    assert edits == [{**EDIT, "new_string": CORRECTED}, EDIT]
    assert [call["function"]["name"] for call in better["tool_calls"]] == ["Edit", "Task"]
    assert [one["role"] for one in prompt] == ["user", "assistant", "tool"]
    assert source["pair_by"] == "edit" and source["chosen"]["calls"] == ["s1l2", "s1x4"]
    assert source["rejected"]["calls"] == ["s1l2"]
    later = Tombstones()
    later.add(("span", PROJECT, "s1x4"), 2**62)
    assert sift_set(tmp_path / "set", later) == 1, "forgotten with the turn that corrected it"


def _arguments(message: dict[str, Any]) -> Any:
    given = message["tool_calls"][0]["function"]["arguments"]
    return json.loads(given) if isinstance(given, str) else given


def _changed(rows: list[Record], **tools: dict[str, Any]) -> list[Record]:
    """The session with other values of tool calls, and with a prompt that complains of nothing."""
    for row in rows:
        if isinstance(row, TurnSummary) and row.turn_id == "s1t3":
            row.user_message = "Now handle blanks only."
        for name, value in tools.get(getattr(row, "span_id", ""), {}).items():
            setattr(row, name, value)
    return rows


def test_what_is_a_correction(embedded: Store) -> None:
    """A later edit of the same lines is one only where the user complains or has judged so; an edit
    that the user changed before they accepted it is one at once."""
    insert(embedded, *_changed(session("s1")))
    assert [*corrected_edits(embedded)] == []
    said = Annotation(project=PROJECT, annotation_id="a", subject_kind="turn", subject_id="s1t1")
    said.kind, said.outcome, said.created_at = "outcome", "modified", T0
    insert(embedded, said)
    [judged] = corrected_edits(embedded, PROJECT)
    assert (judged.turn_id, judged.call_id, judged.spans) == ("s1t1", "c2", ("s1x4",))
    assert judged.arguments["new_string"] == CORRECTED
    assert [*corrected_edits(embedded, "another")] == []


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"arguments": json.dumps({**EDIT, "old_string": "nowhere", "new_string": "x"})}, None),
        ({"arguments": json.dumps({**EDIT, "old_string": "e", "new_string": "x"})}, None),
        ({"arguments": json.dumps({**EDIT, "file_path": "other.py"})}, None),
        ({"failed": True}, None),
        ({"turn_id": "s1t1"}, None),
        ({"arguments": "not JSON"}, None),
        (
            {"attributes": {"turnspan.import.toolUseResult": json.dumps(
                {"userModified": True, "newString": "    return text\n"})}},
            "    return text\n",
        ),
    ],
)  # fmt: skip
def test_odd_edits(embedded: Store, values: dict[str, Any], text: str | None) -> None:
    """What cannot be told exactly is no pair."""
    insert(embedded, *(
        _with(row, values) if isinstance(row, ToolCall) and row.span_id == "s1x4" else row
        for row in session("s1")
    ))  # fmt: skip
    assert [one.arguments["new_string"] for one in corrected_edits(embedded)] == (
        [] if text is None else [text]
    )


def _with(row: Record, values: dict[str, Any]) -> Record:
    for name, value in values.items():
        setattr(row, name, value)
    return row


def test_sft_has_the_tool_calls(embedded: Store, tmp_path: Path) -> None:
    """A session of a tool as one conversation, with its tool calls and their results."""
    insert(embedded, *session("s1"))
    filters = Filters(agents=("claude-code",))
    wanted = TrainingSet("sft", good=(rule("any"),), filters=filters, splits={"train": 1.0})
    made = export(embedded, tmp_path / "sft", wanted)
    assert made.lines == 2, made.manifest
    first = min(_lines(tmp_path / "sft"), key=lambda line: len(line["messages"]))
    assert [one["role"] for one in first["messages"]] == [
        *("user", "assistant", "tool", "assistant", "tool", "tool", "assistant")
    ]
    assert _arguments(first["messages"][3])["new_string"] == NEW
    assert first["messages"][2]["content"] == OLD


def test_refused(embedded: Store, tmp_path: Path) -> None:
    for wanted, edits in (
        (TrainingSet("preference", pairs=("edits",)), None),
        (TrainingSet("sft", pairs=("edits",)), ()),
    ):
        with pytest.raises(ExportError, match="preference"):
            export(embedded, tmp_path / "set", wanted, edits=edits)
