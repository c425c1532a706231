"""Importing lines of OpenAI's and Anthropic's JSON: transcripts, logged calls, batches."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from support.imported import Imported, import_files, written
from support.shared import trajectories
from turnspan_records.importing.sources import SourceLogError
from turnspan_records.importing.transcripts.anthropic import ANTHROPIC
from turnspan_records.importing.transcripts.openai import OPENAI
from turnspan_records.importing.transcripts.transcript_lines import Transcripts

CREATED = 1_400_000_000
"""In 2014: further back than a receiver takes."""


def of_openai(*paths: Path, **how: Any) -> Imported:
    return import_files(Transcripts(OPENAI), paths, **how)


def of_anthropic(*paths: Path, **how: Any) -> Imported:
    return import_files(Transcripts(ANTHROPIC), paths, **how)


def completion(number: int, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": CREATED + number,
        "model": "gpt-4o-2024-08-06",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", **message},
                "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        **more,
    }


SAID = {"content": "said"}


def talks(number: int) -> list[list[dict[str, Any]]]:
    """The messages of real runs of an agent."""
    (path,) = trajectories("tau-bench__gpt-4o-airline")
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line)["record"]["traj"] for line, _ in zip(lines, range(number))]  # noqa: B905


def asked(talk: list[dict[str, Any]]) -> list[int]:
    return [place for place, message in enumerate(talk) if message["role"] == "assistant"]


def logged(talk: list[dict[str, Any]], number: int) -> list[dict[str, Any]]:
    """Each call of a conversation as a line of a log of requests and responses."""
    return [
        {
            "request": {"model": "gpt-4o", "messages": talk[:place]},
            "response": completion(1_000 * number + place, talk[place]),
        }
        for place in asked(talk)
    ]


def shape(made: Imported) -> list[Any]:
    """Sessions by their calls, whatever their names are: rounds, reply, what was asked."""
    sessions: dict[str, list[Any]] = {}
    turns = {turn.turn_id: (turn.user_message, turn.rounds) for turn in made.turns}
    for call in made.calls:
        what = (call.round, call.response_text, call.tool_calls, turns[call.turn_id])
        sessions.setdefault(call.session_id, []).append((what, made.said(call.input_messages)))
    return sorted(sessions.values(), key=repr)


def test_a_transcript_is_its_calls_turns_and_tools(tmp_path: Path) -> None:
    """Each answer is a call whose input is what stands before it, as a log of the calls has it."""
    runs = talks(12)
    transcripts = written(tmp_path / "t.jsonl", *({"messages": talk} for talk in runs))
    lines = [line for number, talk in enumerate(runs) for line in logged(talk, number)]

    told, calls = of_openai(transcripts), of_openai(written(tmp_path / "c.jsonl", *lines))

    assert len(told.calls) == len(calls.calls) == len(lines)
    assert len({call.session_id for call in told.calls}) == len(runs)
    assert shape(told) == shape(calls)
    assert {turn.stop_reason for turn in told.turns} <= {"completed", "loop_detected"}
    # What a tool brought after the last answer stands in the transcript only.
    last = [
        message["content"]
        for talk in runs
        for message in talk[asked(talk)[-1] :]
        if message["role"] == "tool"
    ]
    assert last
    assert sorted(tool.result for tool in told.tools) == sorted(
        [*(tool.result for tool in calls.tools), *last]
    )
    assert {call.input_tokens for call in told.calls} == {None}
    assert {call.input_tokens for call in calls.calls} == {10}
    assert {c.start_time // 10**9 for c in calls.calls} == {
        CREATED + 1_000 * number + place
        for number, talk in enumerate(runs)
        for place in asked(talk)
    }


@pytest.mark.release
def test_calls_of_many_conversations_at_once_find_theirs(tmp_path: Path) -> None:
    runs = talks(12)
    each = [logged(talk, number) for number, talk in enumerate(runs)]
    in_turn = [lines.pop(0) for lines in random.Random(1).sample(each * 30, 360) if lines]
    in_turn += [line for lines in each for line in lines]
    mixed = of_openai(written(tmp_path / "mixed.jsonl", *in_turn))
    apart = of_openai(
        written(
            tmp_path / "apart.jsonl",
            *(line for number, talk in enumerate(runs) for line in logged(talk, number)),
        )
    )

    assert shape(mixed) == shape(apart)


def test_a_file_that_grew_is_as_if_it_had_always_been_so(tmp_path: Path) -> None:
    """What goes on after the import is part of its conversation, and untimed lines keep theirs."""
    talk, other = talks(2)
    lines = [*logged(talk, 0)[:4], {"messages": other}]
    path = written(tmp_path / "log.jsonl", *lines)
    os.utime(path, (CREATED, CREATED))
    first = of_openai(path)
    rest = [*logged(talk, 0)[4:], {"messages": other}]
    with path.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in rest)

    second = of_openai(path, after=first.positions[-1])
    os.utime(path, (CREATED, CREATED))
    whole = of_openai(path)

    assert second.seen == {
        ("log.jsonl", "a call"): len(logged(talk, 0)),
        ("log.jsonl", "a transcript"): 1,
    }
    assert {**first.rows, **second.rows}.keys() == whole.rows.keys()
    assert {row.session_id for row in second.calls} <= {row.session_id for row in whole.calls}
    third = of_openai(path, after=second.positions[-1])
    assert not third.seen
    assert not third.rows


def test_an_import_that_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    runs = talks(6)
    path = written(
        tmp_path / "t.jsonl",
        *(line for number, talk in enumerate(runs) for line in logged(talk, number)),
    )
    whole = of_openai(path)
    for most in (1, 3, 6):
        begun = of_openai(path, most=most)
        gone_on = of_openai(path, after=begun.positions[-1], into=begun)
        assert gone_on.rows.keys() == whole.rows.keys()
        assert gone_on.seen == whole.seen


def test_what_is_not_understood_costs_only_itself(tmp_path: Path) -> None:
    good = {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    path = written(
        tmp_path / "odd.jsonl",
        good,
        '{"messages": [',
        {"something": "else"},
        {"messages": [{"role": "user", "content": "nobody answered"}]},
        "17",
        good,
        '{"messages": [{"role": "us',
        end="",
    )

    made = of_openai(path)

    assert [problem.row for problem in made.problems] == [f"odd.jsonl:{n}" for n in (2, 3, 4, 5, 7)]
    assert made.problems[0].reason.startswith("it is not JSON")
    assert made.problems[0].reason.endswith('{"messages": [')
    assert len(made.calls) == 2
    assert made.seen.total() == 7
    # The last line was being written: it comes with the next import.
    with path.open("a", encoding="utf-8") as file:
        file.write('er", "content": "c"}, {"role": "assistant", "content": "d"}]}\n')
    later = of_openai(path, after=made.positions[-1])
    assert not later.problems
    assert [call.response_text for call in later.calls] == ["d"]


def test_the_two_files_of_a_batch_are_one_call_a_line(tmp_path: Path) -> None:
    def sent(name: str) -> dict[str, Any]:
        body = {"model": "gpt-4o", "messages": [{"role": "user", "content": f"ask {name}"}]}
        return {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": body}

    def came(name: str, status: int, body: Any, error: Any = None) -> dict[str, Any]:
        answer = {"status_code": status, "request_id": f"req-{name}", "body": body}
        return {"id": f"batch_{name}", "custom_id": name, "response": answer, "error": error}

    failed = {"error": {"message": "too long", "type": "invalid_request_error", "code": "length"}}
    asks = written(tmp_path / "in.jsonl", *(sent(name) for name in ("a", "b", "c", "d")))
    answers = written(
        tmp_path / "out.jsonl",
        came("b", 200, completion(2, {"content": "to b"})),
        came("a", 200, completion(1, {"content": "to a"})),
        came("c", 400, failed),
    )

    made = of_openai(asks, answers)

    said = [(made.said(c.input_messages)[0][1], c.response_text, c.error_type) for c in made.calls]
    assert sorted(said) == [
        (["ask a"], "to a", ""),
        (["ask b"], "to b", ""),
        (["ask c"], "", "length"),
    ]
    assert made.seen == {
        ("in.jsonl", "a batch's request"): 3,
        ("in.jsonl", "a batch's request without an answer"): 1,
        ("out.jsonl", "a call"): 2,
        ("out.jsonl", "a call that failed"): 1,
    }
    assert not made.problems


def test_the_responses_api_and_what_a_provider_has_stored(tmp_path: Path) -> None:
    first: dict[str, Any] = {
        "id": "resp_1",
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "model": "gpt-5",
        "output": [
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "one", "annotations": []}],
            }
        ],
        "usage": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10},
    }
    second = {**first, "id": "resp_2", "created_at": CREATED + 1}
    stored = completion(9, {"content": "kept"}, temperature=0.5, metadata={"session_id": "s 9"})
    path = written(
        tmp_path / "r.jsonl",
        {"request": {"model": "gpt-5", "input": "go"}, "response": first},
        stored,
        {
            "request": {"model": "gpt-5", "input": "on", "previous_response_id": "resp_1"},
            "response": second,
        },
        {"prompt": "2 + 2 =", "completion": " 4"},
        {"messages": [{"role": "user", "content": "beside"}], "response": completion(10, SAID)},
        {"messages": [{"role": "user", "content": "as a text"}], "output": "told"},
    )

    made = of_openai(path)

    calls = {call.response_id: call for call in made.calls}
    assert calls["resp_1"].session_id == calls["resp_2"].session_id
    assert calls["resp_1"].input_tokens == 7
    assert calls["chatcmpl-9"].session_id == "s 9"
    assert json.loads(calls["chatcmpl-9"].request_parameters)["temperature"] == 0.5
    assert {call.response_text for call in made.calls if not call.response_id} == {" 4", "told"}
    assert made.said(calls["chatcmpl-10"].input_messages) == [("user", ["beside"])]
    assert not made.problems


def test_a_line_that_is_there_twice_is_one_call(tmp_path: Path) -> None:
    """Also where a log gives several calls the id of the span around them."""
    first, second = logged(talks(1)[0], 0)[:2]
    around = {"trace_id": "a" * 32, "span_id": "b" * 16, "session_id": "s"}
    lines = [{**first, **around}, {**first, **around}, {**second, **around}]

    made = of_openai(written(tmp_path / "t.jsonl", *lines))

    assert made.seen == {("t.jsonl", "a call"): 2, ("t.jsonl", "a call that came again"): 1}
    assert len({call.span_id for call in made.calls}) == len(made.calls) == 2
    assert all(call.input_messages for call in made.calls)


def test_anthropic_s_lines(tmp_path: Path) -> None:
    question = {"role": "user", "content": "weather?"}
    use = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"at": "Bern"}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "rain"}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-5",
        "content": [use],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 20, "output_tokens": 9},
    }
    text = {"type": "text", "text": "It rains."}
    done = {**message, "id": "msg_2", "content": [text], "stop_reason": "end_turn"}
    history: list[Any] = [question, {"role": "assistant", "content": [use]}]
    history.append({"role": "user", "content": [result]})
    params = {"model": "claude-sonnet-5", "max_tokens": 9, "system": "be brief"}
    path = written(
        tmp_path / "a.jsonl",
        {"request": {**params, "messages": [question]}, "response": message, "created_at": CREATED},
        {"request": {**params, "messages": history}, "response": done, "created_at": CREATED + 1},
        {"custom_id": "x", "result": {"type": "succeeded", "message": {**done, "id": "msg_3"}}},
        {
            "custom_id": "y",
            "result": {
                "type": "errored",
                "error": {"type": "error", "error": {"type": "overloaded_error", "message": "m"}},
            },
        },
        {"system": "s", "messages": [*history, {"role": "assistant", "content": "It rains."}]},
    )

    made = of_anthropic(path)

    calls = {call.response_id or call.error_type or call.round: call for call in made.calls}
    assert (calls["msg_1"].session_id, calls["msg_2"].round) == (calls["msg_2"].session_id, 2)
    assert (calls["msg_1"].input_tokens, calls["msg_1"].cache_read_tokens) == (25, 20)
    assert calls["msg_1"].cost_usd is not None
    assert calls["msg_1"].start_time == CREATED * 10**9
    assert (calls["msg_3"].response_text, calls["overloaded_error"].error_message) == (
        "It rains.",
        "m",
    )
    assert [tool.result for tool in made.tools] == ["rain", "rain"]
    assert calls[2].response_text == "It rains."
    assert {call.provider for call in made.calls} == {"anthropic"}
    assert not made.problems


@pytest.mark.parametrize("form", ["lines", "array", "pretty", "gzip", "bom"])
def test_a_file_of_any_form_is_the_same(tmp_path: Path, form: str) -> None:
    lines = [{"messages": talk} for talk in talks(4)]
    path = tmp_path / "t"
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    text = {
        "array": json.dumps(lines),
        "pretty": json.dumps(lines, indent=2, ensure_ascii=False),
        "bom": "\ufeff" + text,
    }.get(form, text)
    data = text.encode()
    if form == "gzip":
        data = gzip.compress(data[:1_000]) + gzip.compress(data[1_000:])
    path.write_bytes(data)

    made = of_openai(path)

    assert not made.problems
    assert len(made.calls) == sum(len(asked(line["messages"])) for line in lines)


def test_a_cut_document_is_told_of(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    lines = [{"messages": talk} for talk in talks(3)]
    path.write_text(json.dumps(lines)[:-300])

    made = of_openai(path)

    assert len(made.problems) == 1
    assert made.seen.total() == 3
    with pytest.raises(SourceLogError, match="is cut"):
        (tmp_path / "t.gz").write_bytes(gzip.compress(b"x" * 10_000)[:-20])
        of_openai(tmp_path / "t.gz")
