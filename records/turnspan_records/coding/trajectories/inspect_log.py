"""Logs of Inspect (UK AI Security Institute): an ``EvalLog`` a session, a sample a turn.

Source: ``inspect_ai.log`` of inspect-ai 0.3.285, log version 2, JSON form. A turn was not scored as
an evaluation's sample is, so there are no scores; how it ended is in the sample's metadata.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from turnspan import semconv
from turnspan_records.coding.trajectories import utterances as spoken
from turnspan_records.coding.trajectories.utterances import SpokenMessage, without_nothing
from turnspan_records.conversation import CallRecord, Conversation, TurnRecord

_STOPS: Final = {
    **dict.fromkeys(("stop", "end_turn", "stop_sequence", "STOP", "completed"), "stop"),
    **dict.fromkeys(("length", "max_tokens", "MAX_TOKENS", "max_output_tokens"), "max_tokens"),
    **dict.fromkeys(("tool_calls", "tool_use", "toolUse"), "tool_calls"),
    **dict.fromkeys(("content_filter", "refusal", "SAFETY"), "content_filter"),
}
"""Finish reasons of providers, as Inspect calls them."""


def evaluation_log(conversation: Conversation, facts: Mapping[str, str]) -> dict[str, Any] | None:
    """The log of a session; ``None`` where it has no turn.

    Args:
        conversation: a session, as ``replay`` gives it.
        facts: attributes of its first turn, for the metadata.
    """
    turns = list(conversation.turns())
    if not turns:
        return None
    id_ = conversation.session_id or conversation.trace_id
    ended = sum(turn.status == "final" and not turn.error_type for turn in turns)
    ids = [turn.turn_id for turn in turns]
    spec = {
        **dict.fromkeys(("task_id", "eval_id", "run_id"), id_),
        "created": spoken.written_time(turns[0].start_time),
        "task": turns[0].agent_name or "session",
        "task_version": turns[0].agent_version or 0,
        "dataset": {"name": conversation.project, "samples": len(ids), "sample_ids": ids},
        "model": spoken.main_model(conversation.calls()) or "none",
        "config": {},
        "metadata": {"project": conversation.project, "session_id": id_, **facts},
    }
    origin = facts.get(semconv.VCS_REPOSITORY_URL, "")
    if commit := facts.get(semconv.VCS_HEAD_REVISION, ""):
        spec["revision"] = {"type": "git", "origin": origin, "commit": commit}
    return {
        "version": 2,
        "status": "success",
        "eval": spec,
        "results": {"total_samples": len(ids), "completed_samples": ended},
        "stats": {"model_usage": _usage([call for call in conversation.calls() if call.model])},
        "samples": [_sample(turn) for turn in turns],
    }


def _sample(turn: TurnRecord) -> dict[str, Any]:
    messages: list[dict[str, Any]] = []
    calls: list[CallRecord] = []
    for step in spoken.utterances(turn.steps, turn.user_message):
        if isinstance(step, SpokenMessage):
            role = step.role if step.role in ("user", "assistant") else "system"
            messages.append({"role": role, "content": step.text})
        elif isinstance(step, CallRecord):
            calls.append(step)
            messages += _exchange(step)
    last = calls[-1] if calls else None
    made: dict[str, Any] = {
        "id": turn.turn_id,
        "epoch": 1,
        "input": turn.user_message,
        "target": "",
        "messages": messages,
        "output": _output(last) if last else {},
        "model_usage": _usage(calls),
        "metadata": without_nothing(
            {
                "agent": turn.agent_name,
                "agent_version": turn.agent_version,
                "parent_turn_id": turn.parent_turn_id,
                "ended": turn.ended_how,
                "stop_detail": turn.stop_detail,
                "cost_usd": spoken.dollars(turn.cost_usd),
            }
        ),
        "uuid": turn.turn_id,
        "total_time": turn.duration,
        "started_at": spoken.written_time(turn.start_time),
    }
    if turn.error_type:
        message = f"{turn.error_type}: {turn.error_message}"
        made["error"] = {"message": message, "traceback": "", "traceback_ansi": ""}
    return made


def _exchange(call: CallRecord) -> list[dict[str, Any]]:
    """A reply, and the results of the tools that it asked for."""
    made = [_reply(call)]
    for id_, request in zip(spoken.call_ids(call.requests), call.requests, strict=True):
        text = spoken.result_text(request)
        if text is None:
            continue
        result: dict[str, Any] = {"role": "tool", "content": text}
        result |= {"tool_call_id": id_, "function": request.name}
        ran = request.execution
        if ran is not None and ran.failed:
            result["error"] = {"type": "unknown", "message": ran.error_message or text}
        made.append(result)
    return made


def _reply(call: CallRecord) -> dict[str, Any]:
    text, thought = spoken.reply_text(call), spoken.reasoning(call)
    parts = [{"type": "reasoning", "reasoning": thought}, {"type": "text", "text": text}]
    reply: dict[str, Any] = {"id": call.span_id, "role": "assistant", "model": call.model}
    reply |= {"content": parts if thought else text, "source": "generate"}
    if call.requests:
        reply["tool_calls"] = [
            {"id": id_, "type": "function", "function": one.name}
            | {"arguments": spoken.arguments(one.arguments)}
            for id_, one in zip(spoken.call_ids(call.requests), call.requests, strict=True)
        ]
    return reply


def _output(call: CallRecord) -> dict[str, Any]:
    reason = call.finish_reasons[0] if call.finish_reasons else ""
    choice = {"message": _reply(call), "stop_reason": _STOPS.get(reason, "unknown")}
    return {
        "model": call.model,
        "choices": [choice],
        "completion": spoken.reply_text(call),
        "error": f"{call.error_type}: {call.error_message}" if call.error_type else None,
        "time": call.duration,
    }


def _usage(calls: Sequence[CallRecord]) -> dict[str, dict[str, Any]]:
    """The tokens of each model. Inspect's input tokens are those that no cache had; it has no word
    for an unknown number, so a model without any known one is left out."""
    by_model: dict[str, list[CallRecord]] = {}
    for call in calls:
        if call.input_tokens is not None or call.output_tokens is not None:
            by_model.setdefault(call.model, []).append(call)
    return {model: _model_usage(ones) for model, ones in by_model.items()}


def _model_usage(calls: Sequence[CallRecord]) -> dict[str, Any]:
    given = spoken.total([one.input_tokens for one in calls]) or 0
    said = spoken.total([one.output_tokens for one in calls]) or 0
    cached = spoken.total([one.cache_read_tokens for one in calls])
    return {
        "input_tokens": max(0, given - (cached or 0)),
        "output_tokens": said,
        "total_tokens": given + said,
        "input_tokens_cache_read": cached,
        "reasoning_tokens": spoken.total([one.reasoning_tokens for one in calls]),
        "total_cost": spoken.dollars(spoken.total([one.cost_usd for one in calls])),
    }
