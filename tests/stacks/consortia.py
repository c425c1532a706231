"""Consortium runs that a command of ``llm`` makes, with what is to be recorded of each.

A prompt begins with the name of its case, in brackets; members and arbiters are sent it, so that
the model server knows which of them it answers.
"""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import turnspan_records
from stacks.running import PROGRAMS, at_home, llm_folders, python_of
from turnspan.testing import ModelError, ModelRequest
from turnspan_records.consortium.run_detail import consortium_run

Row = dict[str, Any]

ARBITER: Final = "stub/arbiter"
MODELS: Final = ("a", "b", "bad", "arbiter")
_TEXT: Final = "<answer>{model} on {case.name}</answer><confidence>0.6</confidence>"
_VERDICT: Final = """<synthesis_output>
<synthesis>{synthesis}</synthesis>
<analysis>why {synthesis}</analysis>
<dissent>some of {synthesis}</dissent>
<refinement_areas>
depth
</refinement_areas>
<needs_iteration>{again}</needs_iteration>
<confidence>{confidence}</confidence>
{ranking}</synthesis_output>"""


@dataclass(frozen=True, slots=True)
class Case:
    """A command that asks a consortium."""

    name: str
    consortium: str
    members: Sequence[tuple[str, str]]
    """Model and instance, of each iteration."""
    confidences: Sequence[float] = (0.95,)
    failing: Sequence[str] = ()
    """Members that fail."""
    fails: bool = False
    """Whether its arbiter does."""
    ranked: bool = False
    strategy: str = ""
    command: Sequence[str] = ()
    """Instead of ``-m`` and the consortium's name."""
    inner: str = ""
    """The member that is a consortium itself."""

    @property
    def prompt(self) -> str:
        """What is asked."""
        return f"[{self.name}] What is it?"

    @property
    def arguments(self) -> list[str]:
        """Those of the command."""
        return [*(self.command or ("-m", self.consortium)), self.prompt]

    def synthesis(self, iteration: int) -> str:
        """What the arbiter makes of an iteration."""
        return f"{self.name} {iteration}"


@dataclass(slots=True)
class Answering:
    """What the model server says, and has said."""

    cases: Mapping[str, Case]
    current: str = ""
    said: Counter[tuple[str, str, str]] = field(default_factory=Counter[tuple[str, str, str]])
    """By case, model and text."""
    refused: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """By case and model: the oldest plugin asks twice where it was refused."""
    verdicts: Counter[str] = field(default_factory=Counter[str])

    def forget(self) -> None:
        """Begin anew."""
        self.said.clear()
        self.refused.clear()
        self.verdicts.clear()

    def __call__(self, request: ModelRequest) -> str | ModelError:
        """The answer to one request."""
        asked = str(request.messages)
        found = re.search(r"\[(\w+)\] What", asked)
        if found is not None:  # else it goes on with the one before
            self.current = found[1]
        if not self.current:
            return "plain"
        case = self.cases[self.current]
        if request.model == "bad" or (case.fails and request.model == "arbiter"):
            self.refused[case.name, request.model] += 1
            return ModelError(400, "out of order")
        if request.model == "arbiter":
            return self._verdict(case, asked)
        text = _TEXT.format(model=request.model, case=case)
        self.said[case.name, f"stub/{request.model}", text] += 1
        return text

    def _verdict(self, case: Case, asked: str) -> str:
        self.verdicts[case.name] += 1
        number = self.verdicts[case.name]
        confidence = case.confidences[min(number, len(case.confidences)) - 1]
        ranking = ""
        if case.ranked:
            ids = [*dict.fromkeys(re.findall(r"RESPONSE (\d+)", asked))]
            ranks = "".join(
                f'<rank position="{place}">{one}</rank>'
                for place, one in enumerate(reversed(ids), 1)
            )
            ranking = f"<ranking>{ranks}</ranking>\n"
        return _VERDICT.format(
            synthesis=case.synthesis(number),
            again="true" if confidence < 0.8 else "false",
            confidence=confidence,
            ranking=ranking,
        )


def surroundings(folder: Path, url: str, store: Path | None = None) -> dict[str, str]:
    """The environment of a command with a home folder of its own, recorded in the store if any."""
    kept = at_home(folder)
    for users in llm_folders(folder):
        (users / "extra-openai-models.yaml").write_text(
            "\n".join(
                f"- model_id: stub/{name}\n  model_name: {name}\n  api_base: {url}/v1"
                for name in MODELS
            )
        )
    if store is not None:
        kept["TURNSPAN_STORE"] = f"chdb://{store}"
    return kept


def played(version: str, around: Mapping[str, str], commands: Sequence[Sequence[str]]) -> list[Any]:
    """Give the commands to ``llm`` in one process; returns their exit codes."""
    ran = subprocess.run(
        [str(python_of(version)), str(PROGRAMS / "llm_commands.py"), json.dumps(commands)],
        env=around,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-6000:]
    codes: list[Any] = json.loads(ran.stdout.splitlines()[-1])
    return codes


def logged(folder: Path) -> dict[str, dict[str, int]]:
    """How many rows each table has that ``llm`` and its plugin wrote."""
    found: dict[str, dict[str, int]] = {}
    for path in sorted(folder.rglob("*.db")):
        with closing(sqlite3.connect(path)) as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            names = [name for (name,) in tables if not name.startswith("sqlite_")]
            found[str(path.relative_to(folder))] = {
                name: database.execute(f'SELECT count() FROM "{name}"').fetchone()[0]
                for name in names
            }
    return found


class Runs:
    """What a store has of them."""

    def __init__(self, folder: Path) -> None:
        with turnspan_records.open(f"chdb://{folder}") as store:

            def rows(sql: str) -> list[Row]:
                return store.query(sql).dicts()

            texts = {row["hash"]: row["body"] for row in rows("SELECT hash, body FROM definition")}
            self.runs = rows("SELECT * FROM consortium FINAL ORDER BY started_at")
            for run in self.runs:
                run["prompt"] = texts.get(run["prompt"], "")
                run["final_text"] = texts.get(run["final_text"], "")
            self.members = rows("SELECT * FROM consortium_member FINAL ORDER BY started_at")
            self.verdicts = rows("SELECT * FROM consortium_iteration FINAL ORDER BY iteration")
            self.calls = rows("SELECT * FROM llm_call FINAL ORDER BY start_time")
            self.turns = rows("SELECT * FROM turn_summary FINAL ORDER BY start_time")
            self.views = rows("SELECT * FROM consortium_run ORDER BY started_at")
            self.shown = {
                row["consortium_id"]: consortium_run(store, row["project"], row["consortium_id"])
                for row in self.views
            }

    def of(self, case: Case) -> Row:
        """The one run of a case, but those of members that are runs themselves."""
        [found] = [r for r in self.runs if r["prompt"] == case.prompt and not r["outer_id"]]
        return found


def faults(case: Case, runs: Runs, answering: Answering) -> list[str]:
    """What is not exactly as it was."""
    try:
        run = runs.of(case)
    except ValueError:
        return [f"{case.name}: not one run: {[r['prompt'] for r in runs.runs]}"]
    found: list[str] = []

    def check(what: str, seen: Any, expected: Any) -> None:
        if seen != expected:
            found.append(f"{case.name}: {what}: {seen!r}, not {expected!r}")

    key = run["consortium_id"]
    iterations = len(case.confidences)
    final = "" if case.fails else case.synthesis(_decided(case))
    if case.ranked:  # the answer of the first
        [best] = [row for row in runs.views if row["consortium_id"] == key]
        final = _TEXT.format(
            model=best["winner"].partition("#")[0].removeprefix("stub/"), case=case
        )
    check("id", bool(re.fullmatch(r"[0-9A-Za-z]{27}", key)), True)
    check("name", run["name"], "" if case.command else case.consortium)
    check("strategy", run["strategy"], case.strategy)
    check("status", run["status"], "failed" if case.fails else "finished")
    check("iterations", run["iterations"], iterations)
    check("final", run["final_text"], final)
    shown = [one.number for one in runs.shown[key].iterations]
    check("shown", shown, [*range(1, iterations + 1)])
    _check_members(case, runs, key, answering, check)
    _check_verdicts(case, runs, key, check)
    _check_calls(case, runs, run, answering, check)
    return found


def _decided(case: Case) -> int:
    """Which of the arbiter's answers was the last: a member's own arbiter answers before."""
    return len(case.confidences) + (1 if case.inner else 0)


def _check_members(case: Case, runs: Runs, key: str, answering: Answering, check: Any) -> None:
    members = [row for row in runs.members if row["consortium_id"] == key]
    expected = sorted(
        (number + 1, model, instance, "BadRequestError" if model in case.failing else "")
        for number in range(len(case.confidences))
        for model, instance in case.members
    )
    seen = sorted(
        (row["iteration"], row["model"], row["instance"], row["error_type"]) for row in members
    )
    check("members", seen, expected)
    said = Counter(
        (case.name, row["model"], answer)
        for row in members
        if row["model"] != case.inner and (answer := _answer(row, runs))
    )
    for place, times in said.items():
        if answering.said[place] < times:
            check(f"answers {place}", times, answering.said[place])
    check("answered", sum(said.values()), len(expected) - _silent(case))


def _silent(case: Case) -> int:
    """Answers that are not a model's: of members that fail, or are runs themselves."""
    without = (*case.failing, case.inner)
    return len(case.confidences) * sum(model in without for model, _ in case.members)


def _answer(member: Row, runs: Runs) -> str:
    calls = [
        row["response_text"]
        for row in runs.calls
        if row["attributes"].get("turnspan.consortium.member") == member["member_id"]
    ]
    return member["answer"] or (calls[-1] if calls else "")


def _check_verdicts(case: Case, runs: Runs, key: str, check: Any) -> None:
    verdicts = [row for row in runs.verdicts if row["consortium_id"] == key]
    if case.fails:
        check("verdict", [row["error_type"] for row in verdicts], ["BadRequestError"])
        return
    if case.ranked:
        labels = [f"{model}#{instance}" for model, instance in case.members]
        check("ranking", [sorted(row["ranking"]) for row in verdicts], [sorted(labels)])
        check("confidence", [row["confidence"] for row in verdicts], [1.0])
        return
    names = ("iteration", "model", "synthesis", "confidence", "reasoning", "needs_iteration")
    first = _decided(case) - len(case.confidences)
    expected = [
        (
            number,
            ARBITER,
            case.synthesis(first + number),
            confidence,
            f"why {case.synthesis(first + number)}",
            int(confidence < 0.8),
        )
        for number, confidence in enumerate(case.confidences, 1)
    ]
    check("verdicts", [tuple(row[name] for name in names) for row in verdicts], expected)
    check("areas", {tuple(row["refinement_areas"]) for row in verdicts}, {("depth",)})
    dissent = [f"some of {row['synthesis']}" in row["raw"] for row in verdicts]
    check("dissent", dissent, [True] * len(verdicts))


def _check_calls(case: Case, runs: Runs, run: Row, answering: Answering, check: Any) -> None:
    calls = [row for row in runs.calls if row["consortium_id"] == run["consortium_id"]]
    iterations = len(case.confidences)
    has_output = not case.fails and not case.command
    asked = (
        len(case.confidences) * len(case.members)
        - _silent(case)
        + answering.refused[case.name, "bad"]
    )
    final = answering.refused[case.name, "arbiter"] or 1
    roles = Counter({0: asked + has_output, 1: final, 2: iterations - 1})
    check("roles", Counter(row["consortium_role"] for row in calls), +roles)
    outputs = [
        row for row in calls if row["attributes"].get("turnspan.llm.model") == case.consortium
    ]
    check("outputs", [row["response_text"] for row in outputs], [run["final_text"]] * has_output)
    check("tokens of the output", [row["input_tokens"] for row in outputs], [None] * has_output)
    turns = [row for row in runs.turns if row["turn_id"] == run["turn_id"]]
    check("turn", [row["user_message"] for row in turns], [case.prompt])
    if not case.fails:
        check("reply", [row["response_text"] for row in turns], [run["final_text"]])
    check("turns of calls", {row["turn_id"] for row in calls}, {run["turn_id"]})
    check("sessions", {row["session_id"] for row in (*calls, *turns)}, {turns[0]["session_id"]})
    [view] = [row for row in runs.views if row["consortium_id"] == run["consortium_id"]]
    spent = sum(row["input_tokens"] or 0 for row in calls)
    check("tokens", view["input_tokens"] or 0, spent)
    check("calls", view["calls"], len(calls))
    check("answers", view["answers"], len(case.members) * iterations)
    check("failed answers", view["failed_answers"], iterations * len(case.failing))
