"""Rollouts: one task of a cycle, and what every block of an experiment has in common."""

from __future__ import annotations

import time
from typing import Any, TypeVar

from opentelemetry import context as otel_context

from turnspan import semconv
from turnspan.content.given_values import frozen_of, text_of
from turnspan.loop.artifacts import resource_of
from turnspan.loop.attempts import Attempt, Inside
from turnspan.runtime.guard import guard
from turnspan.runtime.value_exceptions import is_abort
from turnspan.tracing.block_stack import OpenBlocks, WithBlock
from turnspan.tracing.loop_facts import (
    FAILED,
    INTERRUPTED,
    RUNNING,
    SUCCEEDED,
    AttemptTold,
    RolloutPlace,
    RolloutTold,
)
from turnspan.tracing.recording import detach

B = TypeVar("B", bound="SharedBlock")


class SharedBlock(WithBlock[Any]):
    """What can be entered, by many threads and tasks at once: spans inside carry its ids."""

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._open: OpenBlocks[object | None] = OpenBlocks()

    def __enter__(self: B) -> B:
        token: object | None = None
        with guard("experiment.enter"):
            token = otel_context.attach(self._inside.context())
            self._entered()
        self._open.push(token)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with guard("experiment.exit"):
            detach(self._open.pop())
            self._left(error)

    def _entered(self) -> None:
        """What a kind of block tells when it is entered."""

    def _left(self, error: BaseException | None) -> None:
        """What a kind of block tells when it is left."""


class Rollout(SharedBlock):
    """One task of one cycle, attempted once or several times. Its id follows from lineage, cycle
    and task: the same rollout, opened again or elsewhere, goes on."""

    def __init__(self, inside: Inside, place: RolloutPlace) -> None:
        super().__init__(
            inside.with_ids(
                {
                    semconv.ROLLOUT_ID: place.rollout_id,
                    semconv.CYCLE: place.cycle,
                    semconv.TURN_AGENT_VERSION: place.version_id,
                }
            )
        )
        self._place = place
        self._started_at = 0
        self._seconds = 0.0
        self._within = 0
        self._told = False
        self._last = ("", "")
        self._final = ""

    @property
    def id(self) -> str:
        """Its id."""
        return self._place.rollout_id

    @property
    def cycle(self) -> int:
        """The cycle that it is of."""
        return self._place.cycle

    @property
    def final_attempt(self) -> str:
        """The id of the attempt that counts: the one named, else the last that succeeded here, else
        the last that ended here; empty before."""
        return self._final or self._last[0]

    def attempt(self, *, model: str = "", parameters: Any = None, input: Any = None) -> Attempt:
        """One try: a context manager, or a decorator of a function that is one try a call.

        It ``succeeded`` unless an exception leaves it (``failed``), it is cancelled or its process
        dies (``interrupted``), or ``attempt.fail`` says otherwise.

        Args:
            model: the model that is tried.
            parameters: what else it is tried with.
            input: what it is given; else what its first turn was asked.
        """
        if not self._told:  # nobody has entered it: told of with its first attempt
            with guard("rollout.attempt"):
                self._tell("")
        if type(model) is not str:
            model = text_of(model)
        if parameters is not None:
            parameters = frozen_of(parameters)
        if input is not None:
            input = frozen_of(input)
        return Attempt(self._inside, AttemptTold(self._place, model, parameters, input), self)

    def final(self, attempt: Attempt | str) -> None:
        """Name the attempt that counts, where that is not the last one that succeeded."""
        with guard("rollout.final"):
            self._final = attempt.id if isinstance(attempt, Attempt) else text_of(attempt)
            if not self._within:
                self._tell("")

    def attempt_ended(self, attempt_id: str, status: str) -> None:
        """An attempt of it has ended so."""
        if status == SUCCEEDED or self._last[1] != SUCCEEDED:
            self._last = (attempt_id, status)

    def _entered(self) -> None:
        self._within += 1
        self._started_at = time.time_ns()
        self._tell(RUNNING)

    def _left(self, error: BaseException | None) -> None:
        self._within -= 1
        self._seconds = max(0, time.time_ns() - self._started_at) / 1e9
        if error is not None:
            status = INTERRUPTED if is_abort(error) else FAILED
        else:
            status = self._last[1] if not self._final else ""
        kind = "" if error is None else type(error).__qualname__
        self._tell(status, kind)

    def _tell(self, status: str, error_type: str = "") -> None:
        """Tell how it stands; without a status that is what its attempts say."""
        self._told = True
        state = self._inside.recorder()
        if state is None:
            return
        ended = status != RUNNING
        state.content.tell(
            RolloutTold(
                resource=resource_of(state),
                place=self._place,
                status=status,
                final_attempt_id=self.final_attempt if ended else "",
                error_type=error_type,
                started_at=self._started_at or time.time_ns(),
                duration=self._seconds if ended else 0.0,
            )
        )
