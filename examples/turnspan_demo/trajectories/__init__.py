"""Reads recorded runs out of the files that agent benchmarks publish.

A file is JSON Lines; a line holds the benchmark's own record, alone or under ``record`` beside
``_src`` (where it comes from). Four layouts are known, each told by its fields:

============  ==============================  =================================================
layout        told by                         what it is
============  ==============================  =================================================
tau-bench     ``traj``                        messages as OpenAI's chat completions write them
tau2-bench    ``messages`` + ``task_id``      messages with the user's own tool calls among them
intercode     ``turn_history``                one task, actions and observations
swe-agent     ``history``                     one task; native calls, or commands inside the text
mini-swe      ``messages`` without the above  one task; a fenced command in every reply
============  ==============================  =================================================

What the layouts leave open is read like this:

- A last user message that no reply follows (``###STOP###``) is no turn: the agent never ran.
- An assistant message before the first user message is a greeting: canned, no model call.
- A run that ends on a tool result ended there by the application's decision (a hand-over, a step
  limit): the last model reply asked for tools, and the turn's ``stop`` says why it ended.
- Tool calls that the *user* makes (tau2) happen outside the agent; it sees the user's message
  after them. They are counted, not played.
- A tool's failure is what the benchmark itself says: an ``error`` flag, an invalid action, or
  (tau-bench, which has no flag) a result that starts with ``Error``.
- Commands in text become what an agent sends over today's APIs: the reply's text stays, the
  command becomes a tool call, the observation its result.
- A record without messages (the benchmark crashed) holds no run and is skipped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, cast

from turnspan_demo import written
from turnspan_demo.model import Run, RunError
from turnspan_demo.trajectories import intercode, swe_agent, tau2, tau_bench


def load(path: Path, limit: int | None = None) -> list[Run]:
    """The runs of a file, the first ``limit`` of them; ids are ``<file's stem>#<line>``.

    A file that ends in ``.json`` is one run that a person wrote (see ``turnspan_demo.written``).

    Raises:
        RunError: the file cannot be read or has no known layout.
    """
    if path.suffix == ".json":
        return [written.load(path)][:limit]
    return list(islice(iterate(path), limit))


def iterate(path: Path) -> Iterator[Run]:
    """The runs of a file, one at a time. Raises as ``load``."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                run = _read(line, f"{path.stem}#{number}", f"{path}, line {number}")
                if run is not None:
                    yield run
    except (OSError, UnicodeDecodeError) as error:
        raise RunError(f"The trajectory file {path} cannot be read: {error}.") from None


def _read(line: str, name: str, where: str) -> Run | None:
    try:
        value: object = json.loads(line)
    except ValueError as error:
        raise RunError(f"{where} is not JSON ({error}).") from None
    if not isinstance(value, dict):
        raise RunError(f"{where} is not an object.")
    outer = cast("dict[str, Any]", value)
    record: dict[str, Any] = outer.get("record", outer)
    try:
        if "traj" in record:
            return tau_bench.read(record, name)
        if "turn_history" in record:
            return intercode.read(record, name)
        if "history" in record or ("messages" in record and "task_id" not in record):
            return swe_agent.read(record, name)
        if "messages" in record:
            return tau2.read(record, name)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RunError(f"{where} is not in its layout ({type(error).__name__}: {error}).") from None
    raise RunError(
        f"{where} has no layout that is known: it needs one of the fields traj, turn_history, "
        "history or messages."
    )
