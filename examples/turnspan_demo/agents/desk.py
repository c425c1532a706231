"""The tools of a replayed turn: each answers what it answered when the run was recorded."""

from __future__ import annotations

from collections.abc import Callable

import turnspan
from turnspan_demo.model import Run, RunError, ToolUse, Turn

PlayNested = Callable[[Run], str]
"""Plays a nested agent's run and returns its reply."""


class ToolError(Exception):
    """A tool failed; the text is what the model is told."""


class Desk:
    """Runs the tools of one turn, in any order within a reply.

    ``closed`` becomes true when the application ends the turn itself: the recording has no
    further model call after the tools that ran last.
    """

    def __init__(self, run: Run, turn: Turn, play_nested: PlayNested) -> None:
        self._run = run
        self._turn = turn
        self._play_nested = play_nested
        self._left = turn.tools
        self._ends_on_tools = bool(turn.replies[-1].tools)

    @property
    def closed(self) -> bool:
        """Whether the application ends the turn now."""
        return self._ends_on_tools and not self._left

    def call(self, call_id: str, name: str, arguments: str) -> tuple[str, bool]:
        """Run a tool that the model asked for; returns (what the model is told, whether it failed).

        Raises:
            RunError: the run has no such call.
        """
        use = self._take(call_id, name)
        try:
            with turnspan.tool(name, call_id=call_id, arguments=arguments) as call:
                call.result = self._run_tool(use)
                return call.result or "", False
        except ToolError as error:
            return str(error), True

    def finish(self) -> None:
        """Tell the recorder what the application knows of the turn's end."""
        current = turnspan.current_turn()
        if self._turn.aborted:
            current.abort("the user pressed Escape")
        elif self._turn.stop:
            current.stop(self._turn.stop, self._turn.stop_detail)

    def label(self) -> None:
        """Tell the recorder what the turn is about, where the run says it."""
        labels = self._turn.labels
        turnspan.current_turn().set(
            intent=labels.get("intent"),
            chat_mode=labels.get("chat_mode"),
            task_type=labels.get("task_type"),
            target=labels.get("target"),
        )

    def _take(self, call_id: str, name: str) -> ToolUse:
        for index, use in enumerate(self._left):
            if use.id == call_id and use.name == name:
                return self._left.pop(index)
        raise RunError(
            f"Run {self._run.id!r} has no call of {name!r} with the id {call_id!r} here."
        )

    def _run_tool(self, use: ToolUse) -> str:
        if use.run:
            return self._play_nested(self._run.nested[use.run])
        if use.failed:
            raise ToolError(use.result)
        return use.result
