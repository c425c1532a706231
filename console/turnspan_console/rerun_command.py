"""Programs that ``turnspan rerun`` starts, and what they recorded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import turnspan
from turnspan_console.failures import USAGE, Failure
from turnspan_console.output import note

if TYPE_CHECKING:
    from turnspan_records.again.rerun import RerunReport, SessionRecording
    from turnspan_records.again.rerun.forks import Fork


@dataclass(frozen=True, slots=True)
class RerunDone:
    """A program that ran: ``sessions`` are those that it recorded, ``compared`` are the ids that
    `turnspan compare` puts side by side, the original first. ``attempt_id`` is a fork's."""

    exit_code: int
    report: RerunReport
    attempt_id: str = ""
    sessions: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rerunning:
    """Starts a program in reruns of one recording; ``quiet`` keeps its output off ours, ``options``
    are those of ``RerunServer``."""

    recording: SessionRecording
    program: Sequence[str]
    store: str | None
    quiet: bool
    options: Mapping[str, Any]
    began: datetime = field(default_factory=lambda: datetime.now(timezone.utc))

    def once(self, fork: Fork | None = None, attempt: str = "") -> RerunDone:
        """Run the program to its end. Raises ``Failure`` where it cannot be started."""
        from turnspan_records.again.rerun import RerunServer

        with RerunServer(self.recording, fork=fork, **self.options) as server:
            variables = server.environment(attempt).variables(os.environ)
            store = {"TURNSPAN_STORE": self.store} if self.store else {}
            code = self._run({**os.environ, **store, **variables})
            return RerunDone(code, server.report())

    def forks(self, fork: Fork, times: int) -> list[RerunDone]:
        """Run it several times from a fork on, each as an attempt of one rollout."""
        recording, found = self.recording, list[RerunDone]()
        call = recording.call(fork.span_id)
        turnspan.configure(project=recording.project, store=self.store)
        try:
            line = turnspan.experiment(f"fork-{call.span_id}").lineage("fork")
            config = recording.configuration(call)
            original = line.version(config, name="original")
            changed = line.version(fork.configuration(config))
            turnspan.evolve(line, original, changed, trigger=f"fork of call {call.span_id}")
            with line.rollout(1, task=recording.session_id, version=changed) as rollout:
                for _ in range(times):
                    with rollout.attempt(model=fork.model or call.request_model) as attempt:
                        done = self.once(fork, json.dumps(turnspan.inject()))
                        if done.exit_code:
                            attempt.fail(f"exit code {done.exit_code}")
                    found.append(replace(done, attempt_id=attempt.id))
        finally:
            turnspan.shutdown()
        return found

    def _run(self, environment: dict[str, str]) -> int:
        out = sys.stderr if self.quiet else None
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is the program's
        try:
            with subprocess.Popen(self.program, env=environment, stdout=out) as running:
                code = running.wait()
        except OSError as error:
            text = f"{self.program[0]} cannot be started: {error.strerror}."
            raise Failure(text, USAGE) from None
        finally:
            signal.signal(signal.SIGINT, before)
        return code if code >= 0 else 128 - code

    def located(self, done: Sequence[RerunDone], fork: Fork | None) -> list[RerunDone]:
        """The same, with what each recorded; without it where no store can be read."""
        from turnspan_clickhouse.errors import StoreError
        from turnspan_console.options import open_chosen
        from turnspan_records.again.rerun.recording import recorded_by

        try:
            with open_chosen() as store:
                found = [recorded_by(store, one.report.rerun_id, self.began) for one in done]
        except StoreError as error:
            note(f"what the program recorded is not looked up: {error}")
            return list(done)
        return [
            replace(one, sessions=sessions, compared=self._compared(one, answers, fork))
            for one, (sessions, answers) in zip(done, found, strict=True)
        ]

    def _compared(
        self, done: RerunDone, answers: Sequence[str], fork: Fork | None
    ) -> tuple[str, ...]:
        """The turn of the fork, of the first divergence or of the last call, and its rerun's."""
        calls, diverged = self.recording.calls, done.report.divergences
        wanted = fork.span_id if fork is not None else diverged[0].span_id if diverged else ""
        turns = list(dict.fromkeys(one.turn_id or one.span_id for one in calls))
        call = next((one for one in calls if one.span_id == wanted), calls[-1])
        original = call.turn_id or call.span_id
        at = turns.index(original)
        return (original, answers[at]) if at < len(answers) else ()
