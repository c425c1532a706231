"""The example notebook: its cells run in order, in an empty folder, and show what they say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.shared import REPOSITORY

NOTEBOOK = REPOSITORY / "examples" / "first_look.ipynb"
# As a notebook does: the value of a cell's last expression is shown, by what it says of itself.
KERNEL = """
import ast, json, sys
names, shown = {"__name__": "__main__"}, []
for cell in json.load(sys.stdin):
    tree, value = ast.parse(cell), None
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    forms = [f for f in ("_repr_html_", "_repr_svg_") if hasattr(value, f)]
    shown.append(getattr(value, forms[0])() if forms else repr(value))
print("shown:" + json.dumps(shown))
"""


@pytest.mark.release
def test_the_cells_run_and_show_what_they_say(tmp_path: Path) -> None:
    """Records, a chart, a replay with the failed tool, and a set of the two good turns."""
    text = NOTEBOOK.read_text(encoding="utf-8")
    book: dict[str, Any] = json.loads(text)
    assert json.dumps(book, indent=1, ensure_ascii=False) + "\n" == text, "as Jupyter writes it"
    cells = [one for one in book["cells"] if one["cell_type"] == "code"]
    assert not any(one["outputs"] or one["execution_count"] for one in cells)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", KERNEL],
        input=json.dumps(["".join(one["source"]) for one in cells]),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
        env={**kept, "XDG_DATA_HOME": str(tmp_path / "data")},
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    printed, _, answers = ran.stdout.rpartition("shown:")
    shown: list[str] = json.loads(answers)
    assert "Oslo -> Take an umbrella." in printed
    assert "2 lines in" in printed
    chart = next(one for one in shown if one.startswith("<svg"))
    assert chart.count("<rect") == 3 and "weather-Bern" in chart
    replay = next(one for one in shown if "no such city" in one)
    assert "I do not know." in replay
    lines = (tmp_path / "turnspan-notebook/set/train.jsonl").read_text(encoding="utf-8")
    assert lines.count("\n") == 2 and "umbrella" in lines
