"""Records in words, for the messages of failing tests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from turnspan.content.model import as_dict
from turnspan.testing.records import (
    RecordedAnnotation,
    RecordedCall,
    RecordedSpan,
    RecordedTool,
    RecordedTurn,
)

_WIDTH = 100


def show(
    turns: Sequence[RecordedTurn], calls: Sequence[RecordedCall], tools: Sequence[RecordedTool]
) -> str:
    """The turns with their calls and tools below them, then those of no turn."""
    if not turns and not calls and not tools:
        return "nothing was recorded"
    known = {turn.id for turn in turns}
    lines: list[str] = []
    for turn in turns:
        lines.append(describe(turn))
        inside: list[RecordedCall | RecordedTool] = [c for c in calls if c.turn_id == turn.id]
        inside += [tool for tool in tools if tool.turn_id == turn.id]
        lines += _indented(inside)
        if turn.text:
            lines.append(f"  says {_short(turn.text)}")
    rest: list[RecordedCall | RecordedTool] = [c for c in calls if c.turn_id not in known]
    rest += [tool for tool in tools if tool.turn_id not in known]
    if rest:
        lines += ["outside of turns", *_indented(rest)]
    return "\n".join(lines)


def _indented(found: Iterable[RecordedCall | RecordedTool]) -> list[str]:
    return [f"  {describe(each)}" for each in sorted(found, key=lambda each: each.start_time)]


def describe(record: object) -> str:
    """A record in a line."""
    if isinstance(record, RecordedTurn):
        return _turn(record)
    if isinstance(record, RecordedCall):
        return _call(record)
    if isinstance(record, RecordedTool):
        result = record.error_message or record.error_type or record.result
        word = "failed:" if record.failed else "->"
        return f"tool {record.name}({_arguments(record.arguments)}) {word} {_short(result)}"
    if isinstance(record, RecordedAnnotation):
        said = [record.outcome, record.score, record.training_flag, record.comment]
        told = ", ".join(str(each) for each in said if each not in ("", None))
        return f"annotation of {record.subject_kind} {record.subject_id}: {record.kind} {told}"
    if isinstance(record, RecordedSpan):
        return f"span {record.name!r} of {record.scope or 'no scope'} ({record.status})"
    return repr(record)


def _turn(turn: RecordedTurn) -> str:
    name = f" of {turn.agent_name}" if turn.agent_name else ""
    user = f" on {_short(turn.user_message)}" if turn.user_message else ""
    end = turn.stop_reason or turn.status
    error = f" ({turn.error_type}: {_short(turn.error_message)})" if turn.error_type else ""
    return f"turn{name}{user}: {end}{error}"


def _call(call: RecordedCall) -> str:
    said: list[str] = [_short(call.text)] if call.text else []
    said += [f"asks for {t.name}({_arguments(t.arguments)})" for t in call.tool_requests]
    if call.error_type:
        said.append(f"{call.error_type}: {_short(call.error_message)}")
    tokens = "" if call.input_tokens is None else f" [{call.input_tokens}+{call.output_tokens}]"
    return f"call {call.operation} {call.model}{tokens}: {'; '.join(said) or 'no reply'}"


def _arguments(arguments: Any) -> str:
    given = as_dict(arguments)
    if given is not None:
        return ", ".join(f"{name}={_short(value)}" for name, value in given.items())
    return _short(arguments) if arguments else ""


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _WIDTH else f'{text[: _WIDTH - 4]}..."'
