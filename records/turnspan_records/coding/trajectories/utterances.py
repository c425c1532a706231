"""A conversation as a row of utterances, as trajectory formats have it: each message once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final, TypeAlias

import orjson

from turnspan.content.model import as_dict
from turnspan_records.access.fields import parsed
from turnspan_records.conversation import (
    CallRecord,
    MessageRecord,
    Step,
    ToolExecutionRecord,
    ToolRequestRecord,
    TurnRecord,
)

_PLACED: Final = frozenset({"text", "reasoning", "tool_call", "tool_call_response"})
"""The types of parts that every format has a place for."""


@dataclass(frozen=True, slots=True)
class SpokenMessage:
    """A message that a model did not say in this session.

    ``role`` is ``system``, ``user`` or, for a reply of another session, ``assistant``.
    """

    role: str
    text: str
    time: datetime
    left_out: Mapping[str, int]
    """How many parts of each type the formats have no place for."""


SpokenStep: TypeAlias = SpokenMessage | CallRecord | ToolExecutionRecord | TurnRecord


def utterances(steps: Sequence[Step], prompt: str = "") -> Iterator[SpokenStep]:
    """What was said and done, in the order of time.

    Results of tools are with their requests (``CallRecord.requests``). ``prompt`` is the user's
    message of the turn around ``steps``, for calls whose messages were not recorded.
    """
    heard = not prompt
    for step in steps:
        if isinstance(step, CallRecord):
            if step.system_prompt:
                yield SpokenMessage("system", step.system_prompt, step.start_time, {})
            for message in step.new_messages:
                if message.recorded and message.role != "tool" and not _is_results(message):
                    role = "system" if message.role == "developer" else message.role or "user"
                    heard = heard or role == "user"
                    yield SpokenMessage(role, message.text, step.start_time, left_out([message]))
            if not heard:
                heard = True
                yield SpokenMessage("user", prompt, step.start_time, {})
        elif isinstance(step, TurnRecord) and not (step.parent_turn_id or _was_asked(step)):
            yield SpokenMessage("user", step.user_message, step.start_time, {})
        yield step


def _is_results(message: MessageRecord) -> bool:
    results = any(part.get("type") == "tool_call_response" for part in message.parts)
    return results and not message.text


def _was_asked(turn: TurnRecord) -> bool:
    """Whether a model was asked, whose call has the prompt; or there is no prompt."""
    return not turn.user_message or any(isinstance(one, CallRecord) for one in turn.steps)


def left_out(messages: Sequence[MessageRecord]) -> dict[str, int]:
    """The number of parts by type that no format here has a place for: images, files, ..."""
    types = (str(part.get("type")) for one in messages for part in one.parts)
    return dict(Counter(one for one in types if one not in _PLACED))


def reply_text(call: CallRecord) -> str:
    """The visible text of a reply."""
    return "\n\n".join(filter(None, (one.text for one in call.replies))) or call.response_text


def reasoning(call: CallRecord) -> str:
    """The reasoning of a reply, as far as the provider showed it."""
    return call.response_thoughts or "\n\n".join(
        str(part.get("content") or "")
        for one in call.replies
        for part in one.parts
        if part.get("type") == "reasoning"
    )


def arguments(value: Any) -> dict[str, Any]:
    """The arguments of a tool call as the object that the formats ask for."""
    value = parsed(value) if isinstance(value, str) else value
    found = as_dict(value)
    return found if found is not None else {} if value in (None, "") else {"input": value}


def result_text(request: ToolRequestRecord) -> str | None:
    """What the model was given for a tool call, else what the tool returned; ``None``: unknown."""
    value: Any = request.seen
    if not request.answered:
        if request.execution is None:
            return None
        value = request.execution.result or request.execution.error_message
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def call_ids(requests: Sequence[ToolRequestRecord]) -> list[str]:
    """An id of each request that no other request of the reply has."""
    found: list[str] = []
    for number, request in enumerate(requests, 1):
        known = request.call_id and request.call_id not in found
        found.append(request.call_id if known else f"{request.call_id or 'call'}_{number}")
    return found


def asked_for(turn: TurnRecord, requests: Sequence[ToolRequestRecord]) -> int | None:
    """Which of the requests ran while a nested turn began: the last one that did."""
    for at, request in reversed(list(enumerate(requests))):
        ran = request.execution
        if ran and timedelta() <= turn.start_time - ran.start_time <= timedelta(
            seconds=ran.duration
        ):
            return at
    return None


def total(numbers: Sequence[int | Decimal | None]) -> Any:
    """The sum of what is known; ``None`` where nothing is."""
    known = [one for one in numbers if one is not None]
    return sum(known) if known else None


def main_model(calls: Iterable[CallRecord]) -> str | None:
    """The model of most calls."""
    models = Counter(call.model for call in calls if call.model)
    return models.most_common(1)[0][0] if models else None


def dollars(cost: Decimal | None) -> float | None:
    """A cost as JSON has it."""
    return None if cost is None else float(cost)


def written_time(time: datetime) -> str:
    """ISO 8601 in UTC, with a ``Z``."""
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def without_nothing(values: Mapping[str, Any]) -> dict[str, Any]:
    """An object without the members that say nothing."""
    return {name: one for name, one in values.items() if one not in (None, "", [], {})}
