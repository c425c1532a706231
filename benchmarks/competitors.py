"""What one OpenAI chat call costs the thread that makes it under each package that records it.

    make bench-competitors [ARGS='--rounds 15 --whole-sdk --json']

Content is on in every package, and what each one kept is read back: a row says so where it kept
less than everything. Each package runs in a process of its own; the processes take turns, round by
round and one at a time. In a process the calls run with and without the package's patches by
turns, and the difference in CPU time of the calling thread is the figure, the median over the
rounds. The sink of all of them is a span processor that only keeps what it is given: encoding and
export cost the calling thread nothing.

``chat.completions.create`` runs down to ``SyncAPIClient.request``, which gives a result made
beforehand: what the SDK does below that is the same with and without a package. With
``--whole-sdk`` all of it runs, over httpx2's MockTransport: milliseconds a call, and so much noise.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from recorders import CASES, FLOOR, NAMES, OURS

ELSEWHERE = (
    "Compares with packages that have an environment of their own. Run: make bench-competitors"
)
OFFICIAL = "official"
ENOUGH = 0.999
"""The share of the content that counts as all of it."""


class Child:
    """One package in a process of its own."""

    def __init__(self, name: str, whole_sdk: bool) -> None:
        command = [sys.executable, str(Path(__file__).with_name("recorders.py")), name]
        if whole_sdk:
            command.append("--whole-sdk")
        self.name = name
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._in, self._out = _streams(self._process)

    def ask(self, **question: Any) -> dict[str, Any]:
        """Its answer. Raises RuntimeError where the package did not do its work."""
        print(json.dumps(question), file=self._in, flush=True)
        line = self._out.readline()
        if not line:
            raise RuntimeError(f"{self.name} ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def end(self) -> None:
        """Let it go."""
        self._in.close()
        self._process.wait(10)
        self._out.close()


def _streams(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdin, process.stdout


def run(names: list[str], rounds: int, whole_sdk: bool) -> dict[str, Any]:
    """Measure every package in every case."""
    children = [Child(name, whole_sdk) for name in names]
    try:
        versions = {child.name: child.ask(do="version")["version"] for child in children}
        cases = {case: measure(children, case, rounds) for case in CASES}
    finally:
        for child in children:
            child.end()
    return {"versions": versions, "cases": cases}


def measure(children: list[Child], case: str, rounds: int) -> dict[str, dict[str, float]]:
    """One case: a warm-up, then the rounds, each package in its turn."""
    kept = {child.name: child.ask(do="prepare", case=case) for child in children}
    times: dict[str, list[tuple[float, float]]] = {child.name: [] for child in children}
    for number in range(rounds):
        first = number % len(children)
        for child in children[first:] + children[:first]:
            answer = child.ask(do="round")
            times[child.name].append((answer["plain"], answer["recorded"]))
    return {
        name: {
            "added": statistics.median(recorded - plain for plain, recorded in pairs),
            "plain": statistics.median(plain for plain, _ in pairs),
            **kept[name],
        }
        for name, pairs in times.items()
    }


# -- what it comes to ------------------


def goals(cases: dict[str, Any]) -> list[str]:
    """The goals, with the figures beside them."""
    lines: list[str] = []
    for case, rows in cases.items():
        ours = rows[OURS]["added"]
        lines.append(_goal(f"{case}: beside the bare span", ours / rows[FLOOR]["added"], 1.5))
        if OFFICIAL in rows and case in ("realistic", "large"):
            ratio = ours / rows[OFFICIAL]["added"]
            lines.append(_goal(f"{case}: beside the official package", ratio, 0.1))
        others = {
            name: row["added"]
            for name, row in rows.items()
            if name not in (OURS, FLOOR) and row["kept"] >= ENOUGH
        }
        if others:
            cheapest = min(others, key=lambda name: others[name])
            what = f"{case}: beside the cheapest that keeps all ({cheapest})"
            lines.append(_goal(what, ours / others[cheapest], 1 / 3))
    return lines


def _goal(what: str, ratio: float, limit: float) -> str:
    verdict = "reached" if ratio <= limit else "MISSED"
    return f"{what:<64}{ratio:>7.3f}  (goal {limit:.2f}: {verdict})"


def show(results: dict[str, Any]) -> None:
    """Print the table and the goals."""
    cases: dict[str, Any] = results["cases"]
    print(
        "CPU added to the calling thread by one call, us; in brackets the share of content kept\n"
    )
    print(f"{'':<34}" + "".join(f"{case:>18}" for case in cases))
    print(f"{'the call itself':<34}" + "".join(_cell(cases[case][OURS]["plain"]) for case in cases))
    for name, version in results["versions"].items():
        rows = [cases[case][name] for case in cases]
        cells = "".join(_cell(row["added"], None if name == FLOOR else row["kept"]) for row in rows)
        print(f"{f'{name} {version}':<34}{cells}")
    print()
    for line in goals(cases):
        print(line)


def _cell(microseconds: float, kept: float | None = None) -> str:
    share = "" if kept is None or kept >= ENOUGH else f" ({kept:.0%})"
    return f"{microseconds:.1f}{share}".rjust(18)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--whole-sdk", action="store_true")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if find_spec("langfuse") is None:
        print(ELSEWHERE)
        return
    names = [n for n in NAMES if n in arguments.only or n in (FLOOR, OURS)]
    results = run(names, arguments.rounds, arguments.whole_sdk)
    if arguments.json:
        print(json.dumps(results, indent=2))
    else:
        show(results)


if __name__ == "__main__":
    main()
