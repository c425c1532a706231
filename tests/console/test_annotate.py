"""``turnspan annotate``: judge a record from a terminal."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from support.representatives import few
from support.story import CALL, TURN, Invoke, fill
from turnspan.annotations.judgments import OUTCOMES
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.commands import annotate

pytestmark = pytest.mark.usefixtures("kept_engine")


def test_a_record_is_judged_by_the_beginning_of_its_id(invoke: Invoke, tmp_path: Path) -> None:
    """Once, however often it is said; the next one of a kind holds; the id's kind is found out."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    fill(dsn)
    for _ in range(2):
        said = invoke(
            "--store", str(dsn), "annotate", TURN[:8], "--outcome", "used", "--score", "8",
            "--comment", "my key is sk-lf-01234567-89ab-cdef-0123-456789abcdef",
        )  # fmt: skip
        assert said.output == f"turn {TURN}: 3 judgments\n"
    again = invoke("--store", str(dsn), "annotate", TURN, "--outcome", "modified", "--author", "al")
    assert again.output == f"turn {TURN}: 1 judgment\n"
    chosen = invoke("--store", str(dsn), "annotate", CALL, "--over", "d4" * 8, "--flag", "-1")
    assert chosen.output == f"call {CALL}: 2 judgments\n"

    rows = invoke(
        "--store", str(dsn), "sql", "--format", "csv",
        "SELECT subject_kind, kind, outcome, score, rejected_id, training_flag"
        " FROM annotation_current ORDER BY subject_kind, kind",
    )  # fmt: skip
    assert rows.stdout.splitlines()[1:] == [
        f"call,preference,,,{'d4' * 8},",
        "call,training_flag,,,,-1",
        "turn,comment,,,,",
        "turn,outcome,modified,,,",
        "turn,score,,8.0,,",
    ]
    kept = invoke("--store", str(dsn), "sql", "SELECT count(), any(comment) FROM annotation")
    assert "sk-lf-0123" not in kept.stdout


ROWS: list[tuple[dict[str, object], str]] = [
    ({"id": TURN, "outcome": "used", "score": 8, "author": "al"}, ""),
    ({"id": TURN[:8], "kind": "turn", "flag": 1, "comment": "two\nlines, and a comma"}, ""),
    ({"id": CALL, "over": "d4" * 8, "confidence": 0.5}, ""),
    (
        {"id": TURN, "score": 11},
        "score is from 1 to 10 (a measure of another scale is an evaluation): not 11",
    ),
    (
        {"id": TURN, "score": 0},
        "score is from 1 to 10 (a measure of another scale is an evaluation): not 0",
    ),
    ({"id": TURN, "score": "much"}, "score is a number: not 'much'"),
    ({"id": TURN, "score": "nan"}, "finite number"),
    ({"id": TURN, "flag": 2}, "training_flag is 1"),
    ({"id": TURN, "outcome": "good"}, "outcome is one of"),
    ({"id": TURN, "confidence": 2, "flag": 1}, "confidence is from 0 to 1"),
    ({"id": "0" * 16, "flag": 1}, "Nothing in chdb://"),
    ({"id": TURN, "kind": "call", "flag": 1}, "is a turn, and no call"),
    ({"id": TURN}, "it has no judgment"),
    ({"outcome": "used"}, "it has no id"),
    ({"id": TURN, "verdict": "used"}, "a field 'verdict'"),
]
"""Rows of a file, and why they are refused."""


@pytest.mark.parametrize("form", few(["csv", "jsonl", "-"], ["csv", "-"]))
def test_many_at_once(invoke: Invoke, tmp_path: Path, form: str) -> None:
    """Each row that says something lands, each other one is a line with its number and its reason;
    the exit code says whether there were any."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    fill(dsn)
    out = io.StringIO()
    if form == "csv":
        names = list(dict.fromkeys(name for row, _ in ROWS for name in row))
        table = csv.DictWriter(out, names)
        table.writeheader()
        table.writerows(row for row, _ in ROWS)
    else:
        out.writelines(json.dumps(row) + "\n" for row, _ in ROWS)
    file = tmp_path / f"judged.{form}"
    file.write_text("\ufeff" * (form == "csv") + out.getvalue(), "utf-8")
    run = ("--store", str(dsn), "annotate", "--from")

    found = invoke(*run, "-", stdin=out.getvalue()) if form == "-" else invoke(*run, str(file))

    assert (found.exit_code, found.stdout) == (1, "5 judgments of 3 rows\n")
    told = found.stderr.splitlines()
    assert told[-1] == "turnspan: 12 of 15 rows were refused."
    for at, (number, (_, why)) in enumerate(
        (number, row) for number, row in enumerate(ROWS, 1) if row[1]
    ):
        assert told[at].startswith(f"turnspan: row {number} is refused: ")
        assert why in told[at]
    rows = invoke(
        "--store", str(dsn), "sql", "--format", "csv",
        "SELECT kind, author, comment FROM annotation ORDER BY kind, author",
    ).stdout  # fmt: skip
    assert len(list(csv.reader(io.StringIO(rows)))) == 6
    assert "two\nlines, and a comma" in rows
    assert "outcome,al," in rows


def test_a_file_of_judgments_that_is_none(invoke: Invoke, tmp_path: Path) -> None:
    """No row, more cells than the header, no text, a line that is no JSON; and an id beside it."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    fill(dsn)
    file = tmp_path / "file"
    for content, code, said in (
        (b"", 1, "0 of 0 rows"),
        (b"id,flag\n", 1, "0 of 0 rows"),
        (f"id,flag\n{TURN},1,2\n".encode(), 1, "more cells than the header"),
        (b'{"id": "a\n', 1, "row 1 is refused"),
        (b'{"id": 1}\n[]\n', 1, "row 2 is refused: it is no JSON object"),
        (b"id,comment\nx,\xff\xfe\n", 2, "decode"),
    ):
        file.write_bytes(content)
        found = invoke("--store", str(dsn), "annotate", "--from", str(file))
        assert (found.exit_code, said in found.stderr) == (code, True), (content, found.output)
    both = invoke("--store", str(dsn), "annotate", TURN, "--from", str(file))
    neither = invoke("--store", str(dsn), "annotate", "--flag", "1")
    values = invoke("--store", str(dsn), "annotate", "--from", str(file), "--flag", "1")
    assert [one.exit_code for one in (both, neither, values)] == [2, 2, 2]
    far = invoke("--store", str(dsn), "annotate", TURN, "--score", "11")
    assert (far.exit_code, "score is from 1 to 10" in far.stderr) == (2, True)
    machine = ("--score", "0.5", "--source", "machine:test")
    assert invoke("--store", str(dsn), "annotate", TURN, *machine).exit_code == 0


def test_what_is_no_judgment_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    """Nothing said, an unknown id, a number that is none: each with what to do."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    fill(dsn)
    assert annotate.OUTCOMES == OUTCOMES
    nothing = invoke("--store", str(dsn), "annotate", TURN)
    assert (nothing.exit_code, "--outcome" in nothing.stderr) == (2, True)
    unknown = invoke("--store", str(dsn), "annotate", "0" * 16, "--flag", "1")
    assert (unknown.exit_code, "Nothing in chdb://" in unknown.stderr) == (1, True)
    odd = invoke("--store", str(dsn), "annotate", TURN, "--score", "nan")
    assert (odd.exit_code, "finite number" in odd.stderr) == (2, True)
