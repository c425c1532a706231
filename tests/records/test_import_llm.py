"""``turnspan import llm``: what real versions of llm have logged, as records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.llm_samples import (
    VERSIONS,
    accounted,
    import_llm,
    rows_of,
    sample,
    source_counts,
    told,
)
from support.representatives import few
from turnspan import config
from turnspan_clickhouse.store.client import Store

pytestmark = pytest.mark.parametrize("store_kind", ["embedded"])


def query(store: Store, sql: str) -> list[Any]:
    return [row[0] if len(row) == 1 else tuple(row) for row in store.query(sql).rows]


def messages(store: Store, said: str) -> list[tuple[str, list[dict[str, Any]]]]:
    """Role and parts of what the call was sent that was answered like this."""
    rows = store.query(
        "SELECT role, parts FROM (SELECT arrayJoin(arrayEnumerate(input_messages)) AS place,"
        " input_messages[place] AS hash, session_id FROM llm_call FINAL"
        " WHERE response_text = {said:String}) AS asked"
        " INNER JOIN (SELECT * FROM message FINAL) AS m"
        " ON m.hash = asked.hash AND m.scope = asked.session_id ORDER BY place",
        {"said": said},
    ).rows
    return [(str(role), json.loads(str(parts))) for role, parts in rows]


def texts(found: list[tuple[str, list[dict[str, Any]]]]) -> list[tuple[str, str]]:
    return [(role, str(part.get("content"))) for role, parts in found for part in parts]


@pytest.mark.parametrize("version", few(VERSIONS, ("0.13", "0.26", "0.36")))
def test_every_version_s_log_is_imported_whole(store: Store, tmp_path: Path, version: str) -> None:
    """Each response is a call, each thing that was asked begins a turn, in the session of its
    conversation; every row is accounted for, and a second import finds nothing new."""
    path = sample(version, tmp_path)
    report = import_llm(store, path)

    assert (report.problem_count, report.waiting) == (0, "")
    assert accounted(report) == source_counts(path)
    said = told(version)
    asked = [each["prompt"] for each in said]
    answers = [each["text"] for each in said]
    rows = query(store, "SELECT response_text FROM turn_summary FINAL ORDER BY start_time")
    assert rows == answers
    shown = [prompt.rpartition("\n")[2] for prompt in asked]
    assert query(store, "SELECT user_message FROM turn_summary FINAL ORDER BY start_time") == shown
    (sent,) = [messages(store, "You said: third")]
    assert texts(sent)[:5] == [
        ("system", "Be brief."),
        ("user", "first"),
        ("assistant", "You said: first"),
        ("user", "second"),
        ("assistant", "You said: second"),
    ]
    assert texts(sent)[-1] == ("user", "third")
    once = rows_of(store)
    again = import_llm(store, path)
    assert (again.resumed, again.rows) == (True, {})
    assert accounted(again) == source_counts(path)
    import_llm(store, path, again=True)
    assert rows_of(store) == once


def test_what_a_call_was_given_is_in_its_columns(store: Store, tmp_path: Path) -> None:
    """Options and schemas are request parameters, tokens and their details counts, and what the
    provider said of its answer; the rest is attributes."""
    import_llm(store, sample("0.31", tmp_path))

    (first,) = query(
        store,
        "SELECT request_model, response_model, response_id, finish_reasons, input_tokens,"
        " output_tokens, cache_read_tokens, request_parameters, service, scope_name,"
        " attributes['llm.token_details'], session_id = attributes['llm.response.id']"
        " FROM llm_call FINAL WHERE response_text = 'You said: first'",
    )
    assert first == (
        *("small", "small-1-2024", "chatcmpl-1", ["stop"], 12, 7, 4, '{"temperature":0.5}'),
        *("llm", "turnspan.import.llm", '{"prompt_tokens_details": {"cached_tokens": 4}}', False),
    )
    (dog,) = query(
        store,
        "SELECT request_parameters, attributes['gen_ai.output.type'] FROM llm_call FINAL"
        " WHERE response_text = 'You said: a dog'",
    )
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    assert (json.loads(dog[0]), dog[1]) == ({"schema": schema}, "json")


@pytest.mark.parametrize("version", ["0.20", "0.36"])
def test_attachments_are_parts_and_bytes_their_hash(
    store: Store, tmp_path: Path, version: str
) -> None:
    import_llm(store, sample(version, tmp_path))

    ((role, parts),) = messages(store, "You said: what is in these")
    assert role == "user"
    assert parts[0] == {"type": "text", "content": "what is in these"}
    digest = "00023965829ad187893d5eb1aedff72a9e9e179f2a867e15f90c19b32064eb5a"
    assert parts[1] == {
        "type": "blob", "modality": "image", "mime_type": "image/png", "sha256": digest,
        "size": 67,
    }  # fmt: skip
    assert parts[2]["uri"] == "https://example.com/a.png"
    assert parts[3]["mime_type"] == "text/plain"
    assert parts[3]["uri"].endswith("llm-attached.txt")


def test_media_are_kept_where_they_are_recorded(store: Store, tmp_path: Path) -> None:
    config.activate(config.resolve({"capture_media": True}))
    import_llm(store, sample("0.36", tmp_path))
    ((_, parts),) = messages(store, "You said: what is in these")
    assert parts[1]["content"].startswith("iVBORw0KGgo")


@pytest.mark.parametrize("version", ["0.25", "0.36"])
def test_fragments_are_part_of_the_text_as_llm_sends_it(
    store: Store, tmp_path: Path, version: str
) -> None:
    import_llm(store, sample(version, tmp_path))

    whole = "Once upon a time.\nThere was a log.\nand the end?"
    assert texts(messages(store, f"You said: {whole}")) == [
        ("system", "You are old.\n\nTell tales."),
        ("user", whole),
    ]
    (turn,) = query(
        store,
        "SELECT user_message, attributes['llm.conversation.name'] != '' FROM turn_summary FINAL"
        " WHERE startsWith(response_text, 'You said: Once')",
    )
    assert turn == ("and the end?", True)
    (given,) = query(
        store,
        "SELECT attributes['llm.prompt_fragments'] FROM llm_call FINAL"
        " WHERE startsWith(response_text, 'You said: Once')",
    )
    assert [len(each["hash"]) for each in json.loads(given)] == [64, 64]


@pytest.mark.parametrize("version", ["0.26", "0.36"])
def test_a_chain_of_tools_is_one_turn(store: Store, tmp_path: Path, version: str) -> None:
    """The call that asks for tools and the one that gets their results are its rounds; the tools
    ran between them. From 0.31 on llm says which failed."""
    import_llm(store, sample(version, tmp_path))

    (turn,) = query(
        store,
        "SELECT rounds, llm_call_count, tool_call_count, tool_error_count, turn_id,"
        " response_text, duration > 0 FROM turn_summary FINAL"
        " WHERE user_message = 'use the tools'",
    )
    failed = 0 if version == "0.26" else 1
    answer = "It came to 2, Error: no such number"
    assert turn[:4] == (2, 2, 2, failed)
    assert turn[5:] == (answer, True)
    tools = query(
        store,
        "SELECT name, call_id, arguments, result, failed, round, turn_id, error_message"
        " FROM tool_call FINAL ORDER BY start_time",
    )
    why = "no such number" if failed else ""
    assert tools == [
        ("add", "call-0", '{"a":2,"b":0}', "2", False, 1, turn[4], ""),
        *[
            ("broken", "call-1", '{"a":2,"b":1}', "Error: no such number", bool(failed), 1,
             turn[4], why)
        ],
    ]  # fmt: skip
    calls = query(
        store,
        "SELECT round, tool_calls != '', length(input_messages) FROM llm_call FINAL"
        f" WHERE turn_id = '{turn[4]}' ORDER BY start_time",
    )
    assert [call[:2] for call in calls] == [(1, True), (2, False)]
    (defined,) = query(store, "SELECT body FROM definition FINAL WHERE kind = 'tool_definitions'")
    assert [tool["name"] for tool in json.loads(defined)] == ["add", "broken"]
    assert [role for role, _ in messages(store, answer)][:3] == ["system", "user", "assistant"]


def test_reasoning_is_kept_beside_the_answer(store: Store, tmp_path: Path) -> None:
    import_llm(store, sample("0.36", tmp_path))
    assert query(
        store, "SELECT response_text, response_thoughts FROM llm_call FINAL WHERE"
        " request_model = 'thinking'",
    ) == [("Done.", "Let me think.")]  # fmt: skip


def test_without_content_only_what_is_counted_is_imported(store: Store, tmp_path: Path) -> None:
    """Where content is not recorded, an import does not bring any."""
    config.activate(config.resolve({"capture_content": False}))
    import_llm(store, sample("0.36", tmp_path))
    assert query(store, "SELECT count(), sum(output_tokens) FROM llm_call FINAL") == [(12, 77)]
    assert query(store, "SELECT count() FROM message") == [0]
    everything = json.dumps(rows_of(store), default=str)
    assert "tool" in everything
    for said in ("You said", "Once upon", "Be brief", "hello"):
        assert said not in everything
