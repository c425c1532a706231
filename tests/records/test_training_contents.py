"""What of a conversation is carried, what makes a sample unfit, and what is only left out."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

from support.fine_tuning import faults, preference_faults
from support.landing import insert
from support.rows import PROJECT, answered, asked, message, said
from support.training import TOOLS, Recorded, everything, lines, random_records
from turnspan.config import active
from turnspan.redaction.redactor import Redactor
from turnspan_clickhouse.rows.tables import Definition, LlmCall, MessageRow
from turnspan_clickhouse.store.client import Store
from turnspan_records.training import TrainingSet, export, rule
from turnspan_records.training.export_request import Format

ONE = {"train": 1.0}
ANY = (rule("any"),)
PNG = base64.b64encode(b"\x89PNG not really").decode()


def part(kind: str, **values: Any) -> dict[str, Any]:
    return {"type": kind, **values}


def conversation(
    recorded: Recorded, id_: str, *messages: MessageRow, reply: dict[str, Any] | None = None
) -> None:
    """A turn of one call that was given these messages."""
    answer = message("assistant", reply or said("Yes."), scope=f"s-{id_}")
    given = recorded.say(*messages)
    recorded.say(answer)
    recorded.one_call(id_, f"s-{id_}", given, [answer.hash])


def sft(store: Store, folder: Path, form: Format = "openai", **values: Any) -> Any:
    """What an export of everything made."""
    return export(store, folder, TrainingSet("sft", form, good=ANY, splits=ONE, **values))


UNFIT: list[tuple[str, list[dict[str, Any]], str]] = [
    ("image_not_recorded", [part("blob", modality="image", sha256="0" * 64, size=3)], "user"),
    ("audio_not_carried", [part("blob", modality="audio", content="YQ==")], "user"),
    ("document_not_carried", [part("uri", modality="document", uri="https://x/y.pdf")], "user"),
    ("file_of_the_provider", [part("file", modality="image", file_id="f1")], "user"),
    ("image_not_of_the_user", [part("uri", modality="image", uri="https://x/y.png")], "assistant"),
    ("server_tool", [part("server_tool_call", name="web_search")], "assistant"),
    ("compacted_history", [part("compaction", content="...")], "user"),
    ("refusal", [part("text", content="No.", refusal=True)], "assistant"),
    ("part_of_the_provider", [part("unknown", value=1)], "user"),
    ("content_truncated", [part("text", content="Lo", truncated=True)], "user"),
    ("arguments_not_json", [part("tool_call", id="c", name="f", arguments="{oops")], "assistant"),
    ("tool_that_is_no_function", [asked("c", "f") | {"call_type": "custom"}], "assistant"),
    ("tool_call_without_result", [asked("c", "f")], "assistant"),
    ("tool_result_without_call", [answered("c", "x")], "tool"),
    ("image_in_a_tool_result", [answered("c", [part("image", source={})])], "tool"),
    ("role_of_the_provider", [said("x")], "narrator"),
]


def test_what_has_no_place_is_dropped_and_counted(embedded: Store, tmp_path: Path) -> None:
    """Each under its reason; the sample beside them is written."""
    recorded = Recorded()
    for number, (_, parts, role) in enumerate(UNFIT):
        scope = f"s-bad{number}"
        asking = message("user", said("Well?"), scope=scope)
        odd = message(role, *parts, scope=scope)
        after = message("user", said("Hm?"), scope=scope)
        conversation(recorded, f"bad{number}", asking, odd, after)
    recorded.turn("good", "Q?", "A.")
    insert(embedded, *recorded.rows)

    made = sft(embedded, tmp_path / "set")

    assert made.manifest["dropped"] == {reason: 1 for reason, _, _ in sorted(UNFIT, key=_reason)}
    assert made.lines == 1


def _reason(case: tuple[str, list[dict[str, Any]], str]) -> str:
    return case[0]


def test_what_was_not_recorded_is_dropped(embedded: Store, tmp_path: Path) -> None:
    """A message that is gone, a catalogue that is gone, a call that failed, an empty reply."""
    recorded = Recorded()
    recorded.one_call("t1", "s-t1", [b"1" * 16], [b"2" * 16])
    recorded.turn("t2", "Q2?", "A.", tools=b"nowhere to be se")
    recorded.one_call("t3", "s-t3", [b"1" * 16], [])
    recorded.turn("t4", "Q4?", "  ")
    recorded.turn("t5", "Q5?", "A.", status="running", stop_reason="running")
    insert(embedded, *recorded.rows)

    made = sft(embedded, tmp_path / "set")

    assert made.manifest["dropped"] == {
        "content_missing": 1,
        "definition_missing": 1,
        "empty_reply": 1,
        "no_reply": 1,
        "turn_not_ended": 1,
    }
    assert made.files == ()


def test_images_are_urls_or_files(embedded: Store, tmp_path: Path) -> None:
    """Beside text, in their order; only files that a line names are there."""
    recorded = Recorded()
    blob = part("blob", modality="image", mime_type="image/png", content=PNG)
    for id_ in ("t1", "t2"):
        asking = message("user", said("What is this?"), blob, scope=f"s-{id_}")
        conversation(recorded, id_, asking)
    recorded.judge("t2", "training_flag", training_flag=-1)
    insert(embedded, *recorded.rows)

    sft(embedded, tmp_path / "openai")
    sft(embedded, tmp_path / "trl", "trl")
    sft(embedded, tmp_path / "inline", "trl", images="urls")

    (openai,) = lines(tmp_path / "openai/train.jsonl")
    (trl,) = lines(tmp_path / "trl/train.jsonl")
    (inline,) = lines(tmp_path / "inline/train.jsonl")
    url = f"data:image/png;base64,{PNG}"
    assert openai["messages"][0]["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    assert faults(openai) == []
    path = trl["prompt"][0]["content"][1]["image"]
    assert (tmp_path / "trl" / path).read_bytes() == b"\x89PNG not really"
    assert [one.name for one in (tmp_path / "trl/images").iterdir()] == [Path(path).name]
    assert inline["prompt"][0]["content"][1] == {"type": "image", "image": url}
    assert not (tmp_path / "inline/images").exists()


def test_messages_of_anthropic(embedded: Store, tmp_path: Path) -> None:
    """Its tool results stand in a user's message beside text: they become messages of their own."""
    recorded = Recorded()
    scope = "s-t1"
    given = (
        message("user", said("Size 42?"), scope=scope, dialect="anthropic.messages"),
        message(
            *("assistant", part("reasoning", content="Look.", signature="x"), said("I look.")),
            *(asked("k1", "stock", size=42), asked("k2", "stock", size=43)),
            scope=scope,
            dialect="anthropic.messages",
        ),
        message(
            *("user", answered("k1", [part("text", text="one")]) | {"is_error": True}),
            *(answered("k2", "two"), said("Be brief."), said("Please.")),
            scope=scope,
            dialect="anthropic.messages",
        ),
    )
    conversation(recorded, "t1", *given)
    insert(embedded, *recorded.rows)

    openai = sft(embedded, tmp_path / "openai")
    trl = sft(embedded, tmp_path / "trl", "trl")

    (line,) = lines(tmp_path / "openai/train.jsonl")
    assert [one["role"] for one in line["messages"]] == [
        *("user", "assistant", "tool", "tool", "user", "assistant"),
    ]
    assert line["messages"][2] == {"role": "tool", "tool_call_id": "k1", "content": "one"}
    assert line["messages"][4]["content"] == [
        {"type": "text", "text": "Be brief."},
        {"type": "text", "text": "Please."},
    ]
    assert faults(line) == []
    assert openai.manifest["left_out"] == {"reasoning": 1, "tool_error_flag": 1}
    (line,) = lines(tmp_path / "trl/train.jsonl")
    assert line["prompt"][1]["reasoning_content"] == "Look."
    assert line["prompt"][4]["content"] == "Be brief.\nPlease."
    assert trl.manifest["left_out"] == {"texts_joined": 1, "tool_error_flag": 1}


def test_a_system_prompt_stands_once(embedded: Store, tmp_path: Path) -> None:
    """Where the API has a field for it, where it is a message, and where there are both."""
    recorded = Recorded()
    kinds = {
        "field": ("Be kind.", "", ()),
        "message": ("Be kind.", "", (said("Be kind."),)),
        "both": ("Be kind.\n\nBe brief.", '"Be kind."', (said("Be brief."),)),
        "blocks": ("Be kind.", '[{"type":"text","text":"Be kind."}]', (said("Be brief."),)),
    }
    for number, (id_, (body, source, leading)) in enumerate(kinds.items()):
        scope = f"s-{id_}"
        first = [message("system", part, scope=scope) for part in leading]
        asking = message("user", said(f"Q of {id_}?"), scope=scope)
        reply = message("assistant", said("A."), scope=scope)
        given = recorded.say(*first, asking)
        recorded.say(reply)
        hash_ = bytes([number + 1]) * 16
        recorded.rows.append(
            Definition(project=PROJECT, hash=hash_, kind="system_prompt", body=body, source=source)
        )
        recorded.one_call(id_, scope, given, [reply.hash])
        row = recorded.rows[-1]
        assert isinstance(row, LlmCall)
        row.system_prompt = hash_
    insert(embedded, *recorded.rows)

    sft(embedded, tmp_path / "set")

    found = {
        line["messages"][-2]["content"][5:-1]: [
            one["content"] for one in line["messages"] if one["role"] == "system"
        ]
        for line in lines(tmp_path / "set/train.jsonl")
    }
    assert found == {
        "field": ["Be kind."],
        "message": ["Be kind."],
        "both": ["Be kind.", "Be brief."],
        "blocks": ["Be kind.", "Be brief."],
    }


def test_items_of_responses_and_calls_of_gemini(embedded: Store, tmp_path: Path) -> None:
    """Items of one reply are one message; calls without ids get some, as do their results."""
    recorded = Recorded()
    responses: dict[str, Any] = {"scope": "s-t1", "dialect": "openai.responses"}
    conversation(
        recorded,
        "t1",
        message("user", said("Size 42?"), **responses),
        message("assistant", part("reasoning", content="Look."), **responses),
        message("assistant", asked("k1", "stock", size=42), **responses),
        message("assistant", asked("k2", "stock", size=43), **responses),
        message("tool", answered("k1", "one"), **responses),
        message("tool", answered("k2", "two"), **responses),
    )
    gemini: dict[str, Any] = {"scope": "s-t2", "dialect": "gemini"}
    nameless = part("tool_call", name="stock", arguments={"size": 42})
    conversation(
        recorded,
        "t2",
        message("user", said("Size 42?"), **gemini),
        message("assistant", nameless, nameless, **gemini),
        message(
            "user", *[part("tool_call_response", name="stock", response={"n": n}) for n in (1, 2)],
            **gemini,
        ),
    )  # fmt: skip
    insert(embedded, *recorded.rows)

    made = sft(embedded, tmp_path / "set")

    assert made.lines == 2
    for line in lines(tmp_path / "set/train.jsonl"):
        calls = [call["id"] for call in line["messages"][1]["tool_calls"]]
        assert [one["tool_call_id"] for one in line["messages"][2:4]] == calls
        assert calls in (["k1", "k2"], ["call_0", "call_1"])
        assert faults(line) == []


def test_the_same_prompt_whatever_its_ids(embedded: Store, tmp_path: Path) -> None:
    """Ids of tool calls differ from run to run: the hash does not."""
    recorded = Recorded()
    for id_ in ("t1", "t2"):
        scope = f"s-{id_}"
        given = (
            message("user", said("Size 42?"), scope=scope),
            message("assistant", asked(f"{id_}-x", "stock", size=42), scope=scope),
            message("tool", answered(f"{id_}-x", "one"), scope=scope),
        )
        conversation(recorded, id_, *given, reply=said(f"Answer {id_}."))
    insert(embedded, *recorded.rows)

    sft(embedded, tmp_path / "set", "trl")

    found = [one["source"] for one in lines(tmp_path / "set/train.jsonl")]
    assert len(found) == 2
    assert len({one["prompt_hash"] for one in found}) == 1
    assert len({one["content_hash"] for one in found}) == 2


def test_a_rewritten_history_is_no_conversation(embedded: Store, tmp_path: Path) -> None:
    """Where the second call was not given what the first one said."""
    recorded = Recorded()
    recorded.with_a_tool("t1", "Size?", "One.")
    changed = message("user", said("(summary of what was before)"), scope="s-t1")
    for row in recorded.rows:
        if getattr(row, "span_id", "") == "c-t1b":
            row.input_messages = [changed.hash]  # type: ignore[attr-defined]
    recorded.say(changed)
    recorded.with_a_tool("t2", "Size?", "Two.")
    insert(embedded, *recorded.rows)

    made = sft(embedded, tmp_path / "set")

    assert made.manifest["dropped"] == {"history_rewritten": 1}
    assert made.lines == 1


def test_a_rule_that_came_later_masks(embedded: Store, tmp_path: Path) -> None:
    """In prompts, replies, system prompts and tools; what was masked is counted."""
    recorded = Recorded()
    tools = [{**TOOLS[0], "description": "Of agent Smith."}]
    recorded.turn(
        *("t1", "I am Smith.", "Hello, Smith."),
        system="You know Smith.",
        tools=recorded.tools(tools),
    )
    insert(embedded, *recorded.rows)
    hidden = Redactor(replace(active(), redact=_without_smith))

    wanted = TrainingSet("sft", good=ANY, splits=ONE)
    made = export(embedded, tmp_path / "set", wanted, redactor=hidden)

    assert b"Smith" not in (tmp_path / "set/train.jsonl").read_bytes()
    assert made.manifest["left_out"]["redacted_now"] >= 2


def _without_smith(text: str, _where: str) -> str:
    return text.replace("Smith", "X")


def test_openai_takes_every_line(embedded: Store, tmp_path: Path) -> None:
    """By the rules that its documentation gives, of whatever was recorded."""
    recorded = random_records(5)
    for number in range(20):
        id_ = f"w{number:02}"
        recorded.with_a_tool(id_, f"Size {number % 5}?", f"Answer {number}.")
        recorded.judge(id_, "score", score=float(number))
    insert(embedded, *recorded.rows)

    sft(embedded, tmp_path / "sft")
    export(embedded, tmp_path / "pairs", TrainingSet("preference", unit="call"))
    export(embedded, tmp_path / "turns", TrainingSet("preference"))

    found = everything(tmp_path / "sft")
    pairs = everything(tmp_path / "pairs") + everything(tmp_path / "turns")
    assert len(found) > 30
    assert len(pairs) > 20
    assert [fault for line in found for fault in faults(line)] == []
    assert [fault for line in pairs for fault in preference_faults(line)] == []
    for line, source in zip(found, lines(tmp_path / "sft/train.sources.jsonl"), strict=True):
        assert line["messages"][-1]["content"]
        assert source["content_hash"]


def test_the_checks_find_faults() -> None:
    """The rules are looked at, not only said."""
    asking = {"role": "user", "content": "Q?"}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    wrong: list[dict[str, Any]] = [
        {"messages": []},
        {"messages": [asking]},
        {"messages": [asking, {"role": "assistant", "content": None}]},
        {"messages": [asking, {"role": "assistant", "content": "A.", "weight": 0}]},
        {"messages": [{"role": "tool", "tool_call_id": "c", "content": "x"}]},
        {"messages": [asking, {"role": "assistant", "content": "A.", "reasoning_content": "x"}]},
        {"messages": [{"role": "assistant", "content": None, "tool_calls": [call]}, asking]},
        {"messages": [asking, {"role": "assistant", "content": "A."}], "source": {}},
    ]

    assert [line for line in wrong if not faults(line)] == []
    assert preference_faults({"input": {"messages": [asking]}, "preferred_output": []})
    assert faults({"messages": [asking, {"role": "assistant", "content": "A."}]}) == []
