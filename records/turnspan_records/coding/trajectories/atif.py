"""ATIF, the Agent Trajectory Interchange Format of Harbor, version 1.7.

Source: Harbor's RFC 0001 (``docs/rfcs/0001-trajectory-format.md``) and the models of
``harbor.models.trajectories`` in harbor 0.26. A nested turn is an embedded subagent trajectory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from turnspan_records.coding.trajectories import utterances as spoken
from turnspan_records.coding.trajectories.utterances import SpokenMessage, without_nothing
from turnspan_records.conversation import CallRecord, Conversation, Step, TurnRecord
from turnspan_records.conversation import ToolExecutionRecord as ToolRecord

VERSION: Final = "ATIF-v1.7"
_UNKNOWN: Final = "unknown"


def trajectory(conversation: Conversation, facts: Mapping[str, str]) -> dict[str, Any] | None:
    """The trajectory of a session; ``None`` where it would have no step.

    Args:
        conversation: a session, as ``replay`` gives it.
        facts: attributes of its first turn, for ``extra``.
    """
    made = _Trajectory()
    made.add(conversation.steps)
    if not made.steps:
        return None
    turns = [one for one in conversation.steps if isinstance(one, TurnRecord)]
    id_ = conversation.session_id or conversation.trace_id
    # A turn's cost has that of its nested turns.
    costs = [one.cost_usd for one in conversation.steps if not isinstance(one, ToolRecord)]
    written = made.whole(turns[0] if turns else None, id_, spoken.total(costs))
    extra = {"project": conversation.project, **facts}
    ended = [{"turn_id": one.turn_id, "ended": one.ended_how} for one in turns]
    return {**written, "session_id": id_, "extra": {"turnspan": {**extra, "turns": ended}}}


class _Trajectory:
    """The steps of one agent, and the trajectories of its subagents."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self._calls: list[CallRecord] = []
        self._subagents: list[dict[str, Any]] = []

    def add(self, steps: Sequence[Step], turn: TurnRecord | None = None) -> None:
        """Add the steps of a turn, or of a session: its turns one after the other. What nests in a
        turn is a subagent's."""
        for step in spoken.utterances(steps, turn.user_message if turn else ""):
            if isinstance(step, SpokenMessage):
                self._said(step)
            elif isinstance(step, CallRecord):
                self._replied(step)
            elif isinstance(step, ToolRecord):
                self._ran(step)
            elif turn is None:
                self.add(step.steps, step)
            else:
                self._delegated(step)

    def _step(self, source: str, message: str, **values: Any) -> None:
        head = {"step_id": len(self.steps) + 1, "source": source, "message": message}
        self.steps.append(head | without_nothing(values))

    def _said(self, one: SpokenMessage) -> None:
        copied = one.role == "assistant"
        self._step(
            "agent" if copied else one.role if one.role in ("system", "user") else "system",
            one.text,
            timestamp=spoken.written_time(one.time),
            is_copied_context=copied or None,
            extra=without_nothing({"left_out": dict(one.left_out)}),
        )

    def _replied(self, call: CallRecord) -> None:
        self._calls.append(call)
        calls: list[dict[str, Any]] = []
        results: list[dict[str, Any]] = []
        for id_, request in zip(spoken.call_ids(call.requests), call.requests, strict=True):
            asked = spoken.arguments(request.arguments)
            calls.append({"tool_call_id": id_, "function_name": request.name, "arguments": asked})
            text = spoken.result_text(request)
            if text is not None:
                ran = request.execution
                failed = {"error_type": ran.error_type or "failed"} if ran and ran.failed else None
                result = {"source_call_id": id_, "content": text, "extra": failed}
                results.append(without_nothing(result) | {"content": text})
        self._step(
            "agent",
            spoken.reply_text(call),
            timestamp=spoken.written_time(call.start_time),
            model_name=call.model,
            reasoning_content=spoken.reasoning(call),
            tool_calls=calls,
            observation={"results": results} if results else None,
            metrics=_metrics(call),
            llm_call_count=1,
            extra=without_nothing(
                {"span_id": call.span_id, "left_out": spoken.left_out(call.replies)}
                | {"error_type": call.error_type, "error_message": call.error_message}
                | {"dropped_messages": call.dropped or None}
            ),
        )

    def _ran(self, tool: ToolRecord) -> None:
        """A tool that no reply asked for: its step stands for no model call."""
        id_ = tool.call_id or tool.span_id
        asked = spoken.arguments(tool.arguments)
        self._step(
            "agent",
            "",
            timestamp=spoken.written_time(tool.start_time),
            tool_calls=[{"tool_call_id": id_, "function_name": tool.name, "arguments": asked}],
            observation={
                "results": [{"source_call_id": id_, "content": tool.result or tool.error_message}]
            },
            extra={"span_id": tool.span_id},
        )
        self.steps[-1]["llm_call_count"] = 0

    def _delegated(self, turn: TurnRecord) -> None:
        made = _Trajectory()
        made.add(turn.steps, turn)
        if not made.steps:
            return
        self._subagents.append(made.whole(turn, turn.turn_id, turn.cost_usd))
        reference = {"trajectory_id": turn.turn_id}
        requests = self._calls[-1].requests if self._calls else ()
        at = spoken.asked_for(turn, requests)
        if at is None:
            result = {"subagent_trajectory_ref": [reference]}
            self._step("system", f"{turn.agent_name} began", observation={"results": [result]})
            return
        id_ = spoken.call_ids(requests)[at]
        step = next(one for one in reversed(self.steps) if one.get("tool_calls"))
        results: list[dict[str, Any]] = step.setdefault("observation", {"results": []})["results"]
        known = next((one for one in results if one.get("source_call_id") == id_), None)
        if known is None:
            results.append(known := {"source_call_id": id_})
        known.setdefault("subagent_trajectory_ref", []).append(reference)

    def whole(self, turn: TurnRecord | None, id_: str, cost: Decimal | None) -> dict[str, Any]:
        """The trajectory."""
        name, version = (turn.agent_name, turn.agent_version) if turn else ("", "")
        agent = {"name": name or _UNKNOWN, "version": version or _UNKNOWN}
        if model := spoken.main_model(self._calls):
            agent["model_name"] = model
        metrics = {
            "total_prompt_tokens": spoken.total([one.input_tokens for one in self._calls]),
            "total_completion_tokens": spoken.total([one.output_tokens for one in self._calls]),
            "total_cached_tokens": spoken.total([one.cache_read_tokens for one in self._calls]),
            "total_cost_usd": spoken.dollars(cost),
            "total_steps": len(self.steps),
        }
        made: dict[str, Any] = {"schema_version": VERSION, "trajectory_id": id_, "agent": agent}
        made |= {"steps": self.steps, "final_metrics": without_nothing(metrics)}
        return made | ({"subagent_trajectories": self._subagents} if self._subagents else {})


def _metrics(call: CallRecord) -> dict[str, Any]:
    return without_nothing(
        {
            "prompt_tokens": call.input_tokens,
            "completion_tokens": call.output_tokens,
            "cached_tokens": call.cache_read_tokens,
            "cost_usd": spoken.dollars(call.cost_usd),
            "extra": without_nothing({"reasoning_tokens": call.reasoning_tokens}),
        }
    )
